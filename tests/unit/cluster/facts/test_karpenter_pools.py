"""The machine types that NodePools of Karpenter allow, and what they mean for pods."""

from typing import Any

import pytest

from usher import paths
from usher.cluster.facts import node_pools

TYPE = "node.kubernetes.io/instance-type"


def node_pool(*requirements: dict[str, Any], group: str = "karpenter.k8s.aws") -> paths.Object:
    spec: dict[str, Any] = {
        "nodeClassRef": {"group": group, "kind": "EC2NodeClass", "name": "gpu"},
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}],
        "requirements": list(requirements),
    }
    template: dict[str, Any] = {"metadata": {"labels": {"team": "nlp"}}, "spec": spec}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "gpu"},
        "spec": {"template": template},
    }


def wants(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def allowed(*requirements: dict[str, Any], group: str = "karpenter.k8s.aws") -> list[str] | None:
    [pool] = node_pools.read_pools({"gpu": node_pool(*requirements, group=group)})
    return None if pool.types is None else [each.name for each in pool.types]


@pytest.mark.parametrize(
    ("requirements", "types"),
    [
        ([wants(TYPE, "In", "g6e.xlarge", "m6i.large")], ["g6e.xlarge"]),
        ([wants("karpenter.k8s.aws/instance-gpu-name", "In", "h100"),
          wants("karpenter.k8s.aws/instance-gpu-count", "Gt", "4")], ["p5.48xlarge"]),
        ([wants("karpenter.k8s.aws/instance-family", "In", "g6e"), wants("karpenter.k8s.aws/instance-cpu", "Lt", "9")],
         ["g6e.2xlarge", "g6e.xlarge"]),
        ([wants("karpenter.k8s.aws/instance-family", "In", "p5"), wants("karpenter.sh/capacity-type", "In", "spot")],
         ["p5.48xlarge", "p5.4xlarge"]),
        ([wants("karpenter.k8s.aws/instance-category", "In", "m", "c")], []),
        # A type that is newer than the table may have any number of GPUs.
        ([wants(TYPE, "In", "g6e.xlarge", "p9.48xlarge")], None),
    ],
    ids=["named", "by GPU", "by family and size", "labels of no type", "no accelerators", "newer"],
)  # fmt: skip
def test_a_node_pool_allows_the_types_that_meet_its_requirements(
    requirements: list[dict[str, Any]], types: list[str] | None
) -> None:
    assert allowed(*requirements) == types


def test_types_of_other_clouds_are_not_known() -> None:
    assert allowed(wants(TYPE, "In", "Standard_NC24ads_A100_v4"), group="karpenter.azure.com") is None


def test_nodes_have_the_labels_and_taints_of_the_template() -> None:
    [pool] = node_pools.read_pools({"gpu": node_pool(wants("karpenter.sh/capacity-type", "In", "spot"))})

    assert pool.labels == {"team": "nlp", "karpenter.sh/capacity-type": "spot", "karpenter.sh/nodepool": "gpu"}
    assert [str(taint) for taint in pool.taints] == ["nvidia.com/gpu=present:NoSchedule"]


@pytest.mark.parametrize("damaged", [{}, {"spec": 1}, {"spec": {"template": "text"}}])
def test_node_pools_that_cannot_be_read_are_left_out(damaged: paths.Object) -> None:
    assert node_pools.read_pools({"gpu": damaged}) == ()


def test_damaged_requirements_and_taints_say_nothing() -> None:
    spec: paths.Object = {"template": {"spec": {"requirements": [1, {}], "taints": 3}}}
    [pool] = node_pools.read_pools({"gpu": {"spec": spec}})

    assert (pool.types, pool.taints) == (None, ())


def test_a_machine_has_what_pods_get_of_it() -> None:
    machine = node_pools.machine_types()["p5.48xlarge"]

    assert (machine.amounts["nvidia.com/gpu"], machine.amounts["vpc.amazonaws.com/efa"]) == (8, 32)


@pytest.mark.parametrize(
    ("disruption", "consolidates"),
    [
        ({}, True),
        ({"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "1m"}, True),
        ({"consolidationPolicy": "WhenEmpty"}, False),
        ({"consolidateAfter": "Never"}, False),
        ({"budgets": [{"nodes": "0"}]}, False),
        ({"budgets": [{"nodes": "0", "schedule": "0 9 * * *", "duration": "8h"}]}, True),
    ],
)
def test_a_node_pool_consolidates_unless_it_says_otherwise(disruption: paths.Object, consolidates: bool) -> None:
    [pool] = node_pools.read_pools({"gpu": {"spec": {"disruption": disruption, "template": {}}}})

    assert pool.consolidates is consolidates
