"""Devices by every route (docs/domain/acceptance-cases.md, 2 to 5 and 8)."""

from typing import Any

import pytest

import builders
from acceptance import (
    ABOVE_CEILING,
    AFFINITY_UNKNOWN,
    ALL_DEVICES,
    GPU,
    MAY_NOT_BE_TOLERATED,
    NOT_SELECTED,
    NOT_TOLERATED,
    POOLS,
    PRODUCT,
    TAKES_DEVICES,
    WITHOUT_CLASS,
    WITHOUT_CPU,
    ceiling,
    decided,
    found,
    full_container,
    full_pod,
    manifest,
    mutated,
    parameter,
    totals,
    unknown,
    updated,
)
from usher import paths

# NVIDIA_VISIBLE_DEVICES


def test_a_pod_without_gpus_must_not_see_all_of_them() -> None:
    assert found(decided(builders.pod(builders.container(env=ALL_DEVICES)))) == {TAKES_DEVICES}


def test_a_container_for_debugging_must_not_see_all_gpus_either() -> None:
    debugged = builders.pod(ephemeralContainers=[builders.container("debugger", env=ALL_DEVICES)])

    assert found(updated(debugged, builders.pod())) == {TAKES_DEVICES}


def test_what_the_image_sets_is_overridden_and_what_the_pod_sets_is_not() -> None:
    baked_in = mutated(builders.pod())
    by_hand = builders.pod(builders.container(env=ALL_DEVICES))

    assert baked_in.value["spec"] == builders.pod_spec(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "void"}))
    assert mutated(by_hand).value == by_hand


def test_a_config_map_in_the_same_files_tells_what_env_from_brings() -> None:
    settings: paths.Object = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "ml-research"},
        "data": {"VISIBLE_DEVICES": "all"},
    }
    source: Any = {"prefix": "NVIDIA_", "configMapRef": {"name": "settings"}}
    pod = full_pod(full_container(gpus=1, envFrom=[source]))

    assert TAKES_DEVICES in found(decided(pod, None, settings))
    assert TAKES_DEVICES not in found(decided(pod))
    assert "audit USH219 device-variables-from-elsewhere" in found(decided(pod))


# GPUs of init containers and sidecars


CONVERT = full_container("convert", gpus=4)
CACHE = full_container("cache", gpus=2, restartPolicy="Always")


@pytest.mark.parametrize(
    ("container_gpus", "init_containers", "gpus", "finds"),
    [
        (None, [CONVERT], "4", {"warn USH113 accelerator-only-in-init-container"}),
        (None, [CACHE], "2", set()),
        (1, [CACHE, CONVERT], "6", set()),
        (1, [CONVERT, CACHE], "4", set()),
        (3, [CONVERT, CACHE], "5", set()),
    ],
    ids=["init container alone", "sidecar alone", "sidecar before", "sidecar after", "containers above both"],
)
def test_a_pod_asks_for_its_peak(
    container_gpus: int | None, init_containers: list[paths.Object], gpus: str, finds: set[str]
) -> None:
    decision = decided(full_pod(full_container(gpus=container_gpus), initContainers=init_containers))

    assert totals(decision) == {GPU: (gpus, gpus)}
    assert found(decision) == finds


# Device claims


GPU_CLASS = "gpu.nvidia.com"
CLAIMING = full_pod(
    full_container(claims=["gpu"]), resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpus"}]
)


def claim_template(**request: Any) -> paths.Object:
    spec = {"spec": {"devices": {"requests": [{"name": "gpu", **request}]}}}
    return builders.custom("resource.k8s.io/v1", "ResourceClaimTemplate", spec, name="gpus")


EIGHT = claim_template(exactly={"deviceClassName": GPU_CLASS, "count": 8})
ALL = claim_template(exactly={"deviceClassName": GPU_CLASS, "allocationMode": "All"})
EIGHT_OR_TWO = claim_template(
    firstAvailable=[
        {"name": "eight", "deviceClassName": GPU_CLASS, "count": 8},
        {"name": "two", "deviceClassName": GPU_CLASS, "count": 2},
    ]
)


@pytest.mark.parametrize(
    ("template", "gpus", "finds"),
    [
        (EIGHT, ("8", "8"), {ABOVE_CEILING}),
        (EIGHT_OR_TWO, ("2", "8"), {ABOVE_CEILING}),
        (ALL, ("1", "unbounded"), set()),
    ],
    ids=["count", "firstAvailable", "allocationMode All"],
)
def test_a_pod_that_claims_gpus_asks_for_as_many_as_its_template_gives(
    template: paths.Object, gpus: tuple[str, str], finds: set[str]
) -> None:
    assert totals(decided(CLAIMING, None, template)) == {GPU_CLASS: gpus}
    assert found(decided(CLAIMING, None, template)) == set()
    assert found(decided(CLAIMING, ceiling(7), template)) == finds


def test_a_pod_that_claims_gpus_is_placed_like_one_that_names_them() -> None:
    claiming = builders.pod(
        builders.container(claims=["gpu"]), resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpus"}]
    )
    naming = builders.pod(builders.container(gpus=8))

    assert found(decided(claiming, POOLS, EIGHT)) == found(decided(naming, POOLS))
    assert NOT_TOLERATED in found(decided(claiming, POOLS, EIGHT))


def test_a_claim_without_facts_is_unknown() -> None:
    decision = decided(CLAIMING)

    assert [entry.path for entry in decision.unknowns if not entry.check] == [
        "/spec/resourceClaims/0/resourceClaimTemplateName"
    ]


@pytest.mark.parametrize(
    ("template", "site", "finds"),
    [
        (EIGHT, {}, set()),
        (ALL, {}, {"warn USH1415 claim-of-all-devices"}),
        (EIGHT_OR_TWO, {}, set()),
        (
            EIGHT_OR_TWO,
            {"queues": [{"namespaces": ["ml-research"], "localQueue": "research"}]},
            {"warn USH1419 claim-with-alternatives-in-queue"},
        ),
    ],
    ids=["count", "allocationMode All", "firstAvailable", "firstAvailable in a namespace with a queue"],
)
def test_a_claim_template_is_judged_itself(template: paths.Object, site: dict[str, Any], finds: set[str]) -> None:
    assert found(decided(template, site)) == finds


# Devices by annotation


def test_an_annotation_alone_makes_a_service_one_of_gpus() -> None:
    service = manifest("llm_inference_service")

    decision = decided(service, ceiling(2))

    assert totals(decision) == {GPU_CLASS: ("2", "3")}
    assert found(decision) == {ABOVE_CEILING, MAY_NOT_BE_TOLERATED, WITHOUT_CPU, WITHOUT_CLASS}
    assert unknown(decision) == {AFFINITY_UNKNOWN}
    assert found(decided(service, POOLS)) >= {NOT_TOLERATED, NOT_SELECTED}


# MIG


H100 = "NVIDIA-H100-80GB-HBM3"
A100_40 = "NVIDIA-A100-SXM4-40GB"
ONE_GPU = parameter("more-than-a-node-holds", "gpusPerNode", 1)


def sliced_pod(board: str, slices: dict[str, int]) -> paths.Object:
    """A pod with one container for each profile, such as 3g.40gb."""
    containers = [
        full_container(f"slice-{number}", limits={f"nvidia.com/mig-{profile}": count})
        for number, (profile, count) in enumerate(slices.items())
    ]
    return full_pod(*containers, nodeSelector={PRODUCT: board})


@pytest.mark.parametrize(
    ("value", "feasible"),
    [
        (sliced_pod(H100, {"3g.40gb": 1, "1g.10gb": 4}), True),
        (sliced_pod(H100, {"3g.40gb": 2, "1g.10gb": 1}), False),
        (sliced_pod(H100, {"1g.10gb": 5}), True),
        (sliced_pod(A100_40, {"1g.10gb": 4}), True),
        (sliced_pod(A100_40, {"1g.10gb": 5}), False),
    ],
    ids=["3g and 4 x 1g", "2 x 3g and 1g", "5 x 1g.10gb", "4 x 1g.10gb of an A100-40", "5 x 1g.10gb of an A100-40"],
)
def test_slices_have_to_fit_on_the_gpu_of_their_node(value: paths.Object, feasible: bool) -> None:
    assert found(decided(value, ONE_GPU)) == (set() if feasible else {"deny USH704 more-than-a-node-holds"})


def test_under_the_strategy_single_slices_have_no_names_of_their_own() -> None:
    single = parameter("single-strategy", "strategy", "single")
    divided = f"{H100}-MIG-1g.10gb"

    assert found(decided(sliced_pod(H100, {"1g.10gb": 1}), single)) == {"deny USH703 single-strategy"}
    assert found(decided(sliced_pod(divided, {"1g.10gb": 1}))) == {"deny USH712 selects-single-strategy-nodes"}
    assert found(decided(full_pod(full_container(gpus=1), nodeSelector={PRODUCT: divided}), single)) == set()
