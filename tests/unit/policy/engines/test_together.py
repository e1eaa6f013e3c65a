"""Own checks beside usher's: whose findings count, and a failure that takes no other finding with it."""

from typing import Any

import pytest

from usher import errors, paths
from usher.policy.engines.engine import ALL_CHECKS, LONGEST_TEXT, Entrypoint, OwnChecksEngine, TogetherEngine

OURS: Any = {
    "version": 1,
    "findings": [{"check": "cost/gpus_per_pod", "finding": {"path": "", "message": "ours"}}],
    "unknown": [],
}
OWN: Any = {"check": "site/x", "finding": {"path": "/spec", "message": "own", "remedy": "less"}}


class Answering:
    """An engine with one answer, or one error."""

    name = "answering"
    waits = False

    def __init__(self, answer: paths.Object | errors.EngineError) -> None:
        self.answer = answer
        self.closed = False

    def evaluate(self, entrypoint: Entrypoint, document: bytes, left_out: bytes = ALL_CHECKS) -> paths.Object:
        del entrypoint, document, left_out
        if isinstance(self.answer, errors.EngineError):
            raise self.answer
        return self.answer

    def ready(self) -> None: ...

    def close(self) -> None:
        self.closed = True


def together(own: Any, *, ours: Any = OURS) -> TogetherEngine:
    beside = OwnChecksEngine(source="acme.bundle", keys=frozenset({"site/x"}), engine=Answering(own))
    return TogetherEngine(Answering(ours), [beside])


def result(own: Any) -> Any:
    return together(own).evaluate(Entrypoint.FINDINGS, b"{}")


def test_the_findings_of_both_are_one_result() -> None:
    unknown = {"check": "site/x", "unknown": {"path": "", "reason": "not told"}}

    found = result({"version": 1, "findings": [OWN], "unknown": [unknown]})

    assert found == {"version": 1, "findings": [*OURS["findings"], OWN], "unknown": [unknown]}


def test_other_questions_are_for_usher_alone() -> None:
    intents: Any = {"version": 1, "intents": [], "warnings": []}

    assert together(errors.EngineError("asked"), ours=intents).evaluate(Entrypoint.INTENTS, b"{}") == intents


def test_own_checks_that_fail_leave_a_part_that_was_not_judged_and_the_findings_of_usher() -> None:
    found = result(errors.EngineError("took longer than 1 s"))

    assert found["findings"] == OURS["findings"]
    assert found["unknown"] == [
        {"check": "", "unknown": {"path": "", "reason": "own checks of acme.bundle: took longer than 1 s"}},
    ]


def test_a_failure_of_usher_is_not_hidden() -> None:
    own = {"version": 1, "findings": [], "unknown": []}

    with pytest.raises(errors.EngineError, match="ours"):
        together(own, ours=errors.EngineError("ours")).evaluate(Entrypoint.FINDINGS, b"{}")


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("text", "is not one of a check of these"),
        ({**OWN, "check": "isolation/host_namespaces"}, "is not one of a check of these"),
        ({**OWN, "check": ["site/x"]}, "is not one of a check of these"),
        ({"check": "site/x"}, "is not one of a check of these"),
        ({"check": "site/x", "finding": {"path": "spec", "message": "m"}}, "is not a JSON Pointer: spec"),
        ({"check": "site/x", "finding": {"message": "m"}}, "is not a JSON Pointer"),
        ({"check": "site/x", "finding": {"path": ""}}, "has no message"),
        ({"check": "site/x", "finding": {"path": "", "message": 1}}, "message of a finding is not a text"),
    ],
)
def test_a_result_of_another_shape_is_not_judged(entry: Any, reason: str) -> None:
    found = result({"version": 1, "findings": [OWN, entry], "unknown": []})

    assert found["findings"] == OURS["findings"]
    assert reason in found["unknown"][0]["unknown"]["reason"]


def test_lists_that_are_not_lists_are_not_judged() -> None:
    assert "has no list of findings" in result({"version": 1, "findings": 1})["unknown"][0]["unknown"]["reason"]


def test_long_texts_are_cut() -> None:
    long = {"check": "site/x", "finding": {"path": "", "message": "m" * (LONGEST_TEXT + 1)}}

    assert len(result({"version": 1, "findings": [long]})["findings"][-1]["finding"]["message"]) == LONGEST_TEXT


def test_both_engines_are_closed() -> None:
    ours, own = Answering(OURS), Answering(OURS)

    TogetherEngine(ours, [OwnChecksEngine(source="x", keys=frozenset(), engine=own)]).close()

    assert (ours.closed, own.closed) == (True, True)
