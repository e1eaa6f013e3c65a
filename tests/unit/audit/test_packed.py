"""Objects that are kept small come back as they were."""

import pytest

from usher import paths
from usher.audit.gather.object_fields import Packed


def named(name: str) -> paths.Object:
    return {"kind": "Node", "metadata": {"name": name, "labels": {"a": "b"}}}


@pytest.mark.parametrize("number", [0, 1, 99, 100, 101, 350])
def test_all_objects_come_back_in_their_order(number: int) -> None:
    values = [named(f"node-{place}") for place in range(number)]
    packed = Packed(values)

    assert (list(packed), len(packed), bool(packed)) == (values, number, number > 0)


def test_an_object_has_its_place() -> None:
    packed = Packed(named(f"node-{place}") for place in range(250))

    assert packed[120] == named("node-120")
    assert packed[-1:] == [named("node-249")]


def test_half_surrogates_come_back_too() -> None:
    values = [named(f"half a surrogate: \ud800 {place}") for place in range(101)]

    assert list(Packed(values)) == values


def test_a_full_pack_lets_its_objects_go() -> None:
    value = named("node")
    packed = Packed([value] * 100)

    assert packed[0] is not value
