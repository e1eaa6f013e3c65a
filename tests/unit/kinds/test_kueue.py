"""Kueue's objects: of both versions and, of what Kueue writes about jobs, only who jumps the queue."""

import pytest

from unit.workloads.normalised import workload
from usher import paths
from usher.kinds.reading import shapes as reading_shapes
from usher.kinds.registry import SHAPES


def read(kind: str, value: paths.Object) -> tuple[object, list[tuple[str, str]]]:
    unknowns: list[tuple[str, str]] = []
    shape = SHAPES["kueue.x-k8s.io", kind]
    return reading_shapes.read_shape(
        shape.adapter, value, "", lambda path, reason: unknowns.append((path, reason))
    ), unknowns


@pytest.mark.parametrize(("version", "field"), [("v1beta1", "cohort"), ("v1beta2", "cohortName")])
def test_a_cluster_queue_is_known_in_both_versions(version: str, field: str) -> None:
    api_version = f"kueue.x-k8s.io/{version}"
    found = workload({"apiVersion": api_version, "kind": "ClusterQueue", "spec": {field: "gpus", "stopPolicy": "Hold"}})

    assert found.view == {"clusterQueue": {"apiVersion": api_version, "spec": {field: "gpus"}}}
    assert found.unknowns == ()


def test_a_selector_is_there_or_not() -> None:
    assert read("ClusterQueue", {"spec": {"namespaceSelector": {"matchLabels": {"team": "a"}}}}) == (
        {"spec": {"namespaceSelector": {}}},
        [],
    )
    assert read("ClusterQueue", {"spec": {"namespaceSelector": None}}) == ({"spec": {}}, [])


def test_an_invalid_quota_is_reported_at_its_place() -> None:
    resources: paths.Json = [{"name": "cpu", "nominalQuota": "lots"}]
    value: paths.Object = {"spec": {"resourceGroups": [{"flavors": [{"name": "a100", "resources": resources}]}]}}

    found, unknowns = read("Cohort", value)

    flavors = [{"name": "a100", "resources": [{"name": "cpu"}]}]
    assert found == {"spec": {"resourceGroups": [{"flavors": flavors}]}}
    assert [path for path, _ in unknowns] == ["/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"]


def test_of_a_workload_only_the_boost_and_its_priority_are_read() -> None:
    boost = {"kueue.x-k8s.io/priority-boost": "5"}
    annotations: paths.Json = {**boost, "example.com/token": "secret"}

    assert read(
        "Workload", {"metadata": {"name": "job-a", "annotations": annotations}, "spec": {"active": True, "priority": 7}}
    ) == (
        {"metadata": {"annotations": boost}, "spec": {"priority": 7}},
        [],
    )


def test_a_boost_that_is_not_a_text_is_reported() -> None:
    assert read("Workload", {"metadata": {"annotations": {"kueue.x-k8s.io/priority-boost": 5}}}) == (
        {"metadata": {"annotations": {}}},
        [("/metadata/annotations/kueue.x-k8s.io~1priority-boost", "expected a string")],
    )
