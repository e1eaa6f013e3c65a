"""Quotas of accelerators against the cluster and the workloads."""

import pytest

from builders import GPU, gpu_quota, resource_quota
from builders.autoscalers import STATUS, node_pool
from builders.estates import entry, estate, gpu_node
from builders.standings import found, namespaces
from usher import paths
from usher.audit.estate import Estate, Missing, Node
from usher.check.devices import Amount
from usher.config import models

ABOVE = ("USA022",)
TOGETHER = ("USA023",)
EMPTY = ("USA024",)


def quota(gpus: int, namespace: str = "ml-research", name: str = "gpus") -> paths.Object:
    return resource_quota({f"requests.{GPU}": gpus, "requests.cpu": 100}, name=name, namespace=namespace)


def test_a_quota_above_the_capacity_bounds_nothing() -> None:
    facts = [quota(100), *namespaces("ml-research", team="nlp")]
    (finding,) = found(estate(nodes=[gpu_node()], workloads=[entry()]), facts, codes=ABOVE)

    assert finding.message == "it allows 100 nvidia.com/gpu, and the cluster has 8"
    assert (finding.path, finding.team, finding.gpus) == ("spec.hard.requests.nvidia.com/gpu", "nlp", 100)


@pytest.mark.parametrize(
    ("node", "resource"),
    [
        (gpu_node(gpus=2, shared_by=4), GPU),
        (gpu_node(gpus=2, shared_by=4), f"{GPU}.shared"),
        (gpu_node(capacity={"gpu.nvidia.com": Amount(number=8)}), GPU),
    ],
    ids=["shared devices", "shared devices by their own name", "device claims for an extended resource"],
)
def test_a_quota_counts_devices_by_each_name_that_pods_may_ask_for(node: Node, resource: str) -> None:
    allowed = resource_quota({f"requests.{resource}": 8}, name="gpus", namespace="ml-research")
    more = resource_quota({f"requests.{resource}": 9}, name="gpus", namespace="ml-research")

    assert found(estate(nodes=[node]), [allowed], codes=ABOVE) == []
    assert len(found(estate(nodes=[node]), [more], codes=ABOVE)) == 1


def test_where_an_autoscaler_may_add_nodes_no_quota_is_above_the_capacity() -> None:
    assert found(estate(nodes=[], objects=[node_pool()]), [quota(100)], codes=ABOVE) == []
    assert found(estate(nodes=[]), [quota(100), STATUS], codes=ABOVE) == []


@pytest.mark.parametrize(
    ("seen", "gpus"),
    [(estate(nodes=[gpu_node()]), 8), (estate(nodes=[gpu_node()]), 0), (estate(nodes=None), 100)],
    ids=["as large as the cluster", "nothing is allowed", "nodes are not known"],
)
def test_other_quotas_are_not_above_the_capacity(seen: Estate, gpus: int) -> None:
    assert found(seen, [quota(gpus)], codes=ABOVE) == []


def test_quotas_that_cannot_all_be_used_at_once_are_reported_with_the_largest() -> None:
    facts = [
        quota(6, "a"),
        quota(4, "b"),
        resource_quota({f"requests.{GPU}": 90}, scopes=["BestEffort"], namespace="c"),
    ]
    (finding,) = found(estate(nodes=[gpu_node()]), facts, codes=TOGETHER)

    assert finding.message == "2 ResourceQuotas allow 10 nvidia.com/gpu together, and the cluster has 8"
    assert (finding.subject.kind, finding.subject.name, finding.gpus) == ("Cluster", GPU, 2)
    assert finding.evidence == ("a/gpus: 6", "b/gpus: 4")


def test_quotas_that_are_each_above_the_capacity_make_one_finding_each() -> None:
    facts = [quota(100, "a"), quota(100, "b"), quota(8, "c")]

    seen = estate(nodes=[gpu_node()])
    assert [each.code for each in found(seen, facts, codes=(*ABOVE, *TOGETHER))] == ["USA022", "USA022"]


def test_quotas_within_the_capacity_fit_together() -> None:
    assert found(estate(nodes=[gpu_node()]), [quota(4, "a"), quota(4, "b")], codes=TOGETHER) == []


def test_a_quota_of_a_namespace_without_workloads() -> None:
    facts = [quota(4, "ml-research"), quota(2, "empty"), quota(2, "gpu-operator"), *namespaces("empty", team="cv")]
    (finding,) = found(estate(workloads=[entry()]), facts, codes=EMPTY)

    assert finding.subject.namespace == "empty"
    assert (finding.message, finding.team, finding.gpus) == (
        "namespace empty has no workload with accelerators",
        "cv",
        2,
    )


def test_an_incomplete_audit_proves_no_namespace_empty() -> None:
    seen = estate(missing=[Missing(source="jobs.batch", reason="forbidden")])

    assert found(seen, [quota(4), gpu_quota("research", 16)], codes=EMPTY) == []


def test_a_gpu_quota_that_holds_for_no_workload() -> None:
    facts = [gpu_quota("research", 16, namespaces=["ml-*"]), gpu_quota("vision", 8, namespaces=["cv-*"])]
    (finding,) = found(estate(workloads=[entry()]), facts, codes=EMPTY)

    assert (finding.subject.kind, finding.subject.name, finding.gpus) == ("GPUQuota", "vision", 8)
    assert finding.message == "GPUQuota vision holds for no workload with accelerators"


def test_a_quota_of_usher_yaml_is_named_by_its_file() -> None:
    config = models.Config.model_validate(
        {"quotas": [{"name": "vision", "namespaces": ["cv-*"], "limits": [{"hard": {"gpus": 8}}]}]}
    )
    (finding,) = found(estate(workloads=[entry()]), config=config, codes=EMPTY)

    assert finding.message == "quota vision of usher.yaml holds for no workload with accelerators"
