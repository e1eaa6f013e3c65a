"""A merge as text and as CSV: tests/data/fleet holds what people see.

After an intended change, `USHER_UPDATE_GOLDEN=1 pytest` of this file writes it again; read the diff.
"""

import csv
import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from builders import fleets
from unit.audit.store import written
from usher.audit.document import Gap, Subject
from usher.audit.document.fleet_document import Fleet
from usher.audit.reports import data_tables, fleet_report
from usher.audit.store.fleet_merge import Limits

GOLDEN = Path(__file__).parents[3] / "data" / "fleet"
HOSTILE = '=cmd|"/c calc"!A1\x1b[31m\u202e'


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """Clusters with a week before, a missing shard, two currencies, a gap, no usage, and a hostile name."""
    before, now = tmp_path_factory.mktemp("before"), tmp_path_factory.mktemp("now")
    for seed in (1, 2):
        written.part(before, fleets.cluster(seed, workloads=20, taken="2026-11-16T06:00:00Z"))
    written.part(now, fleets.cluster(1))
    written.part(now, fleets.cluster(2, currency="EUR"))
    written.part(now, fleets.cluster(3, is_measured=False))
    written.shards(now, fleets.cluster(4), 3, without=[1])
    written.part(now, fleets.cluster(5, gaps=(Gap(source="pods", reason="HTTP status 500"),)), version="0.0.9")
    finding = fleets.finding("USH1", Subject(api_version="v1", kind="Pod", namespace="a", name=HOSTILE), team=HOSTILE)
    written.part(now, fleets.cluster(6, workloads=3, name=HOSTILE).model_copy(update={"findings": (finding,)}))
    return written.merged(now, earlier=[written.merged(before)], limits=Limits(clusters=5))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """One cluster that measures nothing and finds nothing."""
    folder = tmp_path_factory.mktemp("plain")
    written.part(folder, fleets.cluster(1, workloads=0, is_measured=False).model_copy(update={"findings": ()}))
    return written.merged(folder)


def as_text(fleet: Fleet) -> str:
    stream = io.StringIO()
    fleet_report.write_text(fleet, stream)
    return stream.getvalue()


def as_csv(fleet: Fleet) -> str:
    stream = io.StringIO(newline="")
    data_tables.write(fleet, stream)
    return stream.getvalue()


@pytest.fixture(autouse=True)
def _width_of_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """As wide as in a log, where the process that runs the tests has a width of its own."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.mark.parametrize(("form", "ending"), [(as_text, "txt"), (as_csv, "csv")])
@pytest.mark.parametrize("name", ["troubled", "plain"])
def test_the_merge_reads_as_its_golden_file(
    name: str, ending: str, form: Callable[[Fleet], str], request: pytest.FixtureRequest
) -> None:
    file, shown = GOLDEN / f"{name}.{ending}", form(request.getfixturevalue(name)).encode()
    if os.environ.get("USHER_UPDATE_GOLDEN"):
        file.write_bytes(shown)

    assert shown == file.read_bytes()


@pytest.mark.parametrize("form", [as_text, as_csv])
def test_no_name_commands_a_terminal_or_a_spreadsheet(form: Callable[[Fleet], str], troubled: Fleet) -> None:
    shown = form(troubled)

    assert "\x1b" not in shown
    assert "\u202e" not in shown
    if form is as_csv:
        assert not [cell for row in csv.reader(io.StringIO(shown)) for cell in row if cell.startswith(("=", "@", "\t"))]
