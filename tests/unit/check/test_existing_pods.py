"""Like pods of a cluster have one verdict: the traces of their life say nothing to rules."""

import pytest

import builders
from builders.existing import running, waiting
from usher import paths
from usher.check import judging
from usher.workloads import fingerprints


def digest(pod: paths.Object) -> bytes | None:
    return fingerprints.of_pod(judging.pod_as_judged(pod))


def test_pods_on_different_nodes_with_different_addresses_are_alike() -> None:
    one, other = running("a-0", node="node-0"), running("a-1", node="node-1")
    other = builders.replaced(other, "/status/podIP", "10.0.0.7")

    assert digest(one) == digest(other) is not None


def test_a_pod_that_the_scheduler_has_not_placed_differs_from_one_that_it_has() -> None:
    assert digest(running()) != digest(waiting())


def test_a_node_that_the_author_of_a_new_pod_chose_stays() -> None:
    pod = builders.pod(nodeName="node-7")

    assert judging.pod_as_judged(pod) == pod


def test_the_object_itself_is_not_changed() -> None:
    pod = running()
    before = builders.objects.as_json(pod)

    judging.pod_as_judged(pod)

    assert pod == before


@pytest.mark.parametrize("pod", [{}, {"spec": 7, "status": {}}, {"spec": {}, "status": []}, {"status": {}, "spec": {}}])
def test_a_pod_of_any_shape_is_taken(pod: paths.Object) -> None:
    assert judging.pod_as_judged(pod).keys() <= pod.keys()
