"""DaemonSets take amounts of each node that they run on, of nodes that exist and of those of pools."""

from typing import Any

import pytest

import builders
from unit.authorities.knowing import case, knowing
from usher import paths
from usher.authorities.nodes import places as nodes_places
from usher.authorities.nodes import present, selected_pools
from usher.cluster.facts.store import Store
from usher.config import models
from usher.config import pools as config_pools

NODE = builders.node("gpu-0", gpus=8, labels={"pool": "h100"})
"""It has 96 CPUs."""

_TOLERATION = {"operator": "Exists"}


def daemon_set(name: str = "agent", *, cpu: object = "2", container: dict[str, Any] | None = None, **spec: Any) -> Any:
    asked = {"requests": {"cpu": cpu}} if container is None else container
    template = {"spec": {"containers": [{"name": "a", "image": "a", "resources": asked}], **spec}}
    metadata = {"name": name, "namespace": "kube-system"}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": {"template": template}}


def pod(cpu: str, **spec: Any) -> paths.Object:
    return builders.pod(builders.container(gpus=8, requests={"cpu": cpu}), **spec)


def shortages(value: paths.Object, *facts: paths.Object, pools: tuple[config_pools.Pool, ...] = ()) -> list[Any]:
    found = present.input_slice(case(value), knowing(Store.of(facts), models.Config(pools=list(pools))))
    return [] if found is None else [each for one in found["pods"].values() for each in one["nearest"]["shortages"]]


def most_cpus(*daemons: paths.Object, node: paths.Object = NODE) -> str:
    (found,) = shortages(pod("97"), node, *daemons)
    return str(found["most"])


def test_a_pod_that_fits_the_machine_but_not_beside_its_daemons_is_named_with_the_amounts() -> None:
    (found,) = shortages(pod("95"), NODE, daemon_set(), daemon_set("exporter", cpu="500m"))

    assert (found["asked"], found["most"]) == ("95", "93500m")
    assert found["daemons"] == "2500m (kube-system/agent, kube-system/exporter)"


def test_a_pod_that_fits_beside_them_is_not() -> None:
    assert shortages(pod("94"), NODE, daemon_set()) == []


def test_without_daemon_sets_nothing_changes() -> None:
    assert shortages(pod("96"), NODE) == []
    (found,) = shortages(pod("97"), NODE)
    assert "daemons" not in found


def test_only_those_that_run_on_the_node_count() -> None:
    tainted = builders.node("gpu-0", gpus=8, labels={"pool": "h100"}, taints=["nvidia.com/gpu=present:NoSchedule"])
    affinity = builders.node_affinity(builders.term(builders.expression("pool", "NotIn", "a100")))

    assert most_cpus(daemon_set(nodeSelector={"pool": "a100"})) == "96"
    assert most_cpus(daemon_set(nodeSelector={"pool": "h100"})) == "94"
    assert most_cpus(daemon_set(affinity=affinity)) == "94"
    assert shortages(pod("95", tolerations=[_TOLERATION]), tainted, daemon_set()) == []
    assert len(shortages(pod("95", tolerations=[_TOLERATION]), tainted, daemon_set(tolerations=[_TOLERATION]))) == 1


def test_each_of_them_is_one_of_the_pods_of_the_node() -> None:
    small = builders.replaced(NODE, "/status/allocatable/pods", "1")

    (found,) = shortages(pod("1"), small, daemon_set(container={}))
    assert (found["resource"], found["most"]) == ("pods", "")


def test_devices_that_they_ask_for_do_not_count() -> None:
    assert shortages(pod("1"), NODE, daemon_set(container={"limits": {"nvidia.com/gpu": "8"}})) == []


def test_a_daemon_set_and_its_pods_do_not_leave_room_for_themselves() -> None:
    large = daemon_set(container={"requests": {"cpu": "60"}, "limits": {"nvidia.com/gpu": "1"}})
    of_it: paths.Object = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "name": "agent",
        "uid": "u",
        "controller": True,
    }

    assert shortages(large, NODE, large) == []
    assert shortages(builders.replaced(pod("60"), "/metadata/ownerReferences", [of_it]), NODE, large) == []


def test_named_nodes_keep_their_pools() -> None:
    pool = config_pools.Pool(name="h100", node_selector={"pool": "h100"})
    known = knowing(Store.of([NODE, daemon_set()]), models.Config(pools=[pool]))

    assert [each.pool for each in nodes_places.places_of_known(known).all] == [pool]


def test_pools_at_zero_of_usher_yaml_count_what_selects_them() -> None:
    pool = config_pools.Pool(
        name="h200",
        node_selector={"pool": "h200"},
        resources=["nvidia.com/gpu"],
        allocatable={"cpu": "96", "nvidia.com/gpu": "8"},
        scales_from_zero=True,
    )
    asking = pod("95", nodeSelector={"pool": "h200"})

    assert shortages(asking, NODE, daemon_set(nodeSelector={"kubernetes.io/os": "windows"}), pools=(pool,)) == []
    (found,) = shortages(asking, NODE, daemon_set(nodeSelector={"kubernetes.io/os": "linux"}), pools=(pool,))
    assert found["most"] == "94"
    # Nobody knows the other labels of its nodes.
    affinity = builders.node_affinity(builders.term(builders.expression("zone", "NotIn", "a")))
    assert shortages(asking, NODE, daemon_set(affinity=affinity), pools=(pool,)) == []


@pytest.mark.parametrize(
    ("daemons", "most"),
    [
        ([], ""),
        ([daemon_set(cpu="1")], "6910m"),
        ([daemon_set(cpu="1", nodeSelector={"node.kubernetes.io/instance-type": "g5.2xlarge"})], "6910m"),
        ([daemon_set(cpu="1", nodeSelector={"nvidia.com/gpu.present": "true"})], ""),
    ],
)
def test_karpenter_counts_those_whose_labels_it_knows(daemons: list[paths.Object], most: str) -> None:
    requirement = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["g5.2xlarge"]}
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"}
    node_pool: Any = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "gpu"},
        "spec": {"template": {"spec": {"nodeClassRef": reference, "requirements": [requirement]}}},
    }
    asking = builders.pod(
        builders.container(gpus=1, requests={"cpu": "7500m"}), nodeSelector={"karpenter.sh/nodepool": "gpu"}
    )

    found = selected_pools.node_pools_slice(case(asking), knowing(Store.of([node_pool, *daemons])))
    small = (found or {}).get("tooSmall", {}).get("")
    assert ("" if small is None else small["shortages"][0]["most"]) == most


@pytest.mark.parametrize(
    "damaged",
    [
        {"spec": None},
        {"spec": {"template": 3}},
        {"spec": {"template": {"spec": {"containers": "x"}}}},
        {"spec": {"template": {"spec": {"containers": [{"resources": {"requests": {"cpu": []}}}]}}}},
        {"spec": {"template": {"spec": {"containers": [{"resources": {"requests": {"cpu": "1e99"}}}]}}}},
    ],
)
def test_damaged_daemon_sets_are_read(damaged: dict[str, Any]) -> None:
    shortages(pod("1"), NODE, {**daemon_set(), **damaged})
