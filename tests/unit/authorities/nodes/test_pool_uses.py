"""`for` of pools: which pods belong on a pool, and what rules and people see of the others."""

from typing import Any

import pytest
from msgspec.structs import astuple

import builders
from unit.workloads.normalised import VOCABULARY, workload
from usher import model, paths
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import declared_pools
from usher.authorities.nodes.declared_pools import PoolPlacements, PoolsInput
from usher.cluster.facts.store import Store
from usher.config import models

TRAINING: dict[str, Any] = {"roles": ["training"]}


def pool(name: str, use: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {"name": name, "nodeSelector": {"pool": name}, **({"for": use} if use else {}), **fields}


def config(*pools: dict[str, Any], **sections: Any) -> models.Config:
    return models.Config.model_validate({"pools": list(pools), **sections})


def seen(value: paths.Object, site: models.Config) -> PoolsInput:
    found = workload(value)
    (pod_set,) = found.pod_sets
    return PoolPlacements(site, VOCABULARY).of(pod_set, workload=found)


def fitting(value: paths.Object, site: models.Config) -> list[str]:
    return [fit["pool"] for fit in seen(value, site)["fits"]]


def gpu_pods(gpus: int = 8, **fields: Any) -> paths.Object:
    return builders.template(builders.container(gpus=gpus), **fields)


def test_a_pool_is_for_the_workloads_of_its_roles() -> None:
    site = config(pool("a", TRAINING), pool("b", {"roles": ["inference", "service"]}), pool("c"))

    assert fitting(builders.pytorch_job(gpu_pods()), site) == ["a", "c"]
    assert fitting(builders.deployment(gpu_pods()), site) == ["b", "c"]
    assert seen(builders.deployment(gpu_pods()), site).get("keptOff") == [
        {"pool": "a", "reason": "it is for the roles training, and the role of the workload is service"}
    ]


def test_a_pool_is_for_the_workloads_of_its_namespaces() -> None:
    site = config(pool("a", {"namespaces": ["ml-*"]}), pool("b", {"namespaces": ["web"]}))

    assert fitting(builders.job(gpu_pods(), namespace="ml-nlp"), site) == ["a"]
    assert fitting(builders.job(gpu_pods(), namespace="web"), site) == ["b"]
    assert fitting(builders.job(gpu_pods(), namespace="other"), site) == []


@pytest.mark.parametrize(("gpus", "pools"), [(1, ["small"]), (4, ["small", "large"]), (5, ["large"]), (8, ["large"])])
def test_a_pool_is_for_pods_with_its_number_of_accelerators(gpus: int, pools: list[str]) -> None:
    site = config(pool("small", {"maxAcceleratorsPerPod": 4}), pool("large", {"minAcceleratorsPerPod": 4}))

    assert fitting(builders.job(gpu_pods(gpus)), site) == pools


def test_the_number_counts_devices_and_neither_their_memory_nor_their_fractions() -> None:
    site = config(
        pool("small", {"maxAcceleratorsPerPod": 1}, resources=["nvidia.com/gpu", "nvidia.com/gpumem"]),
        pool("large", {"minAcceleratorsPerPod": 2}, resources=["nvidia.com/gpu", "nvidia.com/gpumem"]),
    )
    shared = builders.container(gpus=1, limits={"nvidia.com/gpumem": 3000})
    fraction = builders.pod(builders.container(), annotations={"gpu-fraction": "0.5"})

    assert fitting(builders.pod(shared), site) == ["small"]
    assert fitting(fraction, site) == ["small"]


def test_namespaces_of_the_system_use_every_pool() -> None:
    site = config(pool("a", {**TRAINING, "namespaces": ["ml-*"]}), priorities={"systemNamespaces": ["gpu-health"]})

    assert fitting(builders.job(gpu_pods(), namespace="gpu-health"), site) == ["a"]
    assert fitting(builders.daemon_set(gpu_pods(), namespace="web"), site) == []


def test_pods_without_accelerators_are_asked_nothing() -> None:
    value = builders.pod(nodeSelector={"pool": "a"})

    assert "keptOff" not in seen(value, config(pool("a", TRAINING)))


def test_what_a_controller_made_is_kept_off_by_its_role_only_if_another_pool_is_left() -> None:
    def owned(**spec: Any) -> paths.Object:
        owner: paths.Json = {"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": "1", "controller": True}
        return builders.replaced(builders.pod(builders.container(gpus=8), **spec), "/metadata/ownerReferences", [owner])

    site = config(pool("a", TRAINING), pool("b", {"roles": ["batch"]}))

    assert fitting(owned(), site) == ["b"]
    assert fitting(owned(nodeSelector={"pool": "a"}), site) == ["a"]
    assert fitting(owned(), config(pool("a", {**TRAINING, "namespaces": ["web"]}))) == []


def test_a_selector_of_a_pool_for_others_selects_no_accelerator_nodes() -> None:
    both = config(
        {**pool("a", TRAINING), "nodeSelector": {"gpu": "h100", "pool": "a"}},
        {**pool("b", {"roles": ["batch"]}), "nodeSelector": {"gpu": "h100", "pool": "b"}},
    )
    selecting = builders.job(gpu_pods(nodeSelector={"gpu": "h100", "pool": "b"}))
    loose = builders.job(gpu_pods(nodeSelector={"gpu": "h100"}))

    assert seen(selecting, both)["selectsAcceleratorNodes"] == [True]
    assert "keptOff" not in seen(selecting, both)
    assert seen(loose, both)["selectsAcceleratorNodes"] == [False]


@pytest.mark.parametrize(
    ("use", "operators"),
    [
        (TRAINING, {"nvidia.com/gpu": "Exists", "dedicated": "Equal"}),
        (None, {"nvidia.com/gpu": "Exists", "dedicated": None}),
    ],
)
def test_the_taint_that_keeps_a_pool_for_its_pods_is_tolerated_with_its_value(
    use: dict[str, Any] | None, operators: dict[str, str | None]
) -> None:
    taints = [{"key": "nvidia.com/gpu"}, {"key": "dedicated", "value": "training"}]
    (fit,) = seen(builders.pytorch_job(gpu_pods()), config(pool("a", use, taints=taints)))["fits"]

    assert {taint["key"]: taint.get("operator") for taint in fit["untolerated"]} == operators


@pytest.mark.parametrize(
    ("fields", "board"),
    [
        ({"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}}, "H100-80"),
        ({"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-L40S"}}, "NVIDIA-L40S"),
        ({"nodeSelector": {"a": "b"}, "gpu": {"board": "A100-80", "perNode": 8}}, "A100-80"),
        ({"nodeSelector": {"cloud.google.com/gke-accelerator": "nvidia-h100-mega-80gb"}}, "nvidia-h100-mega-80gb"),
        ({"nodeSelector": {"a": "b"}}, ""),
    ],
)
def test_the_board_of_a_pool_is_the_one_that_usher_yaml_names(fields: dict[str, Any], board: str) -> None:
    (found,) = config({**pool("a"), **fields}).pools

    assert declared_pools.board_of_pool(found) == board


def test_usher_shows_of_every_pool_why_it_fits_or_not() -> None:
    site = config(
        pool("other", resources=["amd.com/gpu"]),
        pool("elsewhere"),
        pool("serving", {"roles": ["inference"]}, nodeSelector={"tier": "x"}),
        pool(
            "h100",
            TRAINING,
            nodeSelector={"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
            taints=[{"key": "nvidia.com/gpu"}],
            fabric="infiniband",
        ),
    )
    found = workload(builders.pytorch_job(gpu_pods(nodeSelector={"pool": "h100"})))
    known = Knowledge(facts=Store(), config=site, vocabulary=VOCABULARY)
    (pod_set,) = found.pod_sets

    assert [astuple(each) for each in declared_pools.pool_reasons(pod_set, workload=found, known=known)] == [
        ("h100", True, "fits, board H100-80, fabric infiniband, taint nvidia.com/gpu not tolerated yet"),
        ("other", False, "it does not offer every device that the pods ask for"),
        ("elsewhere", False, "its labels are not those that the pods select"),
        ("serving", False, "it is for the roles inference, and the role of the workload is training"),
    ]


def test_usher_shows_no_pools_without_pools_or_accelerators() -> None:
    for value, site in ((builders.job(), config(pool("a"))), (builders.job(gpu_pods()), config())):
        found = workload(value)
        known = Knowledge(facts=Store(), config=site, vocabulary=VOCABULARY)
        assert declared_pools.pool_reasons(found.pod_sets[0], workload=found, known=known) == ()


def test_a_label_takes_no_role_that_a_pool_is_for() -> None:
    site = config(pool("a", {"roles": ["inference"], "namespaces": ["ml-*"]}))
    found = Knowledge(facts=Store(), config=site, vocabulary=VOCABULARY).workload(
        builders.job(gpu_pods(), labels={"gpu-usher.io/role": "inference"}, namespace="ml-nlp")
    )

    assert found is not None
    assert found.role is model.Role.BATCH
    assert "because pools[0].for of usher.yaml depends on the role" in found.role_reason
