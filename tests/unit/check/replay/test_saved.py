"""Verdicts in files: they come back as they were, and damaged or hostile ones are refused."""

import contextlib
from decimal import Decimal
from typing import Any, Final

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unit.check.replay.made import found, side, sides, verdict
from usher import errors
from usher.check.replay import comparison
from usher.check.replay.comparison import Side

GOOD: Final = comparison.dump_side(side(verdict("bert", found())))


@given(sides(complete=False, count=1))
def test_verdicts_come_back_as_they_were(made: list[Side]) -> None:
    (one,) = made
    data = comparison.dump_side(one)

    assert comparison.load_side(data, source="a.json") == one
    assert comparison.is_saved_side(data[: comparison.SAVED_HEAD])


def changed(**fields: object) -> bytes:
    """The good file with other fields of its verdict."""
    value: Any = orjson.loads(GOOD)
    value["side"]["verdicts"][0] |= fields
    return orjson.dumps(value)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (GOOD[:-20], "a.json:"),
        (b"[]", "a.json: holds no verdicts; `usher replay --save` writes them"),
        (b'{"kind":"ReplayVerdicts"}', "a.json: verdicts of format None, but this usher reads gpu-usher.io/v1alpha1"),
        (changed(key=7), "a.json: side.verdicts.0.key: Input should be a valid string"),
        (changed(found="x"), "a.json: side.verdicts.0.found: Input should be a valid array"),
        (changed(pods={"number": "1e999999999"}), "a.json: a number of pods or accelerators that no cluster has"),
        (changed(devices={"x": {"number": -1}}), "a.json: a number of pods or accelerators that no cluster has"),
        (changed(devices={"x": {"number": "NaN"}}), "a.json: side.verdicts.0.devices.x.number"),
    ],
)
def test_a_damaged_or_hostile_file_is_refused_with_its_place(data: bytes, reason: str) -> None:
    with pytest.raises(errors.InputError) as raised:
        comparison.load_side(data, source="a.json")

    assert str(raised.value).startswith(reason)


@given(st.binary(max_size=200) | st.binary(max_size=50).map(lambda tail: GOOD[:100] + tail))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(errors.InputError):
        assert comparison.load_side(data, source="a.json").verdicts


def test_fields_that_later_versions_add_change_nothing() -> None:
    value: Any = orjson.loads(changed(later="x"))
    value["side"]["later"] = {"a": 1}

    assert comparison.load_side(orjson.dumps(value), source="a.json") == comparison.load_side(GOOD, source="a.json")


def test_shares_of_a_gpu_stay_exact() -> None:
    value: Any = orjson.loads(changed(devices={"gpu-fraction": {"number": "0.1"}}))

    (one,) = comparison.load_side(orjson.dumps(value), source="a.json").verdicts

    assert one.devices["gpu-fraction"].number == Decimal("0.1")
