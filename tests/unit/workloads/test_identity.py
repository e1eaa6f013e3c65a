"""Whose a workload is, and whether its pods must start together."""

import pytest

import builders
from unit.workloads.normalised import readable_workload, unknowns, workload
from usher import model, paths
from usher.config.sections import ROLE_LABEL


def owned_by(*owners: paths.Json, value: paths.Object | None = None) -> paths.Object:
    return builders.replaced(value or builders.pod(), "/metadata/ownerReferences", list(owners))


def controller(kind: str, api_version: str = "batch/v1", *, name: str = "owner") -> paths.Object:
    return {"apiVersion": api_version, "kind": kind, "name": name, "uid": "1", "controller": True}


def gang(value: paths.Object) -> model.Gang:
    return readable_workload(value).gang


# Owners


def test_an_owner_has_a_group_a_kind_and_a_name() -> None:
    found = readable_workload(owned_by(controller("JobSet", "jobset.x-k8s.io/v1alpha2", name="bert")))

    assert found.owner == model.Owner(group="jobset.x-k8s.io", kind="JobSet", name="bert")


def test_an_owner_of_the_core_group_has_no_group() -> None:
    found = readable_workload(owned_by(controller("ReplicationController", "v1")))

    assert found.owner == model.Owner(group="", kind="ReplicationController", name="owner")


def test_only_the_controller_is_the_owner_and_of_two_the_first() -> None:
    other: paths.Object = {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": "2"}
    found = readable_workload(owned_by(other, controller("Job"), controller("JobSet")))

    assert found.owner is not None
    assert found.owner.kind == "Job"
    assert readable_workload(owned_by(other)).owner is None
    assert readable_workload(owned_by()).owner is None


@pytest.mark.parametrize(
    ("wrong", "path", "reason"),
    [
        ("Job", "", "expected an object, found a string"),
        ({**controller("Job"), "kind": 5}, "/kind", "expected a string, found a number; quote it"),
        ({**controller("Job"), "controller": "true"}, "/controller", "expected true or false, found a string"),
        ({**controller("Job"), "apiVersion": ["v1"]}, "/apiVersion", "expected a string, found a list"),
    ],
)
def test_an_invalid_owner_is_unknown(wrong: paths.Json, path: str, reason: str) -> None:
    assert unknowns(owned_by(wrong)) == [("/metadata/ownerReferences/0" + path, reason)]


# Gangs


def test_a_single_pod_wants_no_gang() -> None:
    assert gang(builders.pod()) == model.Gang(wanted=False)
    assert not gang(builders.pytorch_job(workers=1)).wanted


def test_pods_that_wait_for_each_other_want_a_gang_that_nothing_forms() -> None:
    assert gang(builders.pytorch_job(workers=2)) == model.Gang(wanted=True)
    assert gang(builders.job_set(builders.replicated_job(parallelism=2))) == model.Gang(wanted=True)


def test_training_wants_a_gang_whatever_its_kind() -> None:
    training = {ROLE_LABEL: "training"}

    assert not gang(builders.job(parallelism=4)).wanted
    assert gang(builders.job(parallelism=4, labels=training)).wanted
    assert not gang(builders.job(parallelism=1, labels=training)).wanted
    assert gang(builders.daemon_set(labels=training)).wanted  # one pod for each node, however many there are


def test_pods_of_several_templates_are_several() -> None:
    assert gang(builders.pytorch_job(workers=1, master=builders.template())).wanted


def test_a_volcano_job_is_a_gang_by_its_kind() -> None:
    found = gang(builders.replaced(builders.volcano_job(), "/spec/minAvailable", 3))

    assert found == model.Gang(wanted=True, formed_by="its kind, Job", minimum=3)


def test_the_operator_forms_a_gang_of_the_least_that_the_policy_says() -> None:
    found = gang(builders.pytorch_job(workers=4, run_policy={"schedulingPolicy": {"minAvailable": 3}}))

    assert found == model.Gang(wanted=True, formed_by="its operator, if it is configured to", minimum=3)


# Indexed Jobs


def indexed(
    *, parallelism: int = 4, completions: int = 4, mode: str = "Indexed", subdomain: str | None = None
) -> paths.Object:
    template = builders.template(subdomain=subdomain)
    value = builders.job(template, parallelism=parallelism, completions=completions)
    return builders.replaced(value, "/spec/completionMode", mode)


def test_pods_of_an_indexed_job_that_have_host_names_wait_for_each_other() -> None:
    found = gang(indexed(subdomain="solver"))

    assert (found.wanted, found.waits, found.formed_by) == (True, True, "")


@pytest.mark.parametrize("name", ["MASTER_ADDR", "JAX_COORDINATOR_ADDRESS", "TPU_WORKER_HOSTNAMES"])
def test_pods_of_an_indexed_job_that_know_the_first_one_wait_for_each_other(name: str) -> None:
    value = indexed()
    container = builders.container(env={name: "solver-0.solver"})

    assert gang(builders.replaced(value, "/spec/template/spec/containers", [container])).waits
    assert not gang(value).waits


@pytest.mark.parametrize(
    "value",
    [
        indexed(),
        indexed(subdomain=""),
        indexed(subdomain="solver", mode="NonIndexed"),
        indexed(subdomain="solver", parallelism=1, completions=1),
        indexed(subdomain="solver", completions=400),
    ],
)
def test_pods_that_only_divide_their_work_do_not_wait(value: paths.Object) -> None:
    assert gang(value) == model.Gang(wanted=False)


def test_the_runs_of_a_cron_job_may_be_indexed_jobs() -> None:
    job = indexed(subdomain="solver")
    spec: paths.Object = {"schedule": "@daily", "concurrencyPolicy": "Forbid", "jobTemplate": {"spec": job["spec"]}}

    assert gang(builders.custom("batch/v1", "CronJob", spec)).waits


ANNOTATIONS = {
    "scheduling.k8s.io/group-name": "a PodGroup of Volcano",
    "kueue.x-k8s.io/pod-group-name": "a pod group of Kueue",
    "pod-group-name": "a pod group of KAI-Scheduler",
}
LABELS = {
    "kueue.x-k8s.io/pod-group-name": "a pod group of Kueue",
    "scheduling.x-k8s.io/pod-group": "a PodGroup of the coscheduling plugin",
}


@pytest.mark.parametrize(("key", "formed_by"), ANNOTATIONS.items())
def test_an_annotation_of_the_object_or_of_its_pods_forms_a_gang(key: str, formed_by: str) -> None:
    formed = model.Gang(wanted=True, formed_by=formed_by)

    assert gang(builders.job(annotations={key: "4"})) == formed
    assert gang(builders.job(builders.template(annotations={key: "4"}))) == formed
    assert gang(builders.pod(annotations={key: "4"})) == formed
    assert gang(builders.pod(annotations={key: ""})) == model.Gang(wanted=False)


def test_volcano_reads_the_minimum_of_a_group_on_the_owner_alone() -> None:
    """VC:pkg/controllers/podgroup/pg_controller_handler.go:372 takes it from the annotations of the owner."""
    key = "scheduling.volcano.sh/group-min-member"

    assert gang(builders.job(annotations={key: "4"})).formed_by == "a PodGroup that Volcano makes for the owner"
    assert not gang(builders.job(annotations={key: "many"})).wanted
    assert not gang(builders.job(builders.template(annotations={key: "4"}))).wanted
    assert not gang(builders.pod(annotations={key: "4"})).wanted


@pytest.mark.parametrize(("key", "formed_by"), LABELS.items())
def test_a_label_of_the_object_or_of_its_pods_forms_a_gang(key: str, formed_by: str) -> None:
    formed = model.Gang(wanted=True, formed_by=formed_by)

    assert gang(builders.job(labels={key: "group"})) == formed
    assert gang(builders.job(builders.template(labels={key: "group"}))) == formed
    assert gang(builders.pod(labels={key: "group"})) == formed


@pytest.mark.parametrize("least", ["0", "1"])
def test_a_group_that_needs_one_pod_is_not_a_gang(least: str) -> None:
    assert gang(builders.job(annotations={"scheduling.volcano.sh/group-min-member": least})) == model.Gang(wanted=False)


def test_an_in_tree_pod_group_forms_a_gang() -> None:
    template = builders.template(schedulingGroup={"podGroupName": "group"})

    assert gang(builders.job(template)) == model.Gang(wanted=True, formed_by=model.GANG_OF_KUBERNETES)
    assert not gang(builders.job(builders.template(schedulingGroup={}))).wanted


def test_a_label_does_not_replace_the_annotation_of_a_scheduler() -> None:
    assert not gang(builders.pod(labels={"scheduling.k8s.io/group-name": "group"})).wanted
    assert not gang(builders.pod(annotations={"scheduling.x-k8s.io/pod-group": "group"})).wanted


# What holds pods back


def test_suspension_is_read_from_the_field_of_the_kind() -> None:
    assert readable_workload(builders.job(suspend=True)).suspended
    assert readable_workload(builders.pytorch_job(run_policy={"suspend": True})).suspended
    assert not readable_workload(builders.job(suspend=False)).suspended
    assert not readable_workload(builders.job()).suspended
    assert not readable_workload(builders.pod(suspend=True)).suspended


def test_an_invalid_suspension_is_unknown() -> None:
    value = builders.job(suspend="yes")

    assert unknowns(value) == [("/spec/suspend", "expected true or false, found a string")]
    assert not workload(value).suspended


def test_scheduling_gates_are_kept_by_their_names() -> None:
    gates: list[paths.Object] = [{"name": "kueue.x-k8s.io/admission"}, {"name": "example.com/quota"}]
    (found,) = readable_workload(builders.pod(schedulingGates=gates)).pod_sets

    assert found.scheduling_gates == ("kueue.x-k8s.io/admission", "example.com/quota")
