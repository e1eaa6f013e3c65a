"""An answer keeps the limits of the API server, and those of readers."""

import itertools
import random
import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

import generated_examples
from usher import model
from usher.review import admission_review

HOSTILE = [
    "",
    "a\nb",
    "\x1b[31mred\x1b[0m",
    "\u202egnp.exe",
    "nul\0",
    "é" * 300,
    "😀" * 5000,
    "x" * 100_000,
    "\x85\u2028",
]


def judgement(
    message: str = "asks too much",
    *,
    outcome: model.Outcome = model.Outcome.DENY,
    code: str = "USH101",
    name: str = "whole-gpus-only",
    remedy: str = "",
    because: str = "",
) -> model.Judgement:
    finding = model.Finding(check=f"resources/{name.replace('-', '_')}", path="/spec", message=message, remedy=remedy)
    return model.Judgement(finding=finding, outcome=outcome, code=code, name=name, because=because)


def decided(*judgements: model.Judgement, unknowns: tuple[model.Unknown, ...] = ()) -> model.Decision:
    return model.Decision(workload=None, judgements=judgements, unknowns=unknowns)


def validated(decision: model.Decision, *, display_name: str = "Pod ml/trainer") -> Any:
    """The answer as the API server reads it."""
    review = orjson.loads(
        admission_review.encode(admission_review.validation_response("1", decision, display_name=display_name))
    )
    assert review.keys() == {"apiVersion", "kind", "response"}
    assert (review["apiVersion"], review["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert review["response"]["uid"] == "1"
    return review["response"]


def generated_decisions(count: int) -> Iterator[model.Decision]:
    """Decisions of every kind, always the same ones."""
    generator = random.Random(20261121)
    texts = [*HOSTILE, "container main: asks 8", "Worker waits for ever"]
    for _ in range(count):
        judgements = [
            judgement(
                generator.choice(texts)[:500],
                outcome=generator.choice(list(model.Outcome)),
                code=f"USH{generator.randrange(101, 109)}",
                remedy=generator.choice(texts)[:500],
                because=generator.choice(texts)[:50],
            )
            for _ in range(generator.choice([0, 1, 2, 5, 40]))
        ]
        unknowns = tuple(
            model.Unknown(path=generator.choice(["", "/spec"]), reason=generator.choice(texts)[:500], check=check)
            for check in generator.choices(["", "queueing/x", "gang/y"], k=generator.choice([0, 0, 1, 30]))
        )
        yield decided(*judgements, unknowns=unknowns)


def test_no_decision_makes_a_validating_answer_that_the_api_server_would_not_take() -> None:
    for decision in generated_decisions(generated_examples.up_to(10_000)):
        answer = validated(decision)

        assert "patch" not in answer
        assert "patchType" not in answer
        assert answer["allowed"] is decision.allowed
        assert ("status" in answer) is not decision.allowed
        if not decision.allowed:
            assert answer["status"]["code"] == 403
            assert len(answer["status"]["message"].encode()) <= 8 * 1024
        warnings = answer.get("warnings", [])
        assert all(warning and warning.isprintable() and len(warning) <= 256 for warning in warnings)
        assert sum(map(len, warnings)) <= 4096
        assert set(answer.get("auditAnnotations", {})) <= {"deny", "warn", "audit", "not-evaluated"}


def test_nothing_to_say_leaves_nothing_but_the_verdict() -> None:
    assert validated(decided()) == {"uid": "1", "allowed": True}


def test_an_audit_finding_is_seen_in_the_audit_log_alone() -> None:
    assert validated(decided(judgement(outcome=model.Outcome.AUDIT))) == {
        "uid": "1",
        "allowed": True,
        "auditAnnotations": {"audit": "USH101"},
    }


def test_audit_annotations_name_each_code_once_by_outcome() -> None:
    decision = decided(
        judgement(code="USH103"),
        judgement(code="USH101"),
        judgement(code="USH103"),
        judgement(code="USH301", outcome=model.Outcome.WARN),
        unknowns=(
            model.Unknown(check="gang/x", path="", reason="no facts"),
            model.Unknown(path="", reason="templated"),
        ),
    )

    annotations = validated(decision)["auditAnnotations"]

    assert annotations == {"deny": "USH103,USH101", "warn": "USH301", "not-evaluated": "gang/x"}
    # The webhook's name and a slash come before them, and the whole has to be a qualified name.
    assert all(re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", key) for key in annotations)


def test_a_denial_counts_rules_and_places() -> None:
    one, other = judgement("first"), judgement("second", code="USH103", name="gpu-requests-equal-limits")

    def first_line(*denials: model.Judgement) -> str:
        return admission_review.denial_message(denials, "Pod ml/trainer").partition("\n")[0]

    assert first_line(one) == "Pod ml/trainer breaks 1 rule:"
    assert first_line(one, other) == "Pod ml/trainer breaks 2 rules:"
    assert first_line(one, one) == "Pod ml/trainer breaks 1 rule in 2 places:"
    assert first_line(one, one, other) == "Pod ml/trainer breaks 2 rules in 3 places:"


def test_a_denial_gives_each_reason_with_its_remedy_on_a_line_of_its_own() -> None:
    denials = [judgement("asks 0.5 GPUs", remedy="ask for a whole number"), judgement("asks 1.5 GPUs")]

    assert admission_review.denial_message(denials, "Pod ml/trainer").splitlines()[1:] == [
        "  USH101 whole-gpus-only: asks 0.5 GPUs. Ask for a whole number.",
        "  USH101 whole-gpus-only: asks 1.5 GPUs",
        "More: usher explain USH101",
    ]


def test_a_denial_of_200_findings_is_cut_and_says_how_many_are_left_out() -> None:
    denials = [judgement(f"container worker-{number}: asks half a GPU", remedy="ask for one") for number in range(200)]

    message = admission_review.denial_message(denials, "PyTorchJob ml-research/bert")
    shown = message.splitlines()

    assert len(message.encode()) <= 8 * 1024
    assert shown[0] == "PyTorchJob ml-research/bert breaks 1 rule in 200 places:"
    assert shown[-2] == f"  ... and {200 - (len(shown) - 3)} more"
    assert len(shown) > 80


@pytest.mark.parametrize("text", HOSTILE[1:], ids=ascii)
def test_a_denial_shows_a_part_of_even_the_longest_reason(text: str) -> None:
    message = admission_review.denial_message([judgement(f"label {text}", remedy=text)], text[:300])

    assert len(message.encode()) <= 8 * 1024
    assert all(line.isprintable() for line in message.split("\n"))
    assert len(message.split("\n")) == 3
    assert "  USH101 whole-gpus-only: label " in message


def test_sixty_warnings_become_twenty_that_the_api_server_passes_on() -> None:
    texts = ["one\nof two lines", "long " * 80, "😀" * 130, *(f"warning {number}" for number in range(57))]

    warnings = admission_review.sanitised_warnings(texts)

    assert len(warnings) == 20
    assert warnings[0] == "one\ufffdof two lines"
    assert warnings[-1] == "... and 41 more"
    assert all(len(warning) <= 180 and warning.isprintable() for warning in warnings)
    assert sum(map(len, warnings)) <= 4096


def test_equal_warnings_are_given_once() -> None:
    assert admission_review.sanitised_warnings(["a", "b", "a"]) == ["a", "b"]


def test_as_many_warnings_as_there_may_be_are_all_given() -> None:
    texts = [f"warning {number}" for number in range(20)]
    assert admission_review.sanitised_warnings(texts) == texts


def warning(message: str, remedy: str, because: str = "", *, others: int = 0) -> str:
    """The first warning of an answer, without the name of its rule."""
    found = judgement(message, outcome=model.Outcome.WARN, remedy=remedy, because=because)
    beside = [judgement(f"other {number}", outcome=model.Outcome.WARN) for number in range(others)]
    text = validated(decided(found, *beside))["warnings"][0]
    return str(text).removeprefix("USH101 whole-gpus-only: ")


def test_a_warning_has_the_problem_the_remedy_and_why_it_does_not_deny() -> None:
    assert warning("short", "mend it", "no pools") == "short. Mend it. (no pools)"
    assert warning("short", "mend it", "x" * 300) == "short. Mend it."


def test_a_warning_that_is_too_long_keeps_the_thing_and_the_remedy() -> None:
    asks = f"container train of Worker {'asks for much ' * 30}"

    cut = warning(asks, "mend it", "no pools")

    assert cut.startswith("container train of Worker asks for much")
    assert cut.endswith("for much... Mend it. (no pools) More: usher explain USH101")
    assert warning("x" * 300, "") == "x" * 202 + "... More: usher explain USH101"


def test_a_remedy_that_is_too_long_alone_leaves_room_for_the_thing() -> None:
    cut = warning(f"container train of Worker {'asks ' * 60}", "x" * 300)

    assert cut.startswith("container train of Worker asks")
    assert "... Xxx" in cut
    assert cut.endswith("x... More: usher explain USH101")
    assert warning("short", "x" * 300).startswith("short. Xxx")


def test_few_warnings_may_be_longer_than_many() -> None:
    message = f"container train {'x' * 170}"

    assert warning(message, "mend it") == f"{message}. Mend it."
    cut = warning(message, "mend it", others=19)
    assert cut.startswith("container train x")
    assert cut.endswith("x... Mend it. More: usher explain USH101")


def test_what_could_not_be_read_is_said_and_what_no_check_could_judge_is_not() -> None:
    unread = model.Unknown(path="/spec/replicas", reason="the value is a text")
    unjudged = model.Unknown(path="", reason="no node pools are declared", check="placement/x")

    answer = validated(decided(unknowns=(unread, unjudged)))

    assert answer["warnings"] == ["not judged: /spec/replicas: the value is a text"]
    assert answer["auditAnnotations"] == {"not-evaluated": "placement/x"}


def test_a_mutation_without_operations_has_neither_patch_nor_patch_type() -> None:
    assert admission_review.mutation_response("1", [], names=["never-applied"], warnings=[]) == {
        "uid": "1",
        "allowed": True,
    }


def test_the_order_of_mutations_does_not_change_an_annotation() -> None:
    """On reinvocation the API server refuses another value under the same key."""
    operation: Any = {"op": "add", "path": "/metadata/labels", "value": {}}
    annotations = [
        admission_review.mutation_response("1", [operation], names=names, warnings=[])["auditAnnotations"]
        for names in itertools.permutations(["a", "b", "c"])
    ]

    assert annotations == [{"mutations": "a,b,c"}] * 6
