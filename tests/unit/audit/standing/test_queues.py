"""Queues that no workload uses, and queues that promise more than their nodes have."""

from typing import Any

import pytest

from builders import queues
from builders.estates import H100, entry, estate, gpu_node
from builders.standings import found, namespaces
from usher import paths
from usher.audit.document import FindingEntry, Subject
from usher.audit.gather.estate import Estate, Missing
from usher.audit.gather.needed_inputs import KUEUE_WORKLOAD, POD_GROUP
from usher.config import models

UNUSED = ("USA020",)
ABOVE = ("USA021",)
PRODUCT = {"nvidia.com/gpu.product": H100}


def kueue_workload(queue: str, namespace: str = "ml-research") -> paths.Object:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": f"in-{queue}", "namespace": namespace},
        "spec": {"queueName": queue},
    }


def subjects(entries: list[FindingEntry]) -> list[str]:
    return [f"{each.subject.kind} {each.subject.name}: {each.message}" for each in entries]


KUEUE = [
    queues.cluster_queue("busy", queues.gpu_group(8)),
    queues.cluster_queue("idle", queues.gpu_group(16)),
    queues.cluster_queue("lost", queues.gpu_group(4)),
    queues.cluster_queue("cpus", queues.group(("a100", [queues.quota(96, resource="cpu")]))),
    queues.local_queue("used", "busy", namespace="ml-research"),
    queues.local_queue("unused", "busy", namespace="ml-research"),
    queues.local_queue("also-unused", "idle", namespace="ml-research"),
    queues.flavor("a100"),
    *namespaces("ml-research", team="nlp"),
]


def test_a_queue_without_workloads_is_named_once_with_what_it_promises() -> None:
    seen = estate(objects=[kueue_workload("used")])

    entries = found(seen, KUEUE, codes=UNUSED)
    assert subjects(entries) == [
        "ClusterQueue idle: no workload is in any of its LocalQueues",
        "ClusterQueue lost: no LocalQueue leads to it",
        "LocalQueue unused: no workload is in it",
    ]
    assert entries[0].gpus == 16
    assert entries[0].evidence == ("nominal quota: 16 nvidia.com/gpu", "LocalQueues: ml-research/also-unused")
    assert entries[2].team == "nlp"


def test_a_workload_with_accelerators_uses_its_queue_before_kueue_has_seen_it() -> None:
    seen = estate(workloads=[entry(queue="also-unused")], without=[KUEUE_WORKLOAD.key])

    assert "ClusterQueue idle" not in " ".join(subjects(found(seen, KUEUE, codes=UNUSED)))


@pytest.mark.parametrize(
    "seen",
    [
        estate(unknown=[KUEUE_WORKLOAD.key]),
        estate(),
        estate(without=[KUEUE_WORKLOAD.key], missing=[Missing(source="jobs.batch", reason="forbidden")]),
    ],
    ids=["Workloads may not be listed", "Workloads were not asked for", "an incomplete audit"],
)
def test_where_workloads_are_not_known_no_queue_is_unused(seen: Estate) -> None:
    assert found(seen, KUEUE, codes=UNUSED) == []


def test_a_queue_of_volcano_without_pod_groups_is_unused() -> None:
    groups: list[paths.Object] = [
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": "a", "namespace": "ml-research"},
            "spec": {"queue": "busy"},
        }
    ]
    facts = [
        queues.volcano_queue(name, gpu=8) for name in ("busy", "idle", "default", "root")
    ] + [queues.volcano_queue("leaf", parent="busy")]  # fmt: skip

    entries = found(estate(objects=groups), facts, codes=UNUSED)
    assert subjects(entries) == ["Queue idle: no PodGroup is in it", "Queue leaf: no PodGroup is in it"]
    assert entries[0].evidence == ("capability: 8 nvidia.com/gpu",)
    assert found(estate(unknown=[POD_GROUP.key]), facts, codes=UNUSED) == []


def promising(*gpus: int, **spec: Any) -> list[paths.Object]:
    """Queues with so many GPUs of the H100 flavor."""
    return [
        *(
            queues.cluster_queue(f"queue-{index}", queues.gpu_group(number, flavor="h100"), **spec)
            for index, number in enumerate(gpus)
        ),
        queues.flavor("h100", labels=PRODUCT),
    ]


def test_queues_that_promise_more_gpus_than_the_nodes_of_their_flavor_have() -> None:
    other = gpu_node("t4", 4, product="Tesla-T4")
    (finding,) = found(estate(nodes=[gpu_node(), other]), promising(8, 4), codes=ABOVE)

    assert finding.subject == Subject(api_version="kueue.x-k8s.io/v1beta2", kind="ResourceFlavor", name="h100")
    assert finding.message == (
        "2 queues with flavor h100 promise 12 nvidia.com/gpu, and the nodes that match it have 8"
    )
    assert (finding.gpus, finding.evidence) == (4, ("ClusterQueue queue-0: 8", "ClusterQueue queue-1: 4"))


def test_queues_within_the_capacity_are_fine_even_if_devices_are_unhealthy() -> None:
    assert found(estate(nodes=[gpu_node(allocatable=7)]), promising(4, 4), codes=ABOVE) == []


@pytest.mark.parametrize(
    ("seen", "config"),
    [
        (estate(nodes=None), models.Config()),
        (estate(nodes=[gpu_node(labels={"karpenter.sh/nodepool": "gpu"})]), models.Config()),
        (
            estate(nodes=[gpu_node()]),
            models.Config.model_validate({"pools": [{"name": "h100", "nodeSelector": PRODUCT, "maxNodes": 8}]}),
        ),
    ],
    ids=["nodes are not known", "Karpenter adds nodes", "usher.yaml says that an autoscaler adds nodes"],
)
def test_where_there_may_be_more_nodes_nothing_is_above_the_capacity(seen: Estate, config: models.Config) -> None:
    assert found(seen, promising(16), config=config, codes=ABOVE) == []


def test_a_queue_with_admission_checks_may_get_nodes_elsewhere() -> None:
    checked = promising(16, admissionChecksStrategy={"admissionChecks": [{"name": "multikueue"}]})

    assert found(estate(nodes=[gpu_node()]), checked, codes=ABOVE) == []


def test_without_the_flavors_nothing_is_compared() -> None:
    facts = [queues.cluster_queue("queue", queues.gpu_group(16))]

    assert found(estate(nodes=[gpu_node()]), facts, codes=ABOVE) == []
