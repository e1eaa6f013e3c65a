"""Findings of a site's policies join a decision of usher: before the charge, and never in place of a denial."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

import builders
from reviews import body
from unit.review.test_validate import ScriptedAdmission, job
from usher import model
from usher.config import models
from usher.policy import assembly
from usher.policy.evaluator import Evaluator
from usher.review import webhooks
from usher.review.admission_review import Review
from usher.review.webhooks import NOTHING, Found

BAD = builders.pod(builders.container(requests={builders.GPU: 8}, limits={builders.GPU: 4}), name="bad", namespace="ml")


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    made = assembly.embedded(models.Config())
    yield made
    made.engine.close()


def finding(outcome: model.Outcome) -> Found:
    found = model.Finding(check="gatekeeper/Labels/team", path="", message="no label team")
    return Found(judgements=(model.Judgement(finding=found, outcome=outcome, code="Labels", name="team"),))


async def answered(
    evaluator: Evaluator, value: Any, found: Found | Exception, *answers: None
) -> tuple[Any, list[bool]]:
    """The response, and what was charged."""
    admission = ScriptedAdmission(*answers)

    async def site(review: Review) -> Found:
        assert review.request["userInfo"] == {"username": "alice", "groups": ["system:authenticated"]}
        if isinstance(found, Exception):
            raise found
        return found

    answer = await webhooks.validate_and_charge(body(value), evaluator, admission, site=site)
    return orjson.loads(answer.body)["response"], admission.asked


async def test_an_object_that_a_policy_denies_is_not_charged(evaluator: Evaluator) -> None:
    response, charged = await answered(evaluator, job(), finding(model.Outcome.DENY))

    assert not response["allowed"]
    assert charged == []


async def test_an_object_that_a_policy_only_warns_about_is_charged(evaluator: Evaluator) -> None:
    response, charged = await answered(evaluator, job(), finding(model.Outcome.WARN), None)

    assert response["allowed"]
    assert "Labels team: no label team" in response["warnings"]
    assert charged == [False]


async def test_a_fault_of_ours_in_policies_takes_no_denial_away(evaluator: Evaluator) -> None:
    """Under Ignore a 5xx would let the object in."""
    response, _ = await answered(evaluator, BAD, RuntimeError("a fault"))

    assert not response["allowed"]
    assert any("a fault of usher ended the site's policies" in text for text in response["warnings"])


async def test_a_fault_of_ours_in_policies_is_no_verdict_where_usher_lets_in(evaluator: Evaluator) -> None:
    with pytest.raises(RuntimeError):
        await answered(evaluator, job(), RuntimeError("a fault"))


async def test_a_message_names_a_constraint_and_no_command_that_does_not_know_it(evaluator: Evaluator) -> None:
    response, _ = await answered(evaluator, builders.pod(name="train", namespace="ml"), finding(model.Outcome.DENY))

    assert response["status"]["message"] == "Pod ml/train breaks 1 rule:\n  Labels team: no label team"


async def test_without_policies_nothing_is_added(evaluator: Evaluator) -> None:
    response, _ = await answered(evaluator, builders.mutated_pod(name="train", namespace="ml"), NOTHING, None)

    assert response["allowed"]
    assert set(response) == {"uid", "allowed"}
