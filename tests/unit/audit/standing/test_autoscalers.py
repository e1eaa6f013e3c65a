"""A workload or quota that only nodes of an autoscaler fit is not wrong."""

from typing import Any

import pytest

from builders import autoscalers, gpu_job, node, queues, replaced
from builders.estates import entry, estate, gpu_node, waiting
from builders.standings import found, knowledge
from usher import paths
from usher.audit.document import FindingEntry
from usher.audit.gather.estate import MULTI_KUEUE, Estate
from usher.audit.standing import cluster_equipment
from usher.config import models

CODES = ("USA001", "USA003", "USA004")
ABOVE = ("USA021", "USA022", "USA023")
QUEUED = {"kueue.x-k8s.io/queue-name": "research"}
PLAIN = node(gpus=None)


def pending(gpus: int, *objects: paths.Object, **fields: Any) -> Estate:
    """A Job whose only pod waits for five hours."""
    value = gpu_job(gpus, name="train", labels=fields.pop("labels", {}))
    return estate(
        workloads=[entry(pods=[waiting(gpus=gpus)], **fields)], objects=objects, manifests={"uid-of-train": value}
    )


def said(entries: list[FindingEntry]) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.code, each.evidence) for each in entries]


@pytest.mark.parametrize(
    ("objects", "facts", "name"),
    [
        ([autoscalers.node_pool("h100")], [], "Karpenter (NodePool h100)"),
        ([], [autoscalers.STATUS], "Cluster Autoscaler (ConfigMap cluster-autoscaler-status)"),
    ],
    ids=["Karpenter", "Cluster Autoscaler"],
)
def test_a_workload_that_new_nodes_could_hold_waits(
    objects: list[paths.Object], facts: list[paths.Object], name: str
) -> None:
    assert said(found(pending(8, *objects), [PLAIN, *facts], codes=CODES)) == [
        (
            "USA003",
            (
                "the nodes: 8 nvidia.com/gpu asked for, one node has none (nearest: nodes like node-0)",
                f"the nodes: {name} may add nodes that hold the pods",
            ),
        )
    ]


@pytest.mark.parametrize(
    ("gpus", "nodes", "config"),
    [
        (8, [node(gpus=8, taints=["nvidia.com/gpu=present:NoSchedule"])], {}),
        (32, [PLAIN], {}),
        (8, [PLAIN], {"pools": [{"name": "small", "nodeSelector": {"pool": "a"}, "gpu": {"perNode": 1}}]}),
        (8, [], None),
    ],
    ids=["a taint that new nodes have too", "more than a machine has", "usher.yaml says it", "no autoscaler"],
)
def test_what_no_new_node_would_hold_can_never_run(
    gpus: int, nodes: list[paths.Object], config: dict[str, Any] | None
) -> None:
    pools = [] if config is None else [autoscalers.node_pool()]

    site = models.Config.model_validate(config or {})
    assert [each.code for each in found(pending(gpus, *pools), nodes or [PLAIN], config=site, codes=CODES)] == [
        "USA001"
    ]


def test_an_admission_check_of_kueue_may_bring_nodes() -> None:
    checked = queues.cluster_queue(
        "research", queues.gpu_group(64), admissionChecksStrategy={"admissionChecks": [{"name": "capacity"}]}
    )
    facts = [checked, queues.local_queue("research", namespace="ml-research"), queues.flavor("a100"), PLAIN]

    (finding,) = found(pending(8, labels=QUEUED), facts, codes=CODES)
    assert finding.code == "USA003"
    assert "an admission check of ClusterQueue research may add nodes" in finding.evidence[-1]


@pytest.mark.parametrize(("suspended", "codes"), [(False, []), (True, ["USA003"])])
def test_a_job_that_kueue_sends_to_another_cluster_has_no_pods_here(*, suspended: bool, codes: list[str]) -> None:
    value = replaced(gpu_job(8, name="train"), "/spec/managedBy", MULTI_KUEUE)
    workload = entry(wanted=1, suspended=suspended, managed_by=MULTI_KUEUE)

    seen = estate(workloads=[workload], manifests={"uid-of-train": value})
    assert [each.code for each in found(seen, [PLAIN], codes=CODES)] == codes


@pytest.mark.parametrize(
    ("pool", "is_for_accelerators"),
    [
        (autoscalers.node_pool(), True),
        (autoscalers.node_pool(operator="DoesNotExist"), False),
        (autoscalers.node_pool(key="karpenter.k8s.aws/instance-gpu-count", operator="In", values=("0",)), False),
        (autoscalers.node_pool(key="karpenter.k8s.aws/instance-family", operator="In", values=("c7i", "p5")), True),
        (autoscalers.node_pool(key="karpenter.k8s.aws/instance-family", operator="In", values=("c7i", "m7g")), False),
        (autoscalers.node_pool(key="karpenter.k8s.aws/instance-category", operator="In", values=("g",)), True),
        (autoscalers.node_pool(key="node.kubernetes.io/instance-type", operator="In", values=("p5.48xlarge",)), True),
        (autoscalers.node_pool(key="karpenter.azure.com/sku-family", operator="In", values=("N",)), True),
        (autoscalers.node_pool(key="kubernetes.io/arch", limits={"nvidia.com/gpu": "64"}), True),
        (autoscalers.node_pool(key="kubernetes.io/arch", limits={"nvidia.com/gpu": "0"}), False),
        (autoscalers.node_pool("filled", key="kubernetes.io/arch"), True),
    ],
    ids=[
        "a GPU by name",
        "machines without GPUs",
        "no GPU",
        "a family with GPUs",
        "families without GPUs",
        "a category with GPUs",
        "a type with GPUs",
        "a family of Azure",
        "a limit of GPUs",
        "a limit of no GPU",
        "its nodes have GPUs",
    ],
)
def test_a_node_pool_is_for_accelerators_by_what_it_names_or_by_its_nodes(
    pool: paths.Object, *, is_for_accelerators: bool
) -> None:
    nodes = [gpu_node(labels={"karpenter.sh/nodepool": "filled"})]
    pools = cluster_equipment.karpenter_pools(estate(nodes=nodes, objects=[pool]), knowledge().vocabulary)

    assert bool(pools) is is_for_accelerators
