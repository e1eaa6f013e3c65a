"""`usher workload show` as files: tests/data/workloads holds manifests, and the output for each as text and as JSON.

After an intended change, `USHER_UPDATE_GOLDEN=1 pytest tests/unit/check/formats` updates them; read the diff. `input`
of the policies is left out of these: it changes with the policies and has tests of its own.
"""

import io
import os
from functools import cache
from pathlib import Path

import orjson
import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from unit.workloads.normalised import VOCABULARY
from usher import model, paths
from usher.check import sources
from usher.check.formats import json_report, workload_reading
from usher.check.formats.workload_reading import ShownWorkload
from usher.config import models

WORKLOADS = Path(__file__).parents[3] / "data" / "workloads"
MANIFESTS = sorted(WORKLOADS.glob("*.yaml"))
NAMES = [file.stem for file in MANIFESTS]


@cache
def shown(name: str) -> tuple[ShownWorkload, ...]:
    batches = list(sources.read([str(WORKLOADS / f"{name}.yaml")], stdin=io.BytesIO()))
    assert [problem for batch in batches for problem in batch.problems] == []
    named = [replace(batch, source=f"{name}.yaml") for batch in batches]
    return tuple(
        workload_reading.shown_workloads(named, config=models.Config(), vocabulary=VOCABULARY, namespace="default")
    )


def as_text(name: str, *, width: int = 100) -> str:
    stream = io.StringIO()
    workload_reading.write_text(shown(name), stream, vocabulary=VOCABULARY, width=width)
    return stream.getvalue()


def as_json(name: str) -> str:
    stream = io.StringIO()
    workload_reading.write_json(shown(name), stream, vocabulary=VOCABULARY)
    document = orjson.loads(stream.getvalue())
    for workload in document["workloads"]:
        del workload["input"]
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(document, option=options).decode()


def assert_golden(file: Path, written: str) -> None:
    if os.environ.get("USHER_UPDATE_GOLDEN"):
        file.write_text(written)

    assert written == file.read_text()


@pytest.mark.parametrize("name", NAMES)
def test_the_text_reads_as_its_golden_file(name: str) -> None:
    assert_golden(WORKLOADS / f"{name}.txt", as_text(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_json_reads_as_its_golden_file(name: str) -> None:
    assert_golden(WORKLOADS / f"{name}.json", as_json(name))


def test_every_golden_file_belongs_to_a_manifest() -> None:
    assert {file.stem for file in WORKLOADS.iterdir()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_text_holds_nothing_that_a_terminal_or_a_ci_system_obeys(name: str, width: int) -> None:
    for line in as_text(name, width=width).splitlines():
        assert line.isprintable()
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        assert "##vso[" not in line


@pytest.mark.parametrize("name", [name for name in NAMES if name != "hostile"])
def test_the_text_fits_the_terminal_but_for_long_names(name: str) -> None:
    assert max(cell_len(line) for line in as_text(name, width=80).splitlines()) <= 80


def is_there(value: paths.Json, pointer: str) -> bool:
    try:
        paths.resolve(value, pointer)
    except LookupError:
        return False
    return True


@pytest.mark.parametrize("name", NAMES)
def test_every_path_in_the_json_leads_to_something_in_the_object(name: str) -> None:
    (batch,) = sources.read([str(WORKLOADS / f"{name}.yaml")], stdin=io.BytesIO())
    by_line = {item.document.line: item.value for item in batch.items if item.document is not None}

    for workload in orjson.loads(as_json(name))["workloads"]:
        value = by_line[workload["line"]]
        places = [unknown["path"] for unknown in workload["unknowns"]]
        for pod_set in workload["podSets"]:
            places += [pod_set["path"], *(each["path"] for each in (*pod_set["requests"], *pod_set["containers"]))]
        assert [place for place in places if not is_there(value, place)] == []


def test_the_text_leaves_out_missing_values() -> None:
    (plain,) = (each for each in as_text("sharing").split("\n\n") if "by-memory" in each)

    assert plain.splitlines()[2:] == [
        "  role            unknown (neither its kind nor its programs say it)",
        "  pods            1",
        "  accelerators    20,480 MiB of gpu-memory (fraction annotation)",
        "  scheduler       kai-scheduler",
        "  container main  gets accelerators",
    ]


def test_the_input_of_the_policies_is_in_the_json_as_they_get_it() -> None:
    stream = io.StringIO()
    workload_reading.write_json(shown("claims"), stream, vocabulary=VOCABULARY)

    written = orjson.loads(stream.getvalue())["workloads"]

    assert [each["input"] for each in written] == [orjson.loads(each.input) for each in shown("claims")]


DOCUMENTATION = Path(__file__).parents[4] / "docs" / "workload-show.md"


@pytest.mark.parametrize(
    "shape",
    [
        each
        for each in vars(workload_reading).values()
        if isinstance(each, type) and issubclass(each, json_report.Shape)
    ],
    ids=lambda shape: shape.__name__,
)
def test_every_field_of_the_json_is_documented(shape: type[json_report.Shape]) -> None:
    documented = DOCUMENTATION.read_text()

    fields = [field.serialization_alias for field in shape.model_fields.values()]
    assert [field for field in fields if f"`{field}`" not in documented and field != "workloads"] == []


@pytest.mark.parametrize("word", [*model.Route, *model.ContainerType, *model.Role])
def test_every_word_that_the_json_may_hold_is_documented(word: str) -> None:
    assert word in DOCUMENTATION.read_text()
