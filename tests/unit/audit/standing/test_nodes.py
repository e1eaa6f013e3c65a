"""GPU nodes whose GPUs are lost: taints, health, drivers, MIG."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from builders import custom
from builders.estates import H100, ago, devices, entry, estate, gpu_node, running
from builders.standings import found, judged, judgement, result
from usher import paths
from usher.audit.document import FindingEntry, Severity, Subject
from usher.audit.estate import Node
from usher.audit.standing.wanted import DAEMON_SET
from usher.config import models
from usher.scan.devices import Amount, Devices

TAINTS = ("USA030", "USA031")
HEALTH = ("USA033", "USA034", "USA035", "USA036")
MIG = ("USA032",)
OTHER_TAINT = (("gpu", "true", "NoSchedule"),)


def eight(resource: str) -> Devices:
    return {resource: Amount(number=8)}


def test_nodes_without_a_taint_are_one_finding_for_each_pool() -> None:
    nodes = [
        gpu_node("a", taints=()),
        gpu_node("b", taints=(("node.kubernetes.io/unschedulable", "", "NoSchedule"),)),
        gpu_node("c", taints=(("soft", "", "PreferNoSchedule"),), labels={"eks.amazonaws.com/nodegroup": "gpus"}),
        gpu_node("d"),
    ]

    entries = found(estate(nodes=nodes), codes=TAINTS)
    assert [(each.subject.name, each.message, each.gpus) for each in entries] == [
        (
            f"board {H100}",
            f"2 nodes of board {H100} have no taint that keeps other pods off",
            16,
        ),
        ("pool gpus", "1 node of pool gpus has no taint that keeps other pods off", 8),
    ]


@pytest.mark.parametrize(
    ("node", "pool", "key"),
    [
        (
            gpu_node(taints=(), product="AMD_Instinct_MI300X", capacity=eight("amd.com/gpu")),
            "board AMD_Instinct_MI300X",
            "amd.com/gpu",
        ),
        (
            gpu_node(taints=(), product="", capacity=eight("habana.ai/gaudi")),
            "an unknown board with habana.ai/gaudi",
            "habana.ai/gaudi",
        ),
        (gpu_node(taints=(), capacity=eight("nvidia.com/mig-1g.10gb")), f"board {H100}", "nvidia.com/gpu"),
    ],
    ids=["AMD", "Gaudi", "MIG"],
)
def test_the_taint_that_nodes_lack_is_named_after_their_devices(node: Node, pool: str, key: str) -> None:
    (entry,) = found(estate(nodes=[node]), codes=("USA030",))

    assert entry.message == f"1 node of {pool} has no taint that keeps other pods off"
    assert entry.remedy.startswith(f"Taint the nodes with {key}=present:NoSchedule, ")


def daemon_set(image: str, *tolerations: dict[str, str], **spec: Any) -> paths.Object:
    pod = {"containers": [{"name": "main", "image": image}], "tolerations": list(tolerations), **spec}
    return custom("apps/v1", "DaemonSet", {"template": {"spec": pod}}, name="stack", namespace="gpu-operator")


PLUGIN = "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"
USUAL = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("image", "part"),
    [
        (PLUGIN, "device plugin"),
        ("nvcr.io/nvidia/k8s/dcgm-exporter:4.2.0", "DCGM exporter"),
        ("nvcr.io/nvidia/gpu-feature-discovery:v0.17.1", "GPU feature discovery"),
        ("nvcr.io/nvidia/driver/nvidia-driver:570", "driver"),
    ],
)
def test_a_daemon_set_of_the_gpu_stack_that_does_not_tolerate_a_taint_of_the_nodes(image: str, part: str) -> None:
    seen = estate(nodes=[gpu_node(taints=OTHER_TAINT)], objects=[daemon_set(image, USUAL)])

    (finding,) = found(seen, codes=TAINTS)
    assert (finding.code, finding.message) == (
        "USA031",
        f"the {part} does not tolerate the taint gpu=true:NoSchedule of 1 node",
    )
    assert (finding.gpus, finding.prevented_by, finding.preventable_by) == (8, "", "USH1431")


def test_a_rule_about_daemon_sets_prevents_where_it_denies() -> None:
    seen = estate(nodes=[gpu_node(taints=OTHER_TAINT)], objects=[daemon_set(PLUGIN, USUAL)])
    _, of = judged(seen, result(entry(), judgement("USH1431")))

    (finding,) = found(seen, of=of, codes=TAINTS)
    assert (finding.prevented_by, finding.preventable_by) == ("USH1431", "")


@pytest.mark.parametrize(
    "value",
    [
        daemon_set(PLUGIN, USUAL, {"operator": "Exists"}),
        daemon_set("registry.example.com/node-exporter:1"),
        daemon_set(PLUGIN, USUAL, nodeSelector={"pool": "others"}),
    ],
    ids=["tolerates everything", "is no part of the GPU stack", "is for other nodes"],
)
def test_others_stay_away_from_no_gpu_node(value: paths.Object) -> None:
    assert found(estate(nodes=[gpu_node(taints=OTHER_TAINT)], objects=[value]), codes=TAINTS) == []


def test_the_stack_of_one_vendor_need_not_reach_nodes_of_another() -> None:
    tpus = gpu_node("tpu", product="", capacity=eight("google.com/tpu"), taints=(("google.com/tpu", "", "NoSchedule"),))
    unknown = "registry.example.com/device-plugin:1"

    assert found(estate(nodes=[tpus], objects=[daemon_set(PLUGIN)]), codes=("USA031",)) == []
    assert len(found(estate(nodes=[tpus], objects=[daemon_set(unknown)]), codes=("USA031",))) == 1


def test_where_daemon_sets_or_nodes_are_not_known_it_has_no_findings() -> None:
    assert found(estate(nodes=[gpu_node(taints=OTHER_TAINT)], unknown=[DAEMON_SET]), codes=TAINTS) == []
    assert found(estate(nodes=None, objects=[daemon_set(PLUGIN)]), codes=(*TAINTS, *HEALTH, *MIG)) == []


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


@pytest.mark.parametrize("unknown", [{"pods_known": False}, {"only_namespace": "ml-research"}])
def test_without_all_pods_the_gpus_that_a_node_has_lost_are_not_known(unknown: Mapping[str, Any]) -> None:
    seen = dataclasses.replace(estate(nodes=[gpu_node(cordoned=True)], objects=[node_object()]), **unknown)

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
