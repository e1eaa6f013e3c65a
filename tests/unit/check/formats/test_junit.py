"""JUnit: well-formed, with the elements that readers know, and numbers that fit."""

from collections.abc import Iterable
from typing import Final
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given

from unit.check.formats import hostile, made
from unit.check.formats.hostile import ended, written
from usher import model
from usher.check import findings
from usher.check.formats import test_cases

CHILDREN: Final = {"testsuites": {"testsuite"}, "testsuite": {"testcase"}}
OUTCOMES: Final = ("failure", "error", "skipped")
ATTRIBUTES: Final = {
    "testsuites": {"name", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped"},
    "testcase": {"name", "classname", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "skipped": {"message"},
    "system-out": set[str](),
}
"""Attributes that junit-10.xsd of Jenkins allows, as far as usher writes them."""


def parsed(found: findings.Report) -> ET.Element:
    """The document, checked: order and names of elements, attributes, and the numbers of each suite."""
    root = ET.fromstring(written(test_cases.write_junit, found))
    assert root.tag == "testsuites"
    for element in root.iter():
        assert set(element.attrib) == ATTRIBUTES[element.tag]
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, {*OUTCOMES, "system-out"})
    for suite in root:
        numbers = [sum(case.find(outcome) is not None for case in suite) for outcome in OUTCOMES]
        assert [int(suite.attrib[name]) for name in ("failures", "errors", "skipped")] == numbers
        assert int(suite.attrib["tests"]) == len(suite)
        assert all(len(case) <= 1 for case in suite)
    for name in ("tests", "failures", "errors"):
        assert int(root.attrib[name]) == sum(int(suite.attrib[name]) for suite in root)
    return root


def outcomes(root: ET.Element) -> dict[str, str]:
    return {case.attrib["name"]: _outcome(case) for case in root.iter("testcase")}


def _outcome(case: Iterable[ET.Element]) -> str:
    return next((child.tag for child in case), "passed")


@given(text=hostile.hostile_text)
def test_hostile_names_keep_it_well_formed(text: str) -> None:
    root = parsed(ended(hostile.report(text)))

    assert sum(1 for _ in root.iter("testcase")) == 9


def test_each_workload_and_check_is_a_case() -> None:
    assert outcomes(parsed(made.full())) == {
        "PyTorchJob ml-research/bert: USH103 gpu-requests-equal-limits": "failure",
        "PyTorchJob ml-research/bert: USH301 gpu-toleration-present": "system-out",
        "PyTorchJob ml-research/bert: USH621 class-unknown": "system-out",
        "PyTorchJob ml-research/fine": "passed",
        "Job team-b/tune: USH901 team-label": "system-out",
        "Job team-b/tune: unknown to usher": "skipped",
        "PyTorchJob kube-system/exempt": "skipped",
        "cannot be read": "error",
        "Pod team-b/slow: not judged": "error",
        "USH302 gpu-node-affinity-present not evaluated": "skipped",
        "Training (example.com/v1) not compared": "skipped",
        "charts/llm left out": "skipped",
    }


def test_parts_that_are_not_judged_are_errors_where_the_command_does_not_accept_them() -> None:
    assert outcomes(parsed(ended(made.full())))["Job team-b/tune: unknown to usher"] == "error"


@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        (frozenset[model.Outcome](), "failure system-out system-out"),
        (frozenset({model.Outcome.DENY}), "failure system-out system-out"),
        (frozenset({model.Outcome.DENY, model.Outcome.WARN}), "failure failure system-out"),
        (frozenset(model.Outcome), "failure failure failure"),
    ],
)
def test_milder_findings_fail_where_the_command_counts_them(failing: frozenset[model.Outcome], expected: str) -> None:
    each = [made.finding(outcome=outcome, code=f"USH10{number}") for number, outcome in enumerate(model.Outcome)]
    root = parsed(ended(made.made(made.result(*each)), failing=failing))

    assert " ".join(outcomes(root).values()) == expected


def test_a_failure_says_place_message_and_remedy() -> None:
    root = parsed(made.made(made.result(made.finding())))

    failure = root.find("./testsuite/testcase/failure")
    assert failure is not None
    message = "container pytorch of Worker: nvidia.com/gpu requests 8, limits 4"
    assert failure.attrib == {"message": message, "type": "USH103"}
    assert failure.text == (
        f"jobs/bert.yaml:41:35: error: PyTorchJob ml-research/bert, Worker (8 pods): {message}\n"
        "  Set both to the same number"
    )


def test_an_empty_run_is_a_document_with_an_empty_suite() -> None:
    assert outcomes(parsed(made.made())) == {}
