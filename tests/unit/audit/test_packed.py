"""Objects that are kept small come back as they were."""

import hashlib

import orjson
import pytest

from usher import paths
from usher.audit.gather.object_fields import Manifests, Packed, PackedRows


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


def row(number: int) -> list[str]:
    return [f"uid-{number}", "v1", "Pod", "team", f"pod-{number}"]


def test_a_row_is_found_by_its_first_text() -> None:
    rows = PackedRows()
    for number in range(350):
        rows.add(row(number))

    assert [rows.get(f"uid-{number}") for number in range(350)] == [row(number) for number in range(350)]
    assert (rows.get("uid-350"), rows.get("")) == (None, None)


def test_rows_whose_first_texts_have_one_hash_stay_apart() -> None:
    class Same(str):
        __slots__ = ()

        def __hash__(self) -> int:
            return 7

    rows = PackedRows()
    for number in range(250):
        rows.add([Same(f"uid-{number}"), str(number)])

    assert rows.get(Same("uid-120")) == ["uid-120", "120"]
    assert rows.get(Same("uid-250")) is None


def test_kept_manifests_of_all_kinds_come_back() -> None:
    values = {f"uid-{number}": {**named(f"object-{number}"), "kind": f"Kind{number % 300}"} for number in range(700)}
    kept = Manifests()
    for uid, value in values.items():
        kept.add(uid, value)

    assert kept.of([*values, "another"]) == values


def test_a_manifest_like_the_first_of_its_kind_takes_little() -> None:
    digests: paths.Object = {str(place): hashlib.sha256(bytes([place])).hexdigest() for place in range(100)}
    kept = Manifests()
    for number in range(2):
        kept.add(str(number), {**named(str(number)), "spec": digests})

    assert len(orjson.dumps(digests)) > 7000
    assert len(kept._kept["1"][-1]) < 500
