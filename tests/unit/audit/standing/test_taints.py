"""Taints of GPU nodes: those that are missing, and those that keep the GPU stack away."""

from typing import Any

import pytest

from builders import custom
from builders.estates import H100, entry, estate, gpu_node
from builders.standings import found, judged, judgement, result
from usher import paths
from usher.audit.estate import Node
from usher.audit.standing import gpu_stack
from usher.audit.standing.wanted import DAEMON_SET
from usher.check.devices import Amount, Devices

TAINTS = ("USA030", "USA031")
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
        (gpu_node(taints=(), capacity=eight("gpu.nvidia.com")), f"board {H100}", "nvidia.com/gpu"),
    ],
    ids=["AMD", "Gaudi", "MIG", "device claims"],
)
def test_the_taint_that_nodes_lack_is_named_after_their_devices(node: Node, pool: str, key: str) -> None:
    (entry,) = found(estate(nodes=[node]), codes=("USA030",))

    assert entry.message == f"1 node of {pool} has no taint that keeps other pods off"
    assert entry.remedy.startswith(f"Taint the nodes with {key}=present:NoSchedule, ")


def other_node(name: str = "cpu-0", *taints: str) -> paths.Object:
    """A node without accelerators, with taints of these keys."""
    found: list[paths.Json] = [{"key": key, "effect": "NoSchedule"} for key in taints]
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {"taints": found}}


@pytest.mark.parametrize(
    ("others", "findings"),
    [
        ([], 0),
        ([other_node("master", "node-role.kubernetes.io/control-plane")], 0),
        ([other_node()], 1),
        ([other_node("cpu-0", "node.kubernetes.io/unschedulable")], 1),
    ],
    ids=["one node alone", "a control plane", "nodes for other pods", "a node that is cordoned for now"],
)
def test_a_taint_is_missing_only_where_other_pods_have_nodes_of_their_own(
    others: list[paths.Object], findings: int
) -> None:
    seen = estate(nodes=[gpu_node("a", taints=())], objects=[other_node("a"), *others])

    assert len(found(seen, codes=("USA030",))) == findings


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


def selecting(**labels: str) -> dict[str, Any]:
    """Required node affinity with one term, as an affinity of a pod."""
    wanted = [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]
    terms = {"nodeSelectorTerms": [{"matchExpressions": wanted}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


@pytest.mark.parametrize(("pool", "findings"), [("h100", 1), ("t4", 0)])
def test_the_affinity_of_a_daemon_set_chooses_its_nodes(pool: str, findings: int) -> None:
    nodes = [gpu_node(taints=OTHER_TAINT, labels={"pool": "h100"})]
    seen = estate(nodes=nodes, objects=[daemon_set(PLUGIN, USUAL, **selecting(pool=pool))])

    assert len(found(seen, codes=("USA031",))) == findings


@pytest.mark.parametrize(
    "image",
    [
        "ghcr.io/k8snetworkplumbingwg/sriov-network-device-plugin:v3.9",
        "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.6",
        "registry.example.com/fuse-device-plugin:1",
    ],
)
def test_plugins_of_other_devices_are_left_out_of_the_gpu_stack(image: str) -> None:
    assert found(estate(nodes=[gpu_node(taints=OTHER_TAINT)], objects=[daemon_set(image)]), codes=TAINTS) == []


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("nvidia-device-plugin", "device plugin"),
        ("gpu-feature-discovery", "GPU feature discovery"),
        ("nvidia-device-plugin-mps-control-daemon", ""),
    ],
)
def test_one_image_holds_several_programs_so_names_come_first(name: str, part: str) -> None:
    value = daemon_set(PLUGIN, containers=[{"name": f"{name}-ctr", "image": PLUGIN}])

    assert gpu_stack.part(value) == part


def test_the_stack_of_one_vendor_need_not_reach_nodes_of_another() -> None:
    tpus = gpu_node("tpu", product="", capacity=eight("google.com/tpu"), taints=(("google.com/tpu", "", "NoSchedule"),))
    unknown = "registry.example.com/device-plugin:1"

    assert found(estate(nodes=[tpus], objects=[daemon_set(PLUGIN)]), codes=("USA031",)) == []
    assert len(found(estate(nodes=[tpus], objects=[daemon_set(unknown)]), codes=("USA031",))) == 1


def test_where_daemon_sets_or_nodes_are_not_known_it_has_no_findings() -> None:
    assert found(estate(nodes=[gpu_node(taints=OTHER_TAINT)], unknown=[DAEMON_SET]), codes=TAINTS) == []
    assert found(estate(nodes=None, objects=[daemon_set(PLUGIN)]), codes=TAINTS) == []
