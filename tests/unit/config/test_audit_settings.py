"""The section `audit` of usher.yaml."""

from typing import Any

import pytest
from pydantic import ValidationError

from usher.config.models import Audit

H100: dict[str, Any] = {"product": "NVIDIA-H100-*", "perGpuHour": 3}


def audit(**fields: Any) -> Audit:
    return Audit.model_validate(fields)


def prices(*rules: dict[str, Any]) -> Audit:
    return audit(prices={"rules": list(rules)})


def test_rules_from_narrow_to_wide_are_kept_in_their_order() -> None:
    found = prices({**H100, "capacityType": "spot", "perGpuHour": 1}, H100, {"perGpuHour": 2})

    assert [rule.per_gpu_hour for rule in found.prices.rules] == [1, 3, 2]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([H100, H100], r"rules\[1\] never decides, because rules\[0\] before it matches the same nodes"),
        ([H100, {**H100, "product": "nvidia-h100-*"}], r"rules\[1\] never decides"),
        ([{"perGpuHour": 1}, H100], r"write the narrower one first"),
        ([{"product": "*"}], "a price is either perGpuHour or perNodeHour"),
        ([{**H100, "perNodeHour": 9}], "a price is either perGpuHour or perNodeHour"),
        ([{"product": "NVIDIA H100", "perGpuHour": 1}], "should match pattern"),
        ([{**H100, "perGpuHour": -1}], "greater than or equal to 0"),
        ([{**H100, "capacityType": "cheap"}], "Input should be"),
    ],
)
def test_prices_that_cannot_be_meant_are_refused(rules: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        prices(*rules)


def test_a_target_whose_low_is_above_its_high_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"low \(0.9\) is above high \(0.5\); swap them"):
        audit(targets={"activity": {"low": 0.9, "high": 0.5}})
