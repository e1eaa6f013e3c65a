"""Writes TAP version 14: a test point for each case, with a YAML block for its findings.

Source: https://testanything.org/tap-version-14-specification.html
"""

import json
import re
from collections.abc import Iterator
from typing import Final, TextIO

from usher.check import findings
from usher.check.formats import test_cases, wording
from usher.check.formats.entries import Entry

_SPECIAL: Final = re.compile(r"([\\#])")


def write(found: findings.Report, stream: TextIO, /) -> None:
    """Writes the version, the plan and the test points."""
    points = [(suite.name, case) for suite in test_cases.of(found) for case in suite.cases]
    stream.write(f"TAP version 14\n1..{len(points)}{'' if points else ' # no object was found'}\n")
    for number, (suite, case) in enumerate(points, 1):
        stream.writelines(f"{line}\n" for line in _point(number, suite, case))


def _point(number: int, suite: str, case: test_cases.Case) -> Iterator[str]:
    failed = case.state in {test_cases.State.FAILED, test_cases.State.ERROR}
    skip = f" # SKIP {_escaped(case.reason)}" if case.state is test_cases.State.SKIPPED else ""
    yield f"{'not ok' if failed else 'ok'} {number} - {_escaped(f'{suite}: {case.name}')}{skip}"
    if case.said:
        yield "  ---"
        yield "  findings:"
        for entry in case.said:
            yield from (f"    {line}" for line in _block(entry))
        yield "  ..."


def _block(entry: Entry) -> Iterator[str]:
    mark = "-"
    for key, value in (
        ("severity", entry.level.value),
        ("message", entry.text),
        ("file", entry.file),
        ("line", entry.line),
        ("column", entry.column),
        ("details", list(entry.details)),
    ):
        if value or key == "message":
            yield f"{mark} {key}: {_yaml(value)}"
            mark = " "


def _yaml(value: str | int | list[str]) -> str:
    """A value as JSON, which YAML reads in the same way unless it has control characters."""
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    plain = wording.printable(value) if isinstance(value, str) else value
    return wording.json_without_commands(json.dumps(plain, ensure_ascii=False))


def _escaped(text: str) -> str:
    """The text with escaped number signs, so that it starts no directive."""
    return _SPECIAL.sub(r"\\\1", wording.printable(text)).strip()
