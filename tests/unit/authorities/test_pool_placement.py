"""A pod set against several pools: where it could run, and what keeps it from there."""

import builders
from builders import expression, node_affinity, term, toleration
from unit.workloads.normalised import VOCABULARY, workload
from usher import model, paths
from usher.authorities import pool_fit
from usher.authorities.pool_fit import Placement, place_pod_set
from usher.config import pools as config_pools

PRODUCT = "nvidia.com/gpu.product"
PRESENT = config_pools.Taint(key="nvidia.com/gpu", value="present")
SPOT = config_pools.Taint(key="spot", value="true", effect="NoExecute")

H100 = config_pools.Pool(name="h100", node_selector={PRODUCT: "H100"}, taints=[PRESENT])
A100_SPOT = config_pools.Pool(name="a100-spot", node_selector={PRODUCT: "A100"}, taints=[PRESENT, SPOT])
MIG = config_pools.Pool(name="mig", node_selector={"pool": "mig"}, resources=["nvidia.com/mig-1g.10gb"])
POOLS = [H100, A100_SPOT, MIG]


def where(pod: paths.Object, pools: list[config_pools.Pool] | None = None) -> Placement:
    declared = POOLS if pools is None else pools
    found = pod_set(pod)
    return place_pod_set(found, declared, pool_fit.offering_pools(found, declared, VOCABULARY).pools)


def pod_set(pod: paths.Object) -> model.PodSet:
    (found,) = workload(pod).pod_sets
    return found


def gpu_pod(
    *tolerations: paths.Object,
    node_selector: dict[str, str] | None = None,
    affinity: paths.Object | None = None,
) -> paths.Object:
    return builders.pod(
        builders.container(gpus=1),
        tolerations=list(tolerations) or None,
        nodeSelector=node_selector,
        affinity=affinity,
    )


def untolerated(found: Placement) -> dict[str, list[str]]:
    return {fit.pool.name: [taint.key for taint in fit.untolerated] for fit in found.fits}


def test_a_pod_that_says_nothing_could_run_in_every_pool_with_its_resource_but_for_the_taints() -> None:
    found = where(gpu_pod())

    assert untolerated(found) == {"h100": ["nvidia.com/gpu"], "a100-spot": ["nvidia.com/gpu", "spot"]}
    assert found.declared
    assert found.selected == (False,)


def test_tolerations_open_the_pools_whose_taints_they_cover() -> None:
    found = where(gpu_pod(toleration("nvidia.com/gpu", operator="Exists")))

    assert untolerated(found) == {"h100": [], "a100-spot": ["spot"]}


def test_a_node_selector_leaves_the_pools_that_carry_its_labels() -> None:
    found = where(gpu_pod(node_selector={PRODUCT: "A100"}))

    assert untolerated(found) == {"a100-spot": ["nvidia.com/gpu", "spot"]}
    assert found.selected == (True,)


def test_every_term_of_the_affinity_is_judged_for_itself() -> None:
    pinned, open_to_all = term(expression(PRODUCT, "In", "H100", "A100")), term(expression("zone", "In", "a"))
    found = where(gpu_pod(affinity=node_affinity(pinned, open_to_all)))

    assert set(untolerated(found)) == {"h100", "a100-spot"}
    assert found.selected == (True, False)


def test_a_term_that_contradicts_itself_selects_nothing() -> None:
    impossible = term(expression(PRODUCT, "In", "H100"), expression(PRODUCT, "In", "A100"))
    open_to_all = term(expression("zone", "In", "a"))

    assert where(gpu_pod(affinity=node_affinity(impossible, open_to_all))).selected == (False,)
    assert where(gpu_pod(affinity=node_affinity(impossible))).selected == ()


def test_an_affinity_without_usable_terms_fits_nowhere() -> None:
    found = where(gpu_pod(affinity=node_affinity(term())))

    assert found == Placement(fits=(), declared=True, selected=())


def test_a_pool_must_offer_all_that_a_pod_asks() -> None:
    both = builders.pod(builders.container(limits={"nvidia.com/gpu": 1, "nvidia.com/mig-1g.10gb": 1}))
    slice_of_one = builders.pod(builders.container(limits={"nvidia.com/mig-1g.10gb": 1}))

    assert where(both) == Placement(fits=(), declared=False, selected=(False,))
    assert untolerated(where(slice_of_one)) == {"mig": []}


def test_what_no_pool_offers_is_nothing_that_pools_were_declared_for() -> None:
    found = where(builders.pod(builders.container(limits={"amd.com/gpu": 1}), nodeSelector={PRODUCT: "H100"}))

    assert found == Placement(fits=(), declared=False, selected=(True,))


def test_without_pools_the_labels_by_which_people_pick_gpu_nodes_count() -> None:
    assert where(gpu_pod(), []) == Placement(fits=(), declared=False, selected=(False,))
    assert where(gpu_pod(node_selector={"nvidia.com/gpu.present": "true"}), []).selected == (True,)
    assert where(gpu_pod(node_selector={"cloud.google.com/gke-accelerator": "nvidia-l4"}), []).selected == (True,)
    assert where(gpu_pod(node_selector={"zone": "a"}), []).selected == (False,)


def test_with_declared_pools_a_well_known_label_selects_no_pool() -> None:
    assert where(gpu_pod(node_selector={"nvidia.com/gpu.present": "true"})).selected == (False,)


def test_labels_by_which_people_pick_any_node_pick_no_accelerator_node_for_a_pod_without_accelerators() -> None:
    def selected(key: str) -> tuple[bool, ...]:
        return where(builders.pod(nodeSelector={key: "x"}), []).selected

    assert selected("nvidia.com/gpu.present") == (True,)
    assert selected("karpenter.k8s.aws/instance-gpu-name") == (True,)
    assert selected("node.kubernetes.io/instance-type") == (False,)
    assert selected("kubernetes.io/hostname") == (False,)
    assert selected("karpenter.k8s.aws/instance-category") == (False,)


def test_numbers_of_all_allowed_nodes_are_given() -> None:
    assert where(gpu_pod(node_selector={"nvidia.com/gpu.count": "8"})).numbers == {"nvidia.com/gpu.count": {8}}
