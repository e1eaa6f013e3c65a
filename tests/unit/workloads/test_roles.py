"""The role of a workload: by rules of usher.yaml, its programs, its kind, and a label that gets around no rule."""

from typing import Any

import pytest

import builders
from unit.workloads.normalised import VOCABULARY, readable_workload, unknowns, workload
from usher import model, paths
from usher.config import models
from usher.config.sections import ROLE_LABEL
from usher.kinds.reading.templates import Place, Template
from usher.workloads.normalise import normalise
from usher.workloads.roles import Roles, serving_part

NOTEBOOK = {"notebook-name": "mine"}
SINGLE_USER = {"component": "singleuser-server"}


def controller(kind: str, api_version: str = "batch/v1") -> paths.Json:
    return {"apiVersion": api_version, "kind": kind, "name": "owner", "uid": "1", "controller": True}


def owned_by(owner: paths.Json, value: paths.Object | None = None) -> paths.Object:
    return builders.replaced(value or builders.pod(), "/metadata/ownerReferences", [owner])


def role(value: paths.Object) -> model.Role:
    return readable_workload(value).role


def at_site(value: paths.Object, **config: Any) -> model.Workload:
    """The workload at a site with this usher.yaml."""
    site = models.Config.model_validate(config)
    found = normalise(value, vocabulary=VOCABULARY, roles=Roles(site))
    assert found is not None
    return found


def job(*command: str, image: str = "registry.example.com/team/app:1", **metadata: Any) -> paths.Object:
    return builders.job(builders.template(builders.container(gpus=8, image=image, command=list(command))), **metadata)


# Kinds, owners and labels of notebooks


def test_without_a_program_the_kind_tells_it() -> None:
    found = readable_workload(builders.pytorch_job())

    assert (found.role, found.role_reason) == (model.Role.TRAINING, "its kind, PyTorchJob")
    assert role(builders.daemon_set()) is model.Role.SYSTEM
    assert role(builders.job(labels={ROLE_LABEL: ""})) is model.Role.BATCH
    assert readable_workload(builders.pod()).role_reason == "neither its kind nor its programs say it"


def test_a_kind_that_trains_is_in_doubt_where_its_containers_answer_requests() -> None:
    probe: builders.JsonValue = {"httpGet": {"path": "/health", "port": 8000}}
    container = builders.container(gpus=8, readinessProbe=probe)
    found = readable_workload(builders.pytorch_job(worker=builders.template(container)))

    assert found.role is model.Role.UNKNOWN
    assert found.role_reason.startswith("its kind often trains, but container")


def test_an_image_of_client_programs_says_nothing() -> None:
    def pod(tag: str) -> paths.Object:
        return builders.pod(builders.container(gpus=1, image=f"nvcr.io/nvidia/tritonserver:{tag}"))

    assert role(pod("24.08-py3")) is model.Role.INFERENCE
    assert role(pod("24.08-py3-sdk")) is model.Role.UNKNOWN


@pytest.mark.parametrize("labels", [NOTEBOOK, SINGLE_USER])
def test_notebooks_say_what_they_are_by_their_labels(labels: dict[str, str]) -> None:
    assert role(builders.pod(labels=labels)) is model.Role.INTERACTIVE
    assert role(builders.stateful_set(labels=labels)) is model.Role.INTERACTIVE
    assert role(builders.pod(labels={**labels, ROLE_LABEL: "batch"})) is model.Role.BATCH


def test_the_label_of_a_notebook_changes_nothing_for_kinds_that_notebooks_do_not_run_as() -> None:
    assert role(builders.pytorch_job(labels=NOTEBOOK)) is model.Role.TRAINING
    assert role(builders.daemon_set(labels=SINGLE_USER)) is model.Role.SYSTEM
    assert role(builders.pod(labels={"component": "hub"})) is model.Role.UNKNOWN


def test_classes_of_kai_for_interactive_work_say_what_a_pod_is_for() -> None:
    def pod(label: str, scheduler: str = "kai-scheduler") -> paths.Object:
        return builders.replaced(builders.pod(labels={"priorityClassName": label}), "/spec/schedulerName", scheduler)

    assert role(pod("build")) is role(pod("build-preemptible")) is model.Role.INTERACTIVE
    assert role(pod("train")) is role(pod("build", scheduler="default-scheduler")) is model.Role.UNKNOWN


def test_a_pod_is_for_what_its_owner_is_for() -> None:
    found = readable_workload(owned_by(controller("Job")))

    assert (found.role, found.role_reason) == (model.Role.BATCH, "its owner, a Job")
    assert role(owned_by(controller("PyTorchJob", "kubeflow.org/v1"))) is model.Role.TRAINING
    assert role(owned_by(controller("Job", "batch.volcano.sh/v1alpha1"))) is model.Role.TRAINING
    assert role(owned_by(controller("Job", "example.com/v1"))) is model.Role.UNKNOWN
    assert role(owned_by(controller("DaemonSet", "apps/v9"))) is model.Role.SYSTEM


def test_an_owner_says_less_than_the_kind() -> None:
    assert role(owned_by(controller("DaemonSet", "apps/v1"), builders.job())) is model.Role.BATCH


def test_an_object_that_holds_others_has_the_role_of_what_asks_for_accelerators() -> None:
    def wrapped(*values: paths.Object) -> paths.Object:
        components: builders.JsonValue = [{"template": value} for value in values]
        return builders.custom("workload.codeflare.dev/v1beta2", "AppWrapper", {"components": components})

    training = builders.pytorch_job(builders.template(builders.container(gpus=8)), name="bert", workers=2)
    found = readable_workload(wrapped(builders.deployment(name="board"), training))

    assert (found.role, found.role_reason) == (model.Role.TRAINING, "the PyTorchJob in it")
    assert found.gang.wanted
    assert role(wrapped(builders.job(name="a"))) is model.Role.BATCH
    assert role(wrapped(job("torchrun", "train.py", name="a"))) is model.Role.TRAINING


# Rules of usher.yaml


def test_the_first_rule_that_matches_decides() -> None:
    rules = [
        {"namespaces": ["serve-*"], "kinds": ["Deployment"], "role": "inference"},
        {"namespaces": ["ml-*"], "kinds": ["Deployment"], "role": "batch"},
        {"kinds": ["apps/Deployment"], "role": "interactive"},
    ]
    found = at_site(builders.deployment(namespace="ml-research"), roles=rules)

    assert (found.role, found.role_reason) == (model.Role.BATCH, "roles[1] of usher.yaml")
    assert at_site(builders.deployment(namespace="web"), roles=rules).role is model.Role.INTERACTIVE
    assert at_site(builders.job(), roles=rules).role is model.Role.BATCH


@pytest.mark.parametrize(
    "condition",
    [
        {"images": ["team/app"]},
        {"images": ["nothing", "registry.example.com/*:1"]},
        {"commands": ["python *main.py"]},
        {"commands": ["run *"]},
        {"labels": {"team": "nl*"}},
        {"kinds": ["Job"], "images": ["app"], "commands": ["python"], "labels": {"team": "nlp"}},
    ],
)
def test_a_rule_matches_by_image_command_and_label(condition: dict[str, Any]) -> None:
    value = job("sh", "-c", "run setup; python3 /app/main.py", labels={"team": "nlp"})

    assert at_site(value, roles=[{**condition, "role": "training"}]).role is model.Role.TRAINING


@pytest.mark.parametrize(
    "condition",
    [
        {"images": ["app:2"]},
        {"commands": ["main.py"]},
        {"labels": {"team": "vision"}},
        {"labels": {"team": "nlp", "other": "*"}},
        {"kinds": ["batch.volcano.sh/Job"]},
        {"namespaces": ["web"], "images": ["app"]},
    ],
)
def test_a_rule_with_one_wrong_condition_does_not_match(condition: dict[str, Any]) -> None:
    value = job("python", "/app/main.py", labels={"team": "nlp"})

    assert at_site(value, roles=[{**condition, "role": "training"}]).role is model.Role.BATCH


def test_a_rule_reads_the_labels_of_pod_templates_too() -> None:
    value = builders.job(builders.template(labels={"team": "nlp"}))

    assert at_site(value, roles=[{"labels": {"team": "nlp"}, "role": "training"}]).role is model.Role.TRAINING


# The label


@pytest.mark.parametrize("said", [role for role in model.Role if role is not model.Role.SYSTEM])
def test_where_no_rule_depends_on_the_role_the_label_decides(said: model.Role) -> None:
    found = readable_workload(builders.pytorch_job(labels={ROLE_LABEL: said.value}))

    assert (found.role, found.role_reason) == (said, "its label gpu-usher.io/role")


def test_a_label_makes_no_workload_part_of_the_system() -> None:
    found = readable_workload(builders.job(labels={ROLE_LABEL: "system"}))

    assert found.role is model.Role.BATCH
    assert found.role_reason == (
        "its kind, Job; its label gpu-usher.io/role: system does not count, because only usher.yaml and the kind make "
        "a workload part of the system"
    )


DEPENDING: list[dict[str, Any]] = [
    {"queues": [{"namespaces": ["*"], "roles": ["inference"], "localQueue": "serving"}]},
    {"routing": [{"namespaces": ["*"], "roles": ["batch"], "scheduler": "volcano"}]},
    {"priorities": {"classes": [{"namespaces": ["*"], "roles": ["inference"], "priorityClass": "high"}]}},
    {"enforcement": {"rules": [{"check": "*", "roles": ["inference"], "action": "off"}]}},
    {"mutations": {"rules": [{"mutation": "*", "roles": ["batch", "training"], "action": "apply"}]}},
]


@pytest.mark.parametrize("config", DEPENDING)
def test_a_label_cannot_get_around_an_entry_that_depends_on_the_role(config: dict[str, Any]) -> None:
    found = at_site(builders.job(labels={ROLE_LABEL: "inference"}), **config)

    (section,) = config
    assert found.role is model.Role.BATCH
    assert f"its label gpu-usher.io/role: inference does not count, because {section}" in found.role_reason
    assert "of usher.yaml depends on the role and trusts no label" in found.role_reason


@pytest.mark.parametrize("config", DEPENDING)
def test_a_label_counts_where_usher_yaml_trusts_it(config: dict[str, Any]) -> None:
    value = builders.job(labels={ROLE_LABEL: "inference"}, namespace="ml-research")
    trusting = [{"namespaces": ["ml-*"], "fromLabel": ROLE_LABEL}]
    found = at_site(value, roles=trusting, **config)

    assert found.role is model.Role.INFERENCE
    assert found.role_reason == "its label gpu-usher.io/role, which roles[0] of usher.yaml trusts"
    elsewhere = builders.job(labels={ROLE_LABEL: "inference"}, namespace="web")
    assert at_site(elsewhere, roles=trusting, **config).role is model.Role.BATCH


def test_an_entry_for_other_namespaces_or_for_both_roles_leaves_the_label_alone() -> None:
    labelled = builders.job(labels={ROLE_LABEL: "training"}, namespace="ml-research")
    for entry in (
        {"namespaces": ["web"], "roles": ["training"]},
        {"namespaces": ["*"], "roles": ["training", "batch"]},
    ):
        assert at_site(labelled, queues=[{**entry, "localQueue": "q"}]).role is model.Role.TRAINING


def test_a_label_never_changes_what_a_rule_gave() -> None:
    value = builders.job(labels={ROLE_LABEL: "batch"}, namespace="ml-research")

    assert at_site(value, roles=[{"namespaces": ["ml-*"], "role": "training"}]).role is model.Role.TRAINING


def test_a_trusted_label_may_have_any_name_and_must_name_one_role() -> None:
    rules = [{"namespaces": ["*"], "fromLabel": "example.com/purpose"}]

    assert at_site(builders.job(labels={"example.com/purpose": "system"}), roles=rules).role is model.Role.SYSTEM
    assert at_site(builders.job(labels={"example.com/purpose": "fun"}), roles=rules).role is model.Role.BATCH
    both = builders.job(builders.template(labels={"example.com/purpose": "training"}))
    assert at_site(both, roles=rules).role is model.Role.TRAINING
    contradicting = builders.replaced(both, "/metadata/labels", {"example.com/purpose": "inference"})
    assert at_site(contradicting, roles=rules).role is model.Role.BATCH


@pytest.mark.parametrize("label", ["infernce", "Training", "training ", "system-node"])
def test_an_unknown_role_is_unknown_and_the_kind_tells_it(label: str) -> None:
    value = builders.pytorch_job(labels={ROLE_LABEL: label})

    ((path, reason),) = unknowns(value)
    assert path == "/metadata/labels/gpu-usher.io~1role"
    assert reason == "unknown role; usher has training, inference, batch, interactive, service, system, unknown"
    assert workload(value).role is model.Role.TRAINING


@pytest.mark.parametrize(
    ("kind", "name", "part"),
    [
        ("", "prefill", "prefill"),
        ("", "sglang-decode-leader", "decode"),
        ("", "VllmPrefillWorker", "prefill"),
        ("", "PDRouter", "router"),
        ("epp", "inference", "router"),
        ("worker", "decode", "decode"),
        ("prefill", "decode", "prefill"),
        ("", "prefill-decode", ""),
        ("", "predecode", ""),
        ("worker", "server", ""),
    ],
)
def test_a_type_or_else_a_name_tells_what_pods_do_in_serving(kind: str, name: str, part: str) -> None:
    assert serving_part(Template(name=name, path="", spec=Place(None, ""), serves_as=kind)) == part


def test_only_kinds_that_serve_in_parts_have_parts() -> None:
    pod: paths.Object = {"spec": {"containers": [{"name": "main", "image": "x"}]}}
    job_set: paths.Object = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "a"},
        "spec": {"replicatedJobs": [{"name": "decode", "template": {"spec": {"template": pod}}}]},
    }

    assert [each.serves_as for each in workload(job_set).pod_sets] == [""]
