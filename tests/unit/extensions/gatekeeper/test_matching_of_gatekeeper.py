"""Matching beside the answers of Gatekeeper's own code.

tests/data/gatekeeper/matches.jsonl has random questions with what `Matches` of pkg/mutation/match answered, at
open-policy-agent/gatekeeper dd8507eb. `error` means that Gatekeeper did not know the labels of a Namespace.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

from usher.extensions.gatekeeper import constraints
from usher.extensions.gatekeeper.constraint_templates import Written, top_fields

FILE: Final = Path(__file__).parents[3] / "data" / "gatekeeper" / "matches.jsonl"
QUESTIONS: Final[list[dict[str, Any]]] = [json.loads(line) for line in FILE.read_text().splitlines()]
ANSWERS: Final = {"true": True, "false": False, "error": None}


def asked(question: dict[str, Any]) -> tuple[constraints.Match, bool | None]:
    """The criteria, and the answer of usher."""
    match = constraints.read_match(top_fields(Written(value=question["match"], source="constraint.yaml")))
    metadata = question["namespace"]
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata} if metadata else None
    subject = constraints.Subject(value=question["object"], namespace=namespace, generated=question["generated"])
    return match, constraints.matches(match, subject)


def test_where_gatekeeper_knows_the_answer_usher_gives_the_same() -> None:
    known = [question for question in QUESTIONS if question["answer"] != "error"]

    assert [each for each in known if asked(each)[1] is not ANSWERS[each["answer"]]] == []
    assert Counter(each["answer"] for each in known) == {"true": 250, "false": 250}


def test_where_it_does_not_know_usher_is_certain_only_by_other_criteria_or_by_the_name() -> None:
    unknown = [question for question in QUESTIONS if question["answer"] == "error"]

    answers = [asked(question) for question in unknown]

    assert all(answer in (None, False) or match.only_by_name for match, answer in answers)
    assert sum(answer is None for _, answer in answers) > 50
