"""The end of an object and its controller: what the author, a CRD or another object decided stays."""

from typing import Any

import pytest
from msgspec.structs import replace

from unit.policy.mutation.manifests import workload
from usher import model, paths
from usher.kinds.registry import PODS
from usher.policy.mutation import editing, strategies
from usher.policy.mutation.editing import Edit

TTL: paths.Object = {"setting": "ttl", "seconds": 3600}
DEADLINE: paths.Object = {"setting": "deadline", "seconds": 7200}


def of_kind(group: str, kind: str) -> model.Workload:
    pod: paths.Object = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a"}]}}
    return replace(workload(pod), lifecycle_places=PODS[group, kind].lifecycle_places)


def ended(group: str, kind: str, spec: Any, wanted: paths.Object = TTL) -> tuple[str, Any]:
    edit = Edit({"spec": spec})
    reason = strategies.set_lifetime(edit, of_kind(group, kind), wanted)
    return reason, edit.value["spec"]


def test_a_ray_job_gets_an_end_of_its_cluster_with_the_time() -> None:
    given = {"ttlSecondsAfterFinished": 3600, "shutdownAfterJobFinishes": True}

    assert ended("ray.io", "RayJob", {}) == ("", given)
    assert ended("ray.io", "RayJob", {"ttlSecondsAfterFinished": 0}) == ("", given)
    assert ended("ray.io", "RayJob", given) == (editing.ALREADY_THERE, given)


@pytest.mark.parametrize(
    "spec",
    [
        {"shutdownAfterJobFinishes": True},
        {"shutdownAfterJobFinishes": False},
        {"deletionStrategy": {}},
        {"clusterSelector": {"ray.io/cluster": "here"}},
        {"ttlSecondsAfterFinished": 60},
    ],
)
def test_a_ray_job_that_says_how_it_ends_stays(spec: Any) -> None:
    assert ended("ray.io", "RayJob", spec) == (editing.USER_DECIDES, spec)


def test_a_time_of_zero_is_a_choice_where_no_definition_writes_it() -> None:
    spec = {"ttlSecondsAfterFinished": 0}

    assert ended("batch", "Job", spec) == (editing.USER_DECIDES, spec)


@pytest.mark.parametrize("spec", [{"ttlStrategy": {"secondsAfterSuccess": 60}}, {"workflowTemplateRef": {"name": "a"}}])
def test_a_workflow_keeps_its_own_strategy_and_that_of_its_template(spec: Any) -> None:
    assert ended("argoproj.io", "Workflow", spec) == (editing.USER_DECIDES, spec)


def test_the_deadline_of_a_workflow_template_stays() -> None:
    spec = {"workflowTemplateRef": {"name": "a"}}

    assert ended("argoproj.io", "Workflow", spec, DEADLINE) == (editing.USER_DECIDES, spec)
    assert ended("argoproj.io", "Workflow", {}, DEADLINE) == ("", {"activeDeadlineSeconds": 7200})


def test_a_kind_without_the_field_has_no_place() -> None:
    assert ended("apps", "Deployment", {}) == (editing.NO_PLACE, {})
    assert ended("jobset.x-k8s.io", "JobSet", {}, DEADLINE) == (editing.NO_PLACE, {})
    assert ended("batch", "Job", {}, {"setting": "other", "seconds": 1}) == (editing.NO_PLACE, {})


def managed(kind: tuple[str, str], spec: Any) -> tuple[str, Any]:
    edit = Edit({"spec": spec})
    reason = strategies.set_managed_by(edit, of_kind(*kind), {"name": "kueue.x-k8s.io/multikueue"})
    return reason, edit.value["spec"]


def test_the_default_of_a_definition_is_nobodys_choice() -> None:
    given = {"managedBy": "kueue.x-k8s.io/multikueue"}
    default = {"managedBy": "trainer.kubeflow.org/trainjob-controller"}

    assert managed(("trainer.kubeflow.org", "TrainJob"), default) == ("", given)
    assert managed(("batch", "Job"), {}) == ("", given)
    assert managed(("batch", "Job"), {"managedBy": "a.b/c"}) == (editing.USER_DECIDES, {"managedBy": "a.b/c"})
    assert managed(("apps", "Deployment"), {}) == (editing.NO_PLACE, {})


def labelled(value: paths.Object) -> Edit:
    whole = replace(of_kind("batch", "Job"), queue_label_path="/metadata")
    edit = Edit(value)
    strategies.add_kueue_label(edit, whole, {"key": "queue", "value": "far", "managedBy": "kueue.x-k8s.io/multikueue"})
    return edit


def test_a_queue_of_multikueue_and_its_controller_come_together() -> None:
    assert labelled({"spec": {}}).value == {
        "metadata": {"labels": {"queue": "far"}},
        "spec": {"managedBy": "kueue.x-k8s.io/multikueue"},
    }


def test_a_workload_in_a_queue_keeps_its_controller() -> None:
    assert labelled({"metadata": {"labels": {"queue": "near"}}, "spec": {}}).operations == []


def test_an_object_without_a_place_for_the_controller_gets_no_label() -> None:
    edit = Edit({"spec": "text"})
    whole = replace(of_kind("batch", "Job"), queue_label_path="/metadata")

    with pytest.raises(LookupError):
        strategies.add_kueue_label(edit, whole, {"key": "queue", "value": "far", "managedBy": "a"})

    assert edit.operations == []
