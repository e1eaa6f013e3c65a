"""`usher queue` as files: tests/data/queue holds a cluster, manifests, and the report on each as text and as JSON.

After an intended change, `USHER_UPDATE_GOLDEN=1 pytest tests/unit/check/formats` writes them again; read the diff.
"""

import io
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from rich.cells import cell_len

from unit.check.formats.test_workload_reading import assert_golden
from usher import paths
from usher.authorities.authority import Outlook
from usher.check import sources
from usher.check.formats import queue
from usher.check.formats.lines import LOG_WIDTH
from usher.check.formats.queue import ShownOutlook
from usher.config import load
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.explaining import Outlooks

QUEUE = Path(__file__).parents[3] / "data" / "queue"
CLUSTER, CONFIG = QUEUE / "cluster.yaml", QUEUE / "usher.yaml"
NAMES = sorted(file.stem for file in QUEUE.glob("*.yaml") if file not in (CLUSTER, CONFIG))


@cache
def site() -> Evaluator:
    return assembly.embedded(load.load(CONFIG), file=CONFIG, facts=sources.from_files([str(CLUSTER)]))


def look(value: paths.Object) -> Outlook:
    found = Outlooks(site(), site().facts).of(Request(value=value, place="check"))
    assert found is not None
    return found


@cache
def shown(name: str) -> Sequence[ShownOutlook]:
    (batch,) = sources.read([str(QUEUE / f"{name}.yaml")], stdin=io.BytesIO())
    assert not batch.problems
    return [ShownOutlook(f"{name}.yaml:1", look(item.value)) for item in batch.items]


def as_text(name: str, *, width: int = LOG_WIDTH) -> str:
    stream = io.StringIO()
    queue.write_text(shown(name), stream, width=width)
    return stream.getvalue()


def as_json(name: str) -> str:
    stream = io.StringIO()
    queue.write_json(shown(name), stream, as_written=False)
    return stream.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_the_text_reads_as_its_golden_file(name: str) -> None:
    assert_golden(QUEUE / f"{name}.txt", as_text(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_json_reads_as_its_golden_file(name: str) -> None:
    assert_golden(QUEUE / f"{name}.json", as_json(name))


def test_every_golden_file_belongs_to_a_manifest() -> None:
    assert {file.stem for file in QUEUE.iterdir()} == {*NAMES, CLUSTER.stem, CONFIG.stem}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_text_holds_nothing_that_a_terminal_or_a_ci_system_obeys(name: str, width: int) -> None:
    for line in as_text(name, width=width).splitlines():
        assert line.isprintable()
        assert not line.lstrip().startswith("::")
        assert "##[" not in line


@pytest.mark.parametrize("name", NAMES)
def test_prose_fits_the_width_of_the_terminal(name: str) -> None:
    prose = [line for line in as_text(name, width=80).splitlines() if "  " not in line.strip()]

    assert max(map(cell_len, prose)) <= 80
