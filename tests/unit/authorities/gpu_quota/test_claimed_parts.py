"""A claim is charged for the part of a device that it selects, and never for less than it may take."""

from typing import Any

import pytest

import builders
from unit.authorities.gpu_quota.charged import H100, charge, texts, total
from unit.workloads import device_claims
from usher import paths
from usher.authorities.gpu_quota import charge as gpu_quota_charge
from usher.config import sections
from usher.kinds.reading.values import Objects

GIB = 2**30
ON_H100: dict[str, builders.JsonValue] = {**H100}
PROFILE = "device.attributes['gpu.nvidia.com'].profile == '1g.10gb'"
SLICE = {"profiles.1g.10gb": "1", "slices": "1", "memoryGiB": "10"}
SHARED = sections.Accelerators.model_validate({"deviceClasses": {"gpu.nvidia.com": {"memoryStep": 4 * GIB}}})


def selectors(*expressions: str) -> list[dict[str, Any]]:
    return [{"cel": {"expression": each}} for each in expressions]


def of_requests(
    *requests: paths.Object,
    accelerators: sections.Accelerators | None = None,
    selector: dict[str, builders.JsonValue] | None = None,
) -> dict[str, str]:
    pod = builders.pod(resourceClaims=[device_claims.by_template()], nodeSelector=selector or {})
    objects = Objects([device_claims.claim_template(*requests)])
    found = charge(pod, objects=objects, accelerators=accelerators or sections.Accelerators())
    return texts(gpu_quota_charge.amounts_of_classes(found.amounts, ()))


def of_expressions(*expressions: str, device_class: str = device_claims.MIG) -> dict[str, str]:
    return of_requests(device_claims.request(device_class, selectors=selectors(*expressions)))


def memory(size: str, *, name: str = "memory", count: int = 1) -> paths.Object:
    return device_claims.request(capacity={"requests": {name: size}}, count=count)


@pytest.mark.parametrize(
    "expressions",
    [
        (PROFILE,),
        (f"device.driver == 'gpu.nvidia.com' && {PROFILE}",),
        (f"device.attributes['gpu.nvidia.com'].productName.contains('H100')\n&&\n{PROFILE}\n",),
        ("device.attributes['gpu.nvidia.com'].productName.lowerAscii().matches('^.*h100.*$')", PROFILE),
        (f"device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('5Gi')) && {PROFILE}",),
    ],
)
def test_a_claim_that_selects_a_profile_is_charged_as_its_instance(expressions: tuple[str, ...]) -> None:
    assert of_expressions(*expressions) == SLICE


@pytest.mark.parametrize(
    "expression",
    [
        f"{PROFILE} || true",
        f"(false && {PROFILE} && true) == false",
        f'"x && {PROFILE} && y" != ""',
        f"'x' + \" && {PROFILE} && \" != ''",
        f"true // && {PROFILE}",
        f"[true && {PROFILE} && true].size() == 1",
        f"!(true && {PROFILE} && true)",
        f"(true && {PROFILE} && true) != true",
        PROFILE.replace("==", "!="),
    ],
)
def test_an_expression_that_only_looks_like_a_selection_is_charged_as_the_largest_instance(expression: str) -> None:
    found = of_requests(device_claims.request(device_claims.MIG, selectors=selectors(expression)))

    assert found["slices"] == "7"
    assert "profiles.1g.10gb" not in found


def test_a_class_of_whole_devices_stays_whole_whatever_a_claim_selects() -> None:
    assert of_expressions(PROFILE, device_class=device_claims.GPU)["gpus"] == "1"


def test_alternatives_of_different_profiles_are_charged_as_the_largest_instance() -> None:
    alternatives = [
        {"name": name, "deviceClassName": device_claims.MIG, "selectors": selectors(PROFILE.replace("1g.10gb", name))}
        for name in ("1g.10gb", "3g.40gb")
    ]

    assert of_requests(device_claims.first_available(*alternatives))["slices"] == "7"


def test_several_parts_of_one_claim_that_pods_share_add_up() -> None:
    requests = [
        device_claims.request(device_claims.MIG, name=name, selectors=selectors(PROFILE.replace("1g.10gb", name)))
        for name in ("1g.10gb", "3g.40gb")
    ]
    pod = builders.pod(resourceClaims=[device_claims.by_name()])

    found = total(pod, objects=Objects([device_claims.claim(*requests)]), limits=())
    assert found == {"profiles.1g.10gb": "1", "profiles.3g.40gb": "1", "slices": "4", "memoryGiB": "50"}


def test_capacity_alone_proves_no_share_so_the_claim_counts_whole_devices() -> None:
    # Of a device that allows one allocation, the capacity is only a condition.
    assert of_requests(memory("10Gi"), selector=ON_H100) == {"gpus": "1", "slices": "7", "memoryGiB": "80"}


@pytest.mark.parametrize("name", ["memory", "gpu.nvidia.com/memory"])
def test_where_usher_yaml_says_that_claims_share_devices_a_claim_is_charged_its_part(name: str) -> None:
    found = of_requests(memory("20Gi", name=name), accelerators=SHARED, selector=ON_H100)

    assert found == {"gpus": "250m", "slices": "1750m", "memoryGiB": "20"}


@pytest.mark.parametrize(("asked", "charged"), [("1", "4"), ("0", "4"), ("5Gi", "8"), ("8Gi", "8")])
def test_a_share_is_rounded_up_as_its_driver_does(asked: str, charged: str) -> None:
    assert of_requests(memory(asked), accelerators=SHARED, selector=ON_H100)["memoryGiB"] == charged


def test_a_share_is_never_more_than_its_device() -> None:
    assert of_requests(memory("900Gi"), accelerators=SHARED, selector=ON_H100)["gpus"] == "1"


def test_a_share_of_an_unknown_board_counts_as_a_gpu_and_its_memory() -> None:
    assert of_requests(memory("20Gi"), accelerators=SHARED) == {"gpus": "1", "slices": "7", "memoryGiB": "20"}


def test_without_capacity_a_claim_takes_the_whole_of_a_shared_device() -> None:
    found = of_requests(device_claims.request(), accelerators=SHARED, selector=ON_H100)

    assert found == {"gpus": "1", "slices": "7", "memoryGiB": "80"}


def test_each_device_of_a_count_is_a_share() -> None:
    found = of_requests(memory("20Gi", count=3), accelerators=SHARED, selector=ON_H100)

    assert found["memoryGiB"] == "60"


def test_a_class_without_accelerators_shares_nothing() -> None:
    with pytest.raises(ValueError, match="memoryStep"):
        sections.DeviceClass.model_validate({"accelerator": False, "memoryStep": 1})
