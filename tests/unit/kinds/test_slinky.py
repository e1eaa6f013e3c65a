"""NodeSet (SlinkyProject/slurm-operator): the worker nodes of a Slurm cluster."""

from collections.abc import Mapping

import pytest

import builders
from unit.workloads.normalised import accelerators_of, counts, pod_set, readable_workload, totals, unknowns, workload
from usher import model, paths


def node_set(
    *containers: paths.Object,
    template: dict[str, builders.JsonValue] | None = None,
    labels: Mapping[str, str] | None = None,
    **spec: builders.JsonValue,
) -> paths.Object:
    slurmd = {"resources": {"limits": {builders.GPU: 8}}}
    pods: builders.JsonValue = {"spec": {"containers": list(containers)}, **(template or {})}
    return builders.custom(
        "slinky.slurm.net/v1beta1", "NodeSet", {"slurmd": slurmd, "template": pods, **spec}, labels=dict(labels or {})
    )


def test_every_replica_is_a_worker_with_the_devices_of_slurmd() -> None:
    assert counts(node_set(replicas=4)) == [("", "/spec/template", 4, 4)]
    assert totals(node_set(replicas=4)) == {builders.GPU: ("32", "32")}
    assert counts(node_set()) == [("", "/spec/template", 1, 1)]


def test_in_the_mode_of_a_daemon_set_the_replicas_do_not_count() -> None:
    found = pod_set(node_set(replicas=4, scalingMode="DaemonSet"))

    assert found.count == model.Count(minimum=0, maximum=None, reason="one pod on every node that fits")


def test_the_operator_puts_its_containers_before_those_of_the_template() -> None:
    template: dict[str, builders.JsonValue] = {
        "spec": {"containers": [builders.container("munge")], "initContainers": [builders.container("fetch")]}
    }
    found = pod_set(node_set(template=template, logfile={"image": "alpine"}))

    assert [(each.name, each.type.value, each.path) for each in found.containers] == [
        ("logfile", "sidecar", "/spec/logfile"),
        ("fetch", "init container", "/spec/template/spec/initContainers/0"),
        ("slurmd", "container", "/spec/slurmd"),
        ("munge", "container", "/spec/template/spec/containers/0"),
    ]


def test_the_containers_of_a_pod_ask_together() -> None:
    assert accelerators_of(node_set(builders.container("monitor", gpus=1))) == {builders.GPU: "9"}


def test_a_container_that_the_operator_merges_is_not_judged() -> None:
    found = node_set(builders.container("slurmd", gpus=4))

    assert unknowns(found) == [
        ("/spec/template/spec/containers/0", "the operator merges it into spec.slurmd: not judged")
    ]
    assert [each.name for each in workload(found).pod_sets[0].containers] == ["slurmd"]


def test_the_pods_carry_the_labels_of_the_object_and_of_the_template() -> None:
    own = {"team": "a", "app": "x"}
    found = pod_set(node_set(labels=own, template={"metadata": {"labels": {"app": "slurm"}}}))

    assert found.labels == {"team": "a", "app": "slurm"}
    assert found.metadata_path == "/spec/template/metadata"


def test_workers_serve_until_somebody_removes_them() -> None:
    found = readable_workload(node_set(replicas=2))

    assert found.role is model.Role.SERVICE
    assert not found.gang.wanted


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        ("Gres=gpu:8", 8),
        ("Features=h100 Gres=gpu:h100:8(S:0-1) Weight=1", 8),
        ('Gres="gpu:a100:2,gpu:h100:2,nic:4"', 4),
        ("gres=gpu", 1),
        ("Features=gpu", None),
        ("Gres=nic:4", None),
        ("", None),
    ],
)
def test_the_configuration_of_the_nodes_names_their_gpus(text: str, gpus: int | None) -> None:
    found = workload(node_set(extraConf=text))

    assert found.view["nodeSet"]["spec"].get("extraConf", {}).get("gpus") == gpus
