"""TAP 14: a strict reader finds the plan, the points and their blocks."""

import re
from dataclasses import dataclass
from typing import Any, Final

import yaml
from hypothesis import given

from unit.check.formats import hostile, made
from unit.check.formats.hostile import ended, written
from usher import model
from usher.check import findings
from usher.check.formats import test_cases, wording

_POINT: Final = re.compile(r"(not )?ok (\d+) - ((?:\\.|[^\\#])*)(?: # SKIP (.*))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    ok: bool
    name: str
    skipped: bool
    block: Any


def read(text: str) -> list[Point]:
    """The points; every line must be one that the specification of version 14 knows."""
    version, plan, *lines = text.split("\n")[:-1]
    assert version == "TAP version 14"
    points: list[Point] = []
    while lines:
        match = _POINT.fullmatch(lines.pop(0))
        assert match is not None
        assert int(match[2]) == len(points) + 1
        block = None
        if lines and lines[0] == "  ---":
            end = lines.index("  ...")
            block = yaml.safe_load("\n".join(lines[1:end]))
            lines = lines[end + 1 :]
        name = re.sub(r"\\(.)", r"\1", match[3]).strip()
        points.append(Point(ok=not match[1], name=name, skipped=match[4] is not None, block=block))
    assert re.fullmatch(rf"1\.\.{len(points)}( # .*)?", plan)
    return points


@given(text=hostile.hostile_text)
def test_hostile_names_keep_it_readable(text: str) -> None:
    points = read(written(test_cases.write_tap, ended(hostile.report(text))))

    assert len(points) == 9
    said = [each["message"] for point in points if point.block for each in point.block["findings"]]
    assert all(message.isprintable() for message in said)
    assert any(wording.printable(text) in message for message in said)


def test_a_denial_is_not_ok_and_a_warning_is_ok() -> None:
    points = {point.name: point for point in read(written(test_cases.write_tap, made.full()))}

    denied = points["jobs/bert.yaml: PyTorchJob ml-research/bert: USH103 gpu-requests-equal-limits"]
    warned = points["jobs/bert.yaml: PyTorchJob ml-research/bert: USH301 gpu-toleration-present"]
    assert (denied.ok, warned.ok) == (False, True)
    assert denied.block["findings"][0] == {
        "severity": "error",
        "message": "PyTorchJob ml-research/bert, Worker (8 pods): "
        "container pytorch of Worker: nvidia.com/gpu requests 8, limits 4",
        "file": "jobs/bert.yaml",
        "line": 41,
        "column": 35,
        "details": ["Set both to the same number"],
    }


def test_a_warning_is_not_ok_where_the_command_counts_it() -> None:
    warned = made.made(made.result(made.toleration_missing()))
    strict = ended(warned, failing=frozenset({model.Outcome.DENY, model.Outcome.WARN}))

    assert [read(written(test_cases.write_tap, each))[0].ok for each in (warned, strict)] == [True, False]


def test_what_was_not_judged_is_skipped_or_not_ok_as_the_command_accepts_it() -> None:
    name = "jobs/more.yaml: Job team-b/tune: unknown to usher"
    accepted, refused = (
        {point.name: point for point in read(written(test_cases.write_tap, found))}[name]
        for found in (made.full(), ended(made.full()))
    )

    assert (accepted.ok, accepted.skipped) == (True, True)
    assert (refused.ok, refused.skipped) == (False, False)


def test_an_empty_run_has_an_empty_plan() -> None:
    assert read(written(test_cases.write_tap, made.made(command=findings.Command.AUDIT))) == []
