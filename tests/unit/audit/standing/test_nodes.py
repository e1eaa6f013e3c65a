"""GPU nodes whose GPUs are lost: health, drivers, MIG."""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

import builders
from builders import custom
from builders.estates import H100, ago, devices, entry, estate, gpu_node, running
from builders.standings import found
from usher import paths
from usher.audit.document import FindingEntry, Severity, Subject
from usher.audit.gather.estate import Node, OneNamespace
from usher.audit.gather.needed_inputs import RESOURCE_SLICE
from usher.check.devices import Amount
from usher.config import models

HEALTH = ("USA033", "USA034", "USA035", "USA036")
MIG = ("USA032",)


def test_where_nodes_are_not_known_it_has_no_findings() -> None:
    assert found(estate(nodes=None, objects=[node_object()]), codes=(*HEALTH, *MIG)) == []


def node_object(name: str = "node-0", *, since: float = 48, labels: Mapping[str, str] | None = None) -> paths.Object:
    """A node as the API server has it, not ready and cordoned since some hours."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": {"taints": [{"key": "node.kubernetes.io/unschedulable", "timeAdded": ago(since).isoformat()}]},
        "status": {
            "conditions": [
                {
                    "type": "Ready",
                    "status": "Unknown",
                    "message": "Kubelet stopped posting node status.",
                    "lastTransitionTime": ago(since).isoformat(),
                }
            ]
        },
    }


def test_a_node_that_is_not_ready_is_reported_with_its_gpus_and_since_when() -> None:
    seen = estate(
        nodes=[gpu_node(ready=False)],
        workloads=[entry(pods=[running()])],
        objects=[node_object()],
    )

    assert found(seen, codes=HEALTH) == [
        FindingEntry(
            fingerprint="3a54d25c0a88c9e22ce45c5a59f9c788",
            code="USA034",
            name="node-out-of-service",
            title="A GPU node is cordoned or not ready",
            category="cluster",
            outcome="audit",
            severity=Severity.HIGH,
            subject=Subject(api_version="v1", kind="Node", name="node-0"),
            message="it has not been ready for 2 days; pods cannot get its 8 nvidia.com/gpu",
            remedy="Repair the node and uncordon it, or return it.",
            gpus=8,
            gpus_lost=0,
            since="2026-11-21T12:00:00Z",
            evidence=(
                "kubelet: Kubelet stopped posting node status.",
                "pods with accelerators on it: ml-research/pod-0",
            ),
        )
    ]


PRICED = models.Config.model_validate({"audit": {"prices": {"rules": [{"product": H100, "perGpuHour": 2.5}]}}})


def test_a_node_that_takes_no_pods_has_lost_the_gpus_that_no_pod_holds() -> None:
    seen = estate(
        nodes=[gpu_node(cordoned=True, allocatable=7), gpu_node("node-1", allocatable=6)],
        workloads=[entry(pods=[running(gpus=3), running("pod-1", gpus=7, node="node-1")])],
        objects=[node_object()],
    )

    found_there = {(each.code, each.subject.name): each for each in found(seen, config=PRICED, codes=HEALTH)}

    # Devices that are not healthy are lost once: by the finding about the whole node, and not where a pod holds them.
    assert {key: (each.gpus, each.gpus_lost, each.cost_per_hour) for key, each in found_there.items()} == {
        ("USA034", "node-0"): (8, 5, 12.5),
        ("USA035", "node-0"): (1, None, None),
        ("USA035", "node-1"): (2, 1, 2.5),
    }


@pytest.mark.parametrize("unknown", [{"pods_known": False}, {"scope": OneNamespace(name="ml-research")}])
def test_without_all_pods_the_gpus_that_a_node_has_lost_are_not_known(unknown: Mapping[str, Any]) -> None:
    seen = replace(estate(nodes=[gpu_node(cordoned=True)], objects=[node_object()]), **unknown)

    assert [(each.gpus_lost, each.cost_per_hour) for each in found(seen, config=PRICED, codes=HEALTH)] == [(None, None)]


def test_a_cordon_counts_from_the_time_of_its_taint() -> None:
    seen = estate(nodes=[gpu_node(cordoned=True)], objects=[node_object(since=5)])

    assert [each.message for each in found(seen, codes=HEALTH)] == [
        "it has been cordoned for 5 hours; pods cannot get its 8 nvidia.com/gpu"
    ]


def test_a_short_absence_makes_no_finding_and_one_of_unknown_length_does() -> None:
    short = estate(nodes=[gpu_node(cordoned=True)], objects=[node_object(since=0.5)])
    unknown = estate(nodes=[gpu_node(cordoned=True)])

    assert found(short, codes=HEALTH) == []
    assert [each.evidence[-1] for each in found(unknown, codes=HEALTH)] == ["since when is not known"]


def test_devices_that_are_unhealthy_are_counted() -> None:
    (finding,) = found(estate(nodes=[gpu_node(allocatable=6), gpu_node("whole")]), codes=HEALTH)

    assert (finding.code, finding.message, finding.gpus) == ("USA035", "it offers 6 of its 8 nvidia.com/gpu", 2)


def test_where_a_node_offers_no_device_at_all_its_plugin_comes_first() -> None:
    updating = {"nvidia.com/gpu-driver-upgrade-state": "pod-restart-required"}
    (finding,) = found(estate(nodes=[gpu_node(allocatable=0, labels=updating)]), codes=HEALTH)

    assert (finding.message, finding.gpus) == ("it offers 0 of its 8 nvidia.com/gpu", 8)
    assert finding.remedy.startswith("Look at the device plugin of this node first")
    assert finding.evidence == (f"board: {H100}", "the GPU operator updates its driver: pod-restart-required")


def test_lost_slices_count_by_the_board_of_their_node() -> None:
    profile = "nvidia.com/mig-1g.10gb"
    node = gpu_node(
        product="NVIDIA-A100-SXM4-40GB",
        capacity={profile: Amount(number=8)},
        allocatable_devices={profile: Amount(number=4)},
    )

    (finding,) = found(estate(nodes=[node]), codes=HEALTH)
    assert finding.gpus == 1, "1g.10gb is a quarter of the memory of this board"
    (unused,) = found(estate(nodes=[node]), codes=MIG)
    assert unused.gpus == 2


def test_a_mig_configuration_that_failed() -> None:
    labels = {"nvidia.com/mig.config": "all-1g.10gb", "nvidia.com/mig.config.state": "failed"}
    (finding,) = found(estate(nodes=[gpu_node(labels=labels), gpu_node("fine")]), codes=HEALTH)

    assert (finding.code, finding.message) == ("USA033", "the MIG manager could not apply all-1g.10gb")
    assert finding.evidence == ("it offers 8 nvidia.com/gpu",)


def test_a_node_that_the_operator_labelled_and_that_offers_nothing() -> None:
    labels = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": "8"}
    objects = [node_object("lost", labels=labels), node_object("cpu"), node_object("node-0", labels=labels)]

    (finding,) = found(estate(nodes=[gpu_node()], objects=objects), codes=HEALTH)
    assert (finding.code, finding.subject.name, finding.gpus) == ("USA036", "lost", 8)


def test_a_node_that_offers_nothing_because_mig_failed_names_mig() -> None:
    labels = {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.count": "8",
        "nvidia.com/mig.config": "all-1g.10gb",
        "nvidia.com/mig.config.state": "failed",
    }

    (finding,) = found(estate(objects=[node_object("lost", labels=labels)]), codes=HEALTH)
    assert (finding.code, finding.evidence, finding.gpus) == ("USA033", ("it offers no accelerator",), 8)


@pytest.mark.parametrize(
    ("labels", "board", "gpus"),
    [
        (
            {
                "cloud.google.com/gke-accelerator": "nvidia-l4",
                "cloud.google.com/gke-accelerator-count": "4",
            },
            "board: nvidia-l4",
            4,
        ),
        ({"kubernetes.azure.com/accelerator": "nvidia"}, "no label says the board", 0),
        (
            {"karpenter.k8s.aws/instance-gpu-name": "h100", "karpenter.k8s.aws/instance-gpu-count": "8"},
            "board: h100",
            8,
        ),
    ],
    ids=["GKE", "AKS", "Karpenter"],
)
def test_a_node_of_a_service_without_a_device_plugin_lacks_its_installation(
    labels: dict[str, str], board: str, gpus: float
) -> None:
    (finding,) = found(estate(objects=[node_object("lost", labels=labels)]), codes=HEALTH)

    assert (finding.code, finding.evidence[0], finding.gpus) == ("USA036", board, gpus)
    assert finding.message.startswith("its service says that it has GPUs (label ")
    assert finding.remedy.startswith("Install the driver and the device plugin")


@pytest.mark.parametrize(
    "labels",
    [
        {"nvidia.com/gpu.workload.config": "vm-passthrough"},
        {"nvidia.com/gpu.deploy.operands": "false"},
        {"nvidia.com/gpu.deploy.device-plugin": "false"},
    ],
)
def test_gpus_that_an_administrator_keeps_from_pods_are_not_lost(labels: dict[str, str]) -> None:
    objects = [node_object("kept", labels={"nvidia.com/gpu.present": "true", **labels})]

    assert found(estate(objects=objects), codes=HEALTH) == []


@pytest.mark.parametrize(("hours", "findings"), [(0.2, 0), (2, 1)])
def test_a_new_node_may_still_install_its_driver(hours: float, findings: int) -> None:
    value = builders.replaced(
        node_object("new", labels={"nvidia.com/gpu.present": "true"}),
        "/metadata/creationTimestamp",
        ago(hours).isoformat(),
    )

    assert len(found(estate(objects=[value]), codes=HEALTH)) == findings


def test_where_claims_for_gpus_exist_and_their_slices_were_not_read_nothing_is_lost() -> None:
    objects = [node_object("claimed", labels={"nvidia.com/gpu.present": "true"})]
    classes = [custom("resource.k8s.io/v1", "DeviceClass", {}, name="gpu.nvidia.com", namespace=None)]

    assert found(estate(objects=objects), classes, codes=HEALTH) == []
    assert len(found(estate(objects=objects, without=[RESOURCE_SLICE.key]), classes, codes=HEALTH)) == 1


def mig_node() -> Node:
    offered = {f"nvidia.com/mig-{name}": Amount(number=number) for name, number in {"1g.10gb": 4, "3g.40gb": 1}.items()}
    labels = {"nvidia.com/mig.config": "mixed"}
    return gpu_node("mig-0", capacity=offered, allocatable_devices=offered, labels=labels)


def test_a_profile_that_no_workload_asks_for() -> None:
    asks = {"nvidia.com/mig-1g.10gb": Amount(number=1)}
    (finding,) = found(estate(nodes=[mig_node()], workloads=[entry(asks=asks)]), codes=MIG)

    assert finding.message == "1 node offers 1 nvidia.com/mig-3g.40gb, and no workload asks for it"
    assert finding.evidence == ("nodes: mig-0", "configuration: mixed")
    assert finding.gpus == 0.5, "the larger one of its shares of compute and memory"


def test_a_profile_that_a_workload_waits_for_is_used() -> None:
    asks = {f"nvidia.com/mig-{name}": Amount(number=1) for name in ("1g.10gb", "3g.40gb")}

    assert found(estate(nodes=[mig_node()], workloads=[entry(asks=asks)]), codes=MIG) == []


def test_whole_gpus_that_are_free_are_not_a_profile() -> None:
    assert found(estate(nodes=[gpu_node(capacity=devices(8))]), codes=MIG) == []


def test_gpus_that_are_offered_in_two_ways_are_reported() -> None:
    seen = estate(nodes=[replace(gpu_node(), offered_twice=("gpu.nvidia.com",))], workloads=[entry(pods=[running()])])
    [finding] = found(seen, codes=("USA037",))

    assert finding.message == "it offers its GPUs as nvidia.com/gpu, and again for claims as gpu.nvidia.com"
