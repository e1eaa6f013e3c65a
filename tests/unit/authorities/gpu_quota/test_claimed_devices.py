"""Claims and MIG instances are charged for what they take, whatever their class is called and the quota limits."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from unit.authorities.gpu_quota.charged import charge, texts, total
from unit.workloads import device_claims
from usher import paths
from usher.accelerators import boards
from usher.authorities.gpu_quota import charge as gpu_quota_charge
from usher.authorities.gpu_quota import definitions
from usher.authorities.gpu_quota.definitions import Limit, Limits
from usher.config import sections
from usher.kinds.reading.values import Objects
from usher.quantities import NANO

GPUS_ALONE: Limits = (Limit(hard={"gpus": 8 * NANO}),)
NVIDIA = "device.driver == 'gpu.nvidia.com'"
SEVEN = "device.attributes['gpu.nvidia.com'].profile == '7g.80gb'"
MIG = "nvidia.com/mig-"


def device_class(name: str, *expressions: str, resource: str | None = None) -> paths.Object:
    spec: paths.Object = {"selectors": [{"cel": {"expression": each}} for each in expressions]}
    if resource is not None:
        spec["extendedResourceName"] = resource
    return builders.custom("resource.k8s.io/v1", "DeviceClass", spec, name=name, namespace=None)


def claiming(name: str, *known: paths.Object, count: int = 1) -> tuple[paths.Object, Objects]:
    claim = device_claims.claim_template(device_claims.request(name, count=count))
    pod = device_claims.pod(device_claims.by_template())
    return pod, Objects([*known, claim])


def of_class(name: str, *known: paths.Object, count: int = 1, limits: Limits = ()) -> dict[str, str]:
    pod, objects = claiming(name, *known, count=count)
    return total(pod, objects=objects, limits=limits)


def asking(**resources: int) -> paths.Object:
    return builders.pod(builders.container(limits=resources))


WHOLE = {"gpus": "1", "slices": "7"}


def of_whole(name: str, *known: paths.Object) -> dict[str, str]:
    pod, objects = claiming(name, *known)
    return texts(gpu_quota_charge.amounts_of_classes(charge(pod, objects=objects).amounts, ()))


@pytest.mark.parametrize(
    "renamed",
    [
        device_class("fast", NVIDIA),
        device_class("fast", "device.attributes['gpu.nvidia.com'].type == 'gpu'"),
        device_class("fast", NVIDIA, "device.attributes['gpu.nvidia.com'].productName.contains('H100')"),
        device_class("fast", "anything", resource="nvidia.com/gpu"),
    ],
)
def test_a_class_of_another_name_is_charged_for_the_gpus_that_it_selects(renamed: paths.Object) -> None:
    assert of_whole("fast", renamed) == WHOLE == of_whole("gpu.nvidia.com")


@pytest.mark.parametrize(
    "renamed",
    [
        device_class("mig-7g", NVIDIA, SEVEN),
        device_class("mig-7g", f"{NVIDIA} && {SEVEN}"),
        device_class("mig-7g", resource="nvidia.com/mig-7g.80gb"),
    ],
)
def test_a_class_of_one_profile_is_charged_as_its_instances(renamed: paths.Object) -> None:
    instance = {"profiles.7g.80gb": "2", "slices": "14", "memoryGiB": "160"}

    assert of_class("mig-7g", renamed, count=2) == instance
    assert of_class("mig-7g", renamed, count=2, limits=GPUS_ALONE) == instance | {"gpus": "2"}


def test_usher_yaml_may_say_which_profile_a_class_gives() -> None:
    said = sections.Accelerators.model_validate({"deviceClasses": {"small": {"resource": "nvidia.com/mig-1g.10gb"}}})
    pod = builders.pod(builders.container(limits={"deviceclass.resource.kubernetes.io/small": 3}))

    assert total(pod, accelerators=said) == {"profiles.1g.10gb": "3", "slices": "3", "memoryGiB": "30"}


def test_an_instance_of_an_unknown_profile_counts_as_a_gpu_where_only_gpus_are_limited() -> None:
    pod, objects = claiming("mig.nvidia.com")

    def gpus(limits: Limits) -> int:
        return gpu_quota_charge.amounts_of_classes(charge(pod, objects=objects, limits=limits).amounts, ()).get(
            "gpus", 0
        )

    assert gpus(GPUS_ALONE) == NANO
    assert gpus((Limit(hard={"gpus": NANO, "slices": NANO}),)) == 0
    assert gpus(()) == 0


def test_instances_that_fill_a_gpu_count_as_one_where_only_gpus_are_limited() -> None:
    found = charge(asking(**{f"{MIG}1g.10gb": 7}), limits=GPUS_ALONE)

    assert gpu_quota_charge.amounts_of_classes(found.amounts, ())["gpus"] == NANO


@pytest.mark.parametrize(
    ("limits", "counts_gpus"),
    [
        (GPUS_ALONE, True),
        ((Limit(hard={"gpus": NANO, "profiles.1g.10gb": NANO}),), True),
        ((Limit(hard={"gpus": NANO, "profiles.7g.80gb": NANO}),), False),
        ((Limit(hard={"gpus": NANO, "slices": NANO}),), False),
        ((Limit(hard={"gpus": NANO}), Limit(hard={"memoryGiB": NANO})), False),
        ((Limit(hard={"gpus": NANO}), Limit(hard={"slices": NANO}, classes=("high",))), True),
        ((Limit(hard={"gpus": NANO}), Limit(hard={"slices": NANO}, classes=("low",))), False),
    ],
)
def test_an_instance_counts_as_a_gpu_unless_another_limit_for_its_pods_counts_it(
    limits: Limits, counts_gpus: bool
) -> None:
    pod = builders.pod(builders.container(limits={f"{MIG}7g.80gb": 1}), priorityClassName="low")
    found = gpu_quota_charge.amounts_of_classes(charge(pod, limits=limits).amounts, ())

    assert ("gpus" in found) is counts_gpus


_PROFILES = [(board, offer) for board in boards.BOARDS for offer in board.offers]


@given(chosen=st.sampled_from(_PROFILES), count=st.integers(1, 16))
def test_no_instance_of_any_board_passes_a_limit_of_gpus_uncounted(chosen: Any, count: int) -> None:
    board, offer = chosen
    found = charge(asking(**{offer.names[0].resource: count}), limits=GPUS_ALONE)
    gpus = Fraction(gpu_quota_charge.amounts_of_classes(found.amounts, ())["gpus"], NANO)

    # At least its part of this board, and never more than a whole GPU for each.
    assert Fraction(offer.shape.compute, board.compute_slices) * count <= gpus <= count


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ([], "DeviceClass fast is not known here"),
        ([device_class("fast", "device.attributes['x.example.com'].tier == 'gold'")], "DeviceClass fast: whether"),
    ],
)
def test_a_class_that_cannot_be_resolved_is_unclear_for_every_limit(known: list[paths.Object], reason: str) -> None:
    pod, objects = claiming("fast", *known)
    found = charge(pod, objects=objects)

    (unclear,) = found.unclear
    assert (unclear.unit, unclear.path) == ("", "/spec/resourceClaims/0/resourceClaimTemplateName")
    assert unclear.reason.startswith(reason)
    assert found.amounts == {}


def test_a_missing_claim_is_unclear() -> None:
    (unclear,) = charge(device_claims.pod(device_claims.by_template("missing"))).unclear

    assert unclear.reason.startswith("ResourceClaimTemplate ml-research/missing is not known here")


def test_the_implicit_resource_of_an_unresolved_class_is_unclear() -> None:
    pod = builders.pod(builders.container(gpus=1, limits={"deviceclass.resource.kubernetes.io/fast": 1}))
    found = charge(pod)

    assert [each.unit for each in found.unclear if each.reason.startswith("DeviceClass fast")] == [""]
    assert definitions.number(gpu_quota_charge.amounts_of_classes(found.amounts, ())["gpus"]) == "1"


def test_each_pod_set_that_shares_an_unresolved_claim_is_unclear_for_its_own_class() -> None:
    claim = device_claims.claim(device_claims.request("fast"))
    high = builders.template(resourceClaims=[device_claims.by_name()], priorityClassName="high")
    job = builders.pytorch_job(high, workers=2, master=device_claims.template(device_claims.by_name()))
    found = charge(job, objects=Objects([claim]))

    assert [each.classes for each in found.unclear] == [("",), ("high",)]


def test_classes_that_are_known_to_be_no_accelerators_are_clear() -> None:
    pod, objects = claiming("dra.net")
    found = charge(pod, objects=objects)

    assert (found.amounts, found.unclear) == ({}, ())
