"""Writes JUnit XML for Jenkins, GitLab, Azure Pipelines and other readers of test results.

All of these readers know the elements and attributes: a case has at most one of `failure`, `error` and `skipped`, and
warnings are in `system-out` of a case that passed.

Source: https://github.com/jenkinsci/xunit-plugin/blob/master/src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd
"""

import html
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, TextIO

from usher.check import findings
from usher.check.formats import test_cases, wording
from usher.check.formats.entries import Entry

_NUMBERS: Final = {
    "failures": test_cases.State.FAILED,
    "errors": test_cases.State.ERROR,
    "skipped": test_cases.State.SKIPPED,
}
_ELEMENTS: Final = {test_cases.State.FAILED: "failure", test_cases.State.ERROR: "error"}


def write(found: findings.Report, stream: TextIO, /) -> None:
    """Writes the report as one XML document."""
    suites = test_cases.of(found)
    everything = [case for suite in suites for case in suite.cases]
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    stream.write(f"<testsuites{_attributes(name='gpu-usher', **_numbers(everything, without='skipped'))}>\n")
    for suite in suites:
        stream.write(f"  <testsuite{_attributes(name=suite.name, **_numbers(suite.cases))}>\n")
        stream.writelines("".join(f"    {line}\n" for line in _case(case, suite.name)) for case in suite.cases)
        stream.write("  </testsuite>\n")
    stream.write("</testsuites>\n")


def _numbers(counted: Iterable[test_cases.Case], *, without: str = "") -> dict[str, str]:
    states = Counter(case.state for case in counted)
    numbers = {name: str(states[state]) for name, state in _NUMBERS.items() if name != without}
    return {"tests": str(states.total()), **numbers}


def _case(case: test_cases.Case, suite: str) -> Iterator[str]:
    start = f"<testcase{_attributes(name=case.name, classname=suite, time='0')}"
    text = "\n".join(line for entry in case.said for line in _describe_entry(entry))
    match case.state:
        case test_cases.State.PASSED if not text:
            yield f"{start}/>"
            return
        case test_cases.State.PASSED:
            body = f"<system-out>{_escaped(text)}</system-out>"
        case test_cases.State.SKIPPED:
            body = f"<skipped{_attributes(message=case.reason)}/>"
        case _:
            element = _ELEMENTS[case.state]
            attributes = _attributes(message=case.reason, type=case.code or case.state.value)
            body = f"<{element}{attributes}>{_escaped(text)}</{element}>"
    yield f"{start}>"
    yield f"  {body}"
    yield "</testcase>"


def _describe_entry(entry: Entry) -> Iterator[str]:
    yield f"{entry.where}: {entry.level}: {entry.text}"
    yield from (f"  {detail}" for detail in entry.details)


def _attributes(**values: str) -> str:
    return "".join(f' {name}="{_escaped(value)}"' for name, value in values.items())


def _escaped(text: str) -> str:
    """Text for XML 1.0, which cannot hold control characters: they become visible escapes."""
    plain = "\n".join(wording.printable(line) for line in text.split("\n"))
    return wording.xml_without_commands(html.escape(plain, quote=False).replace('"', "&quot;"))
