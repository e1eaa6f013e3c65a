"""Rules see undeclared pools where nodes are known, and selected devices that no pool has."""

import builders
from builders import GPU, expression, node_affinity, term, toleration
from unit.authorities import knowing
from unit.authorities.nodes.judging import GPU_TAINT, TOLERATION
from unit.workloads.normalised import workload
from usher import paths
from usher.authorities.nodes import declared_pools
from usher.authorities.nodes.declared_pools import PoolsInput
from usher.cluster.facts.store import Store
from usher.config import models
from usher.config import pools as config_pools

PRODUCT = "nvidia.com/gpu.product"
H100 = builders.node("h100-0", gpus=8, labels={PRODUCT: "NVIDIA-H100-80GB-HBM3"}, taints=[GPU_TAINT])
L4 = builders.node("l4-0", gpus=1, labels={PRODUCT: "NVIDIA-L4"})
KEPT = builders.node(
    "team-0", gpus=8, labels={PRODUCT: "NVIDIA-A100-SXM4-80GB"}, taints=["dedicated=vision:NoSchedule"]
)
CPU = builders.node("cpu-0")
BY_OWN_LABEL = config_pools.Pool(name="h100", node_selector={"pool": "h100"})


def seen(pod: paths.Object, *nodes: paths.Object, pools: list[config_pools.Pool] | None = None) -> PoolsInput:
    known = knowing.knowing(Store.of(nodes), models.Config(pools=pools or []))
    made = workload(pod)
    (pod_set,) = made.pod_sets
    return declared_pools.placements(known).of(pod_set, workload=made)


def gpu_pod(gpus: int = 1, **spec: object) -> paths.Object:
    return builders.pod(builders.container(gpus=gpus), **spec)  # type: ignore[arg-type]  # fields of a pod spec


def fits(found: PoolsInput) -> dict[str, list[str]]:
    """The keys of untolerated taints, by pool."""
    return {fit["pool"]: [taint["key"] for taint in fit["untolerated"]] for fit in found["fits"]}


def test_the_taints_of_nodes_are_known_and_no_taint_is_assumed() -> None:
    found = seen(gpu_pod(), H100, L4, CPU)

    assert fits(found) == {"h100-80gb-hbm3": ["nvidia.com/gpu"], "l4": []}
    assert found["assumedTaints"] == []
    assert found["poolsFound"]
    assert not found["poolsDeclared"]


def test_a_pool_whose_nodes_have_too_few_devices_does_not_count() -> None:
    assert fits(seen(gpu_pod(4), H100, L4)) == {"h100-80gb-hbm3": ["nvidia.com/gpu"]}


def test_a_node_that_another_taint_reserves_stays_closed() -> None:
    assert fits(seen(gpu_pod(), H100, KEPT)) == {"h100-80gb-hbm3": ["nvidia.com/gpu"]}
    invited = seen(gpu_pod(tolerations=[toleration("dedicated", value="vision")]), H100, KEPT)
    assert fits(invited) == {"a100-sxm4-80gb": [], "h100-80gb-hbm3": ["nvidia.com/gpu"]}


def test_the_taint_that_azure_documents_is_one_of_accelerator_nodes() -> None:
    node = builders.node("aks-0", gpus=1, taints=["sku=gpu:NoSchedule"])

    assert fits(seen(gpu_pod(), node)) == {"gpu": ["sku"]}


def test_where_no_node_fits_the_usual_taint_is_assumed_because_an_autoscaler_may_add_one() -> None:
    for nodes in ([CPU], [L4]):
        found = seen(gpu_pod(8), *nodes)

        assert found["fits"] == []
        assert found["assumedTaints"] == ["nvidia.com/gpu"]
        assert "poolsFound" not in found


def test_declared_pools_win_over_nodes() -> None:
    found = seen(gpu_pod(), H100, L4, pools=[BY_OWN_LABEL])

    assert fits(found) == {"h100": []}
    assert found["poolsDeclared"]


def test_nodes_tell_of_devices_that_no_declared_pool_offers() -> None:
    amd = builders.node("amd-0", allocatable={"amd.com/gpu": "8"}, taints=["amd.com/gpu:NoSchedule"])
    found = seen(builders.pod(builders.container(limits={"amd.com/gpu": 1})), amd, pools=[BY_OWN_LABEL])

    assert fits(found) == {"gpu": ["amd.com/gpu"]}
    assert found["poolsFound"]


def test_claims_fit_no_pool_of_nodes() -> None:
    pod = builders.pod(builders.container(), resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}])

    assert seen(pod, H100)["fits"] == []


def test_an_ordinary_pod_opens_a_pool_of_nodes_only_by_the_taint_they_have() -> None:
    spared = builders.pod(tolerations=[toleration("google.com/tpu", operator="Exists")])

    assert seen(builders.pod(tolerations=[TOLERATION]), H100)["tolerated"] == [{"index": 0, "taint": "nvidia.com/gpu"}]
    assert seen(spared, H100)["tolerated"] == []
    assert seen(builders.pod(tolerations=[toleration("dedicated", operator="Exists")]), KEPT)["tolerated"] == []


def test_placements_are_kept_until_the_pools_change() -> None:
    facts = Store.of([H100])
    known = knowing.knowing(facts)
    first = declared_pools.placements(known)

    facts.put(builders.replaced(H100, "/metadata/name", "h100-1"))
    assert declared_pools.placements(known) is first

    facts.put(L4)
    assert declared_pools.placements(known) is not first


def test_a_model_that_no_declared_pool_has_is_named() -> None:
    selected = gpu_pod(nodeSelector={PRODUCT: "NVIDIA-L4"})
    required = gpu_pod(affinity=node_affinity(term(expression(PRODUCT, "In", "NVIDIA-L40S", "NVIDIA-L4"))))

    assert seen(selected, pools=[BY_OWN_LABEL])["undeclaredDevices"] == [{"label": PRODUCT, "values": ["NVIDIA-L4"]}]
    assert seen(required, pools=[BY_OWN_LABEL])["undeclaredDevices"] == [
        {"label": PRODUCT, "values": ["NVIDIA-L4", "NVIDIA-L40S"]}
    ]


def test_a_model_that_a_declared_pool_has_by_label_or_board_is_declared() -> None:
    pod = gpu_pod(nodeSelector={PRODUCT: "NVIDIA-H100-80GB-HBM3"})
    by_board = BY_OWN_LABEL.model_copy(update={"gpu": config_pools.Gpus(board="H100-80", per_node=8)})
    by_label = config_pools.Pool(name="h100", node_selector={PRODUCT: "NVIDIA-H100-80GB-HBM3"})

    for pool in (by_board, by_label):
        assert "undeclaredDevices" not in seen(pod, pools=[pool])


def test_a_model_of_a_node_that_no_pool_declares_is_read_from_the_node() -> None:
    found = seen(gpu_pod(nodeSelector={PRODUCT: "NVIDIA-L4"}), H100, L4, pools=[BY_OWN_LABEL])

    assert fits(found) == {"l4": []}
    assert not found["poolsDeclared"]
    assert "undeclaredDevices" not in found


def test_a_pod_that_may_run_elsewhere_as_well_selects_no_model() -> None:
    either = gpu_pod(
        affinity=node_affinity(term(expression(PRODUCT, "In", "NVIDIA-L4")), term(expression(GPU, "Exists")))
    )

    assert "undeclaredDevices" not in seen(either, pools=[BY_OWN_LABEL])
