"""Priority classes through the real evaluator: of a Pod, what the API server wrote for its class goes with it."""

from typing import Any

import pytest

import builders
from acceptance import evaluator, mutated
from unit.policy.mutation.clusters import Cluster, named
from usher import paths
from usher.policy.decision import Request, User
from usher.policy.mutation import merge

CLASSES: dict[str, Any] = {
    "priorities": {
        "globalDefault": "standard",
        "classes": [{"namespaces": ["ml-*"], "priorityClass": "research"}],
    }
}
WRITTEN_BY_THE_API_SERVER: dict[str, Any] = {
    "priorityClassName": "standard",
    "priority": 1_000,
    "preemptionPolicy": "PreemptLowerPriority",
}


def pod(**spec: Any) -> paths.Object:
    return builders.pod(builders.container(gpus=1), **spec)


def about_priority(result: merge.Merged) -> list[tuple[str, str, paths.Json]]:
    """The operations of a patch that touch the priority of pods, in their order."""
    return [
        (operation["op"], operation["path"], operation.get("value"))
        for operation in result.operations
        if operation["path"].rpartition("/")[2] in WRITTEN_BY_THE_API_SERVER
    ]


def test_where_the_cluster_has_a_default_the_patch_takes_its_number_and_policy_away() -> None:
    result = mutated(pod(**WRITTEN_BY_THE_API_SERVER), CLASSES)

    assert about_priority(result) == [
        ("add", "/spec/priorityClassName", "research"),
        ("remove", "/spec/priority", None),
        ("remove", "/spec/preemptionPolicy", None),
    ]
    spec = result.value["spec"]
    assert isinstance(spec, dict)
    assert spec.keys().isdisjoint({"priority", "preemptionPolicy"})


def test_the_default_number_is_removed_if_the_pod_names_no_class() -> None:
    result = mutated(pod(priority=0, preemptionPolicy="PreemptLowerPriority"), CLASSES)

    assert about_priority(result) == [
        ("add", "/spec/priorityClassName", "research"),
        ("remove", "/spec/priority", None),
        ("remove", "/spec/preemptionPolicy", None),
    ]


def test_a_missing_field_is_not_removed() -> None:
    assert about_priority(mutated(pod(), CLASSES)) == [("add", "/spec/priorityClassName", "research")]


def test_once_it_is_done_nothing_is_left_to_do() -> None:
    done = mutated(pod(**WRITTEN_BY_THE_API_SERVER), CLASSES).value

    assert mutated(done, CLASSES).operations == ()


@pytest.mark.parametrize("chosen", ["urgent", "system-node-critical"])
def test_a_class_that_somebody_chose_stays_with_its_number(chosen: str) -> None:
    value = pod(**{**WRITTEN_BY_THE_API_SERVER, "priorityClassName": chosen})

    assert about_priority(mutated(value, CLASSES)) == []


def test_the_pod_of_a_controller_has_the_class_of_its_template() -> None:
    value = pod(owner_kind="Job", **WRITTEN_BY_THE_API_SERVER)
    controller = User(name="system:serviceaccount:kube-system:job-controller")

    assert about_priority(evaluator(CLASSES).mutate(Request(value=value, user=controller))) == []


def test_of_a_template_nothing_is_taken_away() -> None:
    template = builders.template(builders.container(gpus=1), preemptionPolicy="Never")

    assert about_priority(mutated(builders.job(template), CLASSES)) == [
        ("add", "/spec/template/spec/priorityClassName", "research")
    ]


def test_a_missing_class_is_not_given() -> None:
    def given(cluster: Cluster) -> merge.Merged:
        return evaluator(CLASSES).mutate(Request(value=pod(), objects=cluster))

    without = given(Cluster())
    assert about_priority(given(Cluster(named("scheduling.k8s.io/v1", "PriorityClass", "research")))) != []
    assert about_priority(without) == []
    assert [(each.reason, each.warned) for each in without.skipped if each.intent.field == "priorityClass"] == [
        ("PriorityClass research does not exist", True)
    ]


def test_the_class_goes_into_sparks_pod_template_and_other_changes_still_reach_it() -> None:
    pod_template = builders.template(builders.container("spark-kubernetes-executor", gpus=1), runtimeClassName="nvidia")
    driver = builders.template(builders.container("spark-kubernetes-driver"), runtimeClassName="nvidia")
    spec: dict[str, builders.JsonValue] = {"driver": {"template": driver}, "executor": {"template": pod_template}}
    value = builders.custom("sparkoperator.k8s.io/v1beta2", "SparkApplication", spec)

    assert about_priority(mutated(value, CLASSES)) == [
        ("add", "/spec/driver/template/spec/priorityClassName", "research"),
        ("add", "/spec/executor/template/spec/priorityClassName", "research"),
    ]
