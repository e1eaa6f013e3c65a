"""What is known of Kueue in a cluster."""

from unit.feasibility.kueue_objects import NAMESPACE, local_queue
from usher.facts.store import Store
from usher.feasibility import kueue_cluster


def test_local_queues_are_the_same_however_often_they_are_asked_for() -> None:
    facts = Store.of([local_queue("research"), local_queue("web", namespace="web")])

    for _ in range(2):
        found = kueue_cluster.local_queues(facts, NAMESPACE)
        assert found is not None
        assert list(found) == ["research"]


def test_a_cluster_without_kueue_has_no_local_queues_and_of_another_none_are_known() -> None:
    without = Store()
    without.lacks(("kueue.x-k8s.io", "LocalQueue"))

    assert kueue_cluster.local_queues(without, NAMESPACE) == {}
    assert kueue_cluster.local_queues(Store(), NAMESPACE) is None
