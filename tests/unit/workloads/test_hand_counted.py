"""Totals of manifests, checked by hand against the manifests and the documentation of their kinds."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest

import indexed_manifests
from shared_files import OWN, PUBLISHED, Corpus, needs_shared
from unit.workloads.normalised import VOCABULARY
from usher import model, quantities
from usher.kinds.reading.values import Objects
from usher.workloads.normalise import normalise

COUNTED = Path(__file__).parents[2] / "data" / "totals"

Range = tuple[str, str | None]


class Row(NamedTuple):
    """The pods of one document; `pods` is None where the file does not give a number."""

    file: str
    document: int
    kind: str
    name: str
    pods: tuple[int, int | None] | None
    accelerators: Mapping[str, Range]
    why: str


def rows(corpus: Corpus) -> Iterator[Row]:
    for row in orjson.loads((COUNTED / f"{corpus.name}.json").read_bytes()):
        pods = None if row["pods"] is None else (row["pods"][0], row["pods"][1])
        accelerators = {name: _range(*found) for name, found in row["accelerators"].items()}
        yield Row(row["file"], row["document"], row["kind"], row["name"], pods, accelerators, row["why"])


def _range(minimum: Any, maximum: Any) -> Range:
    return str(quantities.parse(minimum)), None if maximum is None else str(quantities.parse(maximum))


def workload(corpus: Corpus, row: Row) -> model.Workload:
    values = list(indexed_manifests.read(corpus.folder / row.file))
    found = normalise(values[row.document], vocabulary=VOCABULARY, objects=Objects(values))
    assert found is not None, "the document makes no pods"
    return found


def totals(found: model.Workload) -> dict[str, Range]:
    return {
        total.name: (str(total.minimum), None if total.maximum is None else str(total.maximum))
        for total in found.totals
    }


def name_of(row: Row) -> str:
    return f"{row.file.rpartition('/')[2]}-{row.name}"


@pytest.mark.parametrize("row", list(rows(OWN)), ids=name_of)
def test_pods_and_accelerators_are_those_that_were_counted_by_hand(row: Row) -> None:
    assert_counted(workload(OWN, row), row)


@needs_shared("totals of public manifests")
@pytest.mark.parametrize("row", list(rows(PUBLISHED)), ids=name_of)
def test_pods_and_accelerators_of_public_manifests_are_those_that_were_counted_by_hand(row: Row) -> None:
    assert_counted(workload(PUBLISHED, row), row)


def assert_counted(found: model.Workload, row: Row) -> None:
    if row.pods is None:
        assert found.unknowns or totals(found) == row.accelerators, row.why
    else:
        assert (found.pods.minimum, found.pods.maximum) == row.pods, row.why
        assert totals(found) == row.accelerators, row.why
