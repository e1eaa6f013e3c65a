"""The facts about Kueue in a cluster."""

from builders.queues import NAMESPACE, local_queue
from usher.authorities.kueue import judge as kueue_judge
from usher.cluster.facts.store import Store


def test_local_queues_are_the_same_however_often_they_are_asked_for() -> None:
    facts = Store.of([local_queue("research"), local_queue("web", namespace="web")])

    for _ in range(2):
        found = kueue_judge.local_queues(facts, NAMESPACE)
        assert found is not None
        assert list(found) == ["research"]


def test_local_queues_are_empty_without_kueue_and_unknown_without_facts() -> None:
    without = Store()
    without.lacks(("kueue.x-k8s.io", "LocalQueue"))

    assert kueue_judge.local_queues(without, NAMESPACE) == {}
    assert kueue_judge.local_queues(Store(), NAMESPACE) is None
