"""Volumes, mounts and security contexts that a TrainJob adds to the pods of its runtime (kubeflow/trainer 2.3)."""

from typing import Any

import pytest

import builders
from acceptance import decided, found
from unit.kinds.kubeflow.train_jobs import runtime, runtime_patch, step, train_job
from unit.workloads.normalised import pod_set
from usher import paths
from usher.kinds.reading.values import Objects

OURS = "/spec/runtimePatches/0/trainingRuntimeSpec/template/spec/replicatedJobs/0/template/spec/template/spec"
THEIRS = "/spec/runtimeRef/name/spec/template/spec/replicatedJobs/0/template/spec/template/spec"
NODE: Any = {"name": "node"}


def known(*volumes: paths.Json) -> paths.Object:
    """A runtime whose template has these volumes."""
    node = builders.container("node", volumeMounts=[{"name": "data", "mountPath": "/data"}])
    return runtime(builders.replaced(step("node", "trainer", node), "/template/spec/template/spec/volumes", [*volumes]))


def patched(patch: builders.JsonValue) -> paths.Object:
    return train_job(runtimePatches=[runtime_patch(patch)])


def test_volumes_of_a_patch_stand_beside_those_of_the_runtime() -> None:
    job = patched({"volumes": [{"name": "devices", "hostPath": {"path": "/dev"}}]})
    pods = pod_set(job, objects=Objects([known({"name": "data", "emptyDir": {}})]))

    assert [volume["name"] for volume in pods.fields["volumes"]] == ["data", "devices"]
    assert pods.places["volumes/0"] == f"{THEIRS}/volumes/0"
    assert pods.places["volumes/1"] == f"{OURS}/volumes/0"


def test_a_volume_of_a_patch_replaces_the_one_of_its_name() -> None:
    job = patched({"volumes": [{"name": "data", "hostPath": {"path": "/dev"}}]})
    pods = pod_set(job, objects=Objects([known({"name": "data", "emptyDir": {}})]))

    assert [volume["hostPath"]["path"] for volume in pods.fields["volumes"]] == ["/dev"]
    assert pods.places["volumes/0"] == f"{OURS}/volumes/0"


def test_the_later_of_two_patches_decides() -> None:
    job = train_job(
        runtimePatches=[
            runtime_patch({"volumes": [{"name": "data", "hostPath": {"path": "/data"}}]}),
            runtime_patch({"volumes": [{"name": "data", "hostPath": {"path": "/dev"}}]}),
        ]
    )
    pods = pod_set(job, objects=Objects([known()]))

    assert pods.places["volumes/0"] == OURS.replace("/0/", "/1/", 1) + "/volumes/0"
    assert [volume["hostPath"]["path"] for volume in pods.fields["volumes"]] == ["/dev"]


def test_without_volumes_in_a_patch_those_of_the_runtime_keep_their_place() -> None:
    pods = pod_set(patched({"nodeSelector": {"a": "b"}}), objects=Objects([known({"name": "data"})]))

    assert "volumes" not in pods.places


def test_a_security_context_merges_with_that_of_the_runtime() -> None:
    first = {"containers": [{**NODE, "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}}]}
    second = {"containers": [{**NODE, "securityContext": {"privileged": True}}]}
    job = train_job(runtimePatches=[runtime_patch(first), runtime_patch(second)])
    (node,) = pod_set(job, objects=Objects([known()])).containers

    assert node.fields["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"]}, "privileged": True}
    assert node.field_places["securityContext/capabilities"] == f"{OURS}/containers/0/securityContext/capabilities"


def test_mounts_of_a_patch_come_after_those_of_the_runtime() -> None:
    job = patched({"containers": [{**NODE, "volumeMounts": [{"name": "devices", "mountPath": "/dev"}]}]})
    (node,) = pod_set(job, objects=Objects([known()])).containers

    assert [mount["mountPath"] for mount in node.fields["volumeMounts"]] == ["/data", "/dev"]
    assert node.field_places == {"volumeMounts/1": f"{OURS}/containers/0/volumeMounts/0"}


def test_the_grace_period_of_a_patch_counts() -> None:
    pods = pod_set(patched({"terminationGracePeriodSeconds": 7200}), objects=Objects([known()]))

    assert pods.fields["terminationGracePeriodSeconds"] == 7200


@pytest.mark.parametrize(
    ("patch", "finds", "path"),
    [
        (
            {"volumes": [{"name": "gpus", "hostPath": {"path": "/dev/nvidia0"}}]},
            "deny USH204 host-path-to-devices",
            f"{OURS}/volumes/0/hostPath/path",
        ),
        (
            {"containers": [{**NODE, "securityContext": {"privileged": True}}]},
            "warn USH205 privileged-container",
            f"{OURS}/containers/0/securityContext/privileged",
        ),
        (
            {"containers": [{**NODE, "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}]},
            "warn USH207 device-capabilities",
            f"{OURS}/containers/0/securityContext/capabilities/add/0",
        ),
        (
            {"containers": [{**NODE, "volumeMounts": [{"mountPath": "/var/run/nvidia-container-devices/all"}]}]},
            "deny USH203 device-list-by-mount",
            f"{OURS}/containers/0/volumeMounts/0/mountPath",
        ),
    ],
    ids=["host path", "privileged", "capability", "mount that names a device"],
)
def test_what_a_patch_adds_is_judged_where_it_stands(patch: builders.JsonValue, finds: str, path: str) -> None:
    decision = decided(patched(patch), None, known())

    assert finds in found(decision)
    assert path in {judgement.finding.path for judgement in decision.judgements}


@pytest.mark.parametrize(
    "wrong", [{"volumes": "none"}, {"volumes": ["data"]}, {"containers": [{**NODE, "volumeMounts": 1}]}]
)
def test_values_of_wrong_types_are_recorded(wrong: builders.JsonValue) -> None:
    assert decided(patched(wrong), None, known()).unknowns
