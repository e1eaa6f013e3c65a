"""Every fault of a GPUQuota is named at its place; nothing that cannot be read passes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher.accelerators import boards
from usher.config.pools import QuotaSpec

GOOD: dict[str, Any] = {"namespaces": ["research-*"], "limits": [{"hard": {"gpus": 16}}]}
AMOUNT = "is not an amount; write a number (16) or thousandths (3500m)"


def problems(spec: object) -> list[tuple[str, str]]:
    found = boards.read_quota_spec(spec)
    return [] if isinstance(found, QuotaSpec) else [*found]


@pytest.mark.parametrize(
    ("spec", "path", "reason"),
    [
        ({**GOOD, "limits": [{"hard": {"gpus": "x"}}]}, "/spec/limits/0/hard/gpus", f"'x' {AMOUNT}"),
        ({**GOOD, "limits": [{"hard": {"gpus": "16Gi"}}]}, "/spec/limits/0/hard/gpus", f"'16Gi' {AMOUNT}"),
        (
            {**GOOD, "limits": [{"hard": {"gpus": True}}]},
            "/spec/limits/0/hard/gpus",
            "expected a number, for example 16",
        ),
        ({**GOOD, "hard": {"gpus": 1}}, "/spec/hard", "the field does not exist"),
        ({"namespaces": ["a"]}, "/spec/limits", "the field is missing"),
        ({"limits": GOOD["limits"]}, "/spec", "the quota is for no namespace; set namespaces or a namespaceSelector"),
        (
            {**GOOD, "assumes": {"board": "H1000"}},
            "/spec/assumes/board",
            "'H1000' is not a board that gpu-usher knows",
        ),
    ],
)
def test_a_fault_is_named_at_its_place(spec: object, path: str, reason: str) -> None:
    assert problems(spec) == [(path, reason)]


def test_at_most_ten_faults_are_reported() -> None:
    assert len(problems({**GOOD, "limits": [{"hard": {"gpus": "x"}}] * 16})) == 10


@given(amount=st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8))
def test_an_amount_is_either_read_or_reported(amount: Any) -> None:
    found = problems({**GOOD, "limits": [{"hard": {"gpus": amount}}]})

    readable = isinstance(amount, int) and not isinstance(amount, bool) and 0 <= amount <= 10**9
    readable = readable or (isinstance(amount, str) and amount.isascii() and _is_number(amount))
    assert [path for path, _ in found] == ([] if readable else ["/spec/limits/0/hard/gpus"])


def _is_number(text: str) -> bool:
    whole, _, thousandths = text.removesuffix("m").partition(".")
    if text.endswith("m"):
        return whole.isdigit() and not thousandths and not whole.startswith("0") and "." not in text
    return (
        whole.isdigit() and (whole == "0" or not whole.startswith("0")) and ("." not in text or thousandths.isdigit())
    )
