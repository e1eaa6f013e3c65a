"""Amounts of resources for people and for programs."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unit.workloads.normalised import VOCABULARY
from usher import quantities
from usher.accelerators.vocabulary import Vocabulary
from usher.check.formats import wording
from usher.config import sections


def quantity(text: str) -> quantities.Quantity:
    return quantities.parse(text)


@pytest.mark.parametrize(
    ("text", "exact", "number"),
    [
        ("0", "0", "0"),
        ("64", "64", "64"),
        ("100", "100", "100"),
        ("500m", "0.5", "0.5"),
        ("1500m", "1.5", "1.5"),
        ("1n", "0.000000001", "0.000000001"),
        ("20480", "20480", "20,480"),
        ("1e20", "1" + "0" * 20, "100,000,000,000,000,000,000"),
    ],
)
def test_accelerators_are_plain_numbers(text: str, exact: str, number: str) -> None:
    assert wording.exact_number(quantity(text)) == exact
    assert wording.readable_number(quantity(text)) == number


@given(st.integers(0, quantities.MAX_NANOS * 1000))
def test_the_exact_number_is_the_very_number(nanos: int) -> None:
    assert Decimal(wording.exact_number(quantities.Quantity(nanos))).as_integer_ratio() == (
        Decimal(nanos).scaleb(-9).as_integer_ratio() if nanos < 10**28 else Decimal(f"{nanos}e-9").as_integer_ratio()
    )


@pytest.mark.parametrize(
    ("minimum", "maximum", "text"),
    [("8", "8", "8"), ("8", "1024", "8 to 1,024"), ("0", None, "0 or more"), ("500m", "1", "0.5 to 1")],
)
def test_a_span_says_what_there_can_be(minimum: str, maximum: str | None, text: str) -> None:
    assert wording.readable_range(quantity(minimum), None if maximum is None else quantity(maximum)) == text


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("gpu-memory", "MiB"),
        ("nvidia.com/gpumem", "MiB"),
        ("aliyun.com/gpu-mem", "GiB"),
        ("nvidia.com/gpu", ""),
        ("nvidia.com/gpucores", ""),
        ("gpu.nvidia.com", ""),
    ],
)
def test_resources_that_count_memory_have_a_unit(name: str, unit: str) -> None:
    assert wording.memory_unit(name, VOCABULARY) == unit


def test_usher_yaml_sets_the_unit_of_a_resource() -> None:
    resource = sections.Resource(unit="memory", size=256 * 2**20)
    vocabulary = Vocabulary(sections.Accelerators(resources={"example.com/gpu-memory": resource}))

    assert wording.memory_unit("example.com/gpu-memory", vocabulary) == "268,435,456 bytes"


@pytest.mark.parametrize(
    ("name", "given", "text"),
    [
        ("cpu", "8", "cpu 8"),
        ("cpu", "1.5", "cpu 1500m"),
        ("memory", "32Gi", "memory 32Gi"),
        ("memory", "200Gi", "memory 200Gi"),
        ("memory", "1536Mi", "memory 1536Mi"),
        ("memory", "4096M", "memory 4096M"),
        ("memory", "100G", "memory 100G"),
        ("memory", "1000", "memory 1k"),
        ("memory", "0", "memory 0"),
        ("memory", "500m", "memory 500m"),
        ("ephemeral-storage", "1Ti", "ephemeral-storage 1Ti"),
        ("hugepages-2Mi", "64Mi", "hugepages-2Mi 64Mi"),
        ("nvidia.com/gpu", "1024", "nvidia.com/gpu 1024"),
    ],
)
def test_resources_of_containers_are_written_as_in_manifests(name: str, given: str, text: str) -> None:
    assert wording.resource_amount(name, quantity(given)) == text
