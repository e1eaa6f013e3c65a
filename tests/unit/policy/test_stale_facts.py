"""Nothing is denied by what was known of a cluster long ago."""

import pytest
from msgspec.structs import replace

from usher import model
from usher.policy import decision
from usher.policy.checks import catalogue
from usher.review import admission_review

ENTRIES = catalogue.load().catalogue
MINUTE = 60.0

OF_FACTS = model.Finding(check="priority/class_unknown", path="", message="there is no class")
OF_THE_OBJECT = model.Finding(check="mig/unknown_profile", path="", message="there is no profile")


def assumptions(*findings: model.Finding, age: float) -> list[str]:
    return [each.assumption for each in decision.downgrade_stale_facts(findings, ENTRIES, age=age, bound=5 * MINUTE)]


@pytest.mark.parametrize(
    ("age", "said"),
    [
        (0.0, ""),
        (5 * MINUTE, ""),
        (5 * MINUTE + 1, "cluster facts are 5 minutes old"),
        (12.9 * MINUTE, "cluster facts are 12 minutes old"),
        (61 * MINUTE, "cluster facts are 1 hour old"),
    ],
)
def test_a_finding_that_rests_on_old_facts_says_so_and_so_warns_at_most(age: float, said: str) -> None:
    assert assumptions(OF_FACTS, age=age) == [said]


@pytest.mark.parametrize("age", [59 * MINUTE, 999 * 60 * MINUTE])
def test_a_warning_keeps_the_age_of_the_facts_even_if_its_message_is_long(age: float) -> None:
    """A warning has little room, and without the age nobody could tell why the object was let through."""
    finding = replace(OF_FACTS, message="there is no class " * 20)
    (assumption,) = assumptions(finding, age=age)
    doubted = model.Judgement(
        finding=finding, outcome=model.Outcome.WARN, code="USH620", name="class-unknown", because=assumption
    )

    answer = admission_review.validation_response(
        "1", model.Decision(workload=None, judgements=(doubted,)), display_name="Pod a/b"
    )

    assert answer["warnings"][0].endswith(f"... ({assumption}) More: usher explain USH620")


def test_what_was_found_in_the_object_itself_does_not_grow_old() -> None:
    assert assumptions(OF_THE_OBJECT, age=60 * MINUTE) == [""]


def test_a_finding_that_rests_on_another_assumption_keeps_it() -> None:
    finding = model.Finding(check="priority/class_unknown", path="", message="", assumption="it is a guess")

    assert assumptions(finding, age=60 * MINUTE) == ["it is a guess"]
