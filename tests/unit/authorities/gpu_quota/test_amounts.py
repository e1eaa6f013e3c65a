"""Units of a quota, and amounts as people read them."""

import pytest

from usher.authorities.gpu_quota import definitions
from usher.quantities import NANO


@pytest.mark.parametrize(
    ("unit", "nanos", "text"),
    [
        ("gpus", NANO, "1 GPU"),
        ("gpus", 16 * NANO, "16 GPUs"),
        ("slices", NANO // 2, "500m slices"),
        ("memoryGiB", NANO, "1 GiB of device memory"),
        ("profiles.1g.10gb", NANO, "1 instance of 1g.10gb"),
        ("profiles.1g.10gb", 2 * NANO, "2 instances of 1g.10gb"),
    ],
)
def test_an_amount_is_written_with_its_unit(unit: str, nanos: int, text: str) -> None:
    assert definitions.text(unit, nanos) == text


@pytest.mark.parametrize("unit", ["gpus", "slices", "memoryGiB", "profiles.1g.10gb", "profiles.1g.10gb+me"])
def test_these_are_units(unit: str) -> None:
    assert definitions.is_unit(unit)


@pytest.mark.parametrize("unit", ["", "gpu", "1g.10gb", "profiles.", "profiles.None", "profiles.1g.10gb.me"])
def test_a_profile_has_one_spelling_and_no_other_unit_is_one(unit: str) -> None:
    assert not definitions.is_unit(unit)


def test_the_highest_amounts_leave_out_units_that_are_always_zero() -> None:
    assert definitions.highest([{"gpus": 0, "slices": 7}, {"slices": 3}]) == {"slices": 7}
