"""A validating review that is charged: what is let in, what is refused, and what is no verdict."""

import time
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

import builders
from reviews import body
from usher import errors, model, paths
from usher.authorities.authority import QuotaRefusal
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.ledger import Excess, Full, Refused
from usher.config import models
from usher.facts.store import Store
from usher.policy import assembly
from usher.policy.evaluator import Evaluator
from usher.quantities import NANO
from usher.review import validate as review_validate
from usher.review.parsing import Review

GPU_QUOTA: paths.Object = {
    "apiVersion": "gpu-usher.io/v1alpha1",
    "kind": "GPUQuota",
    "metadata": {"name": "research"},
    "spec": {"namespaces": ["*"], "limits": [{"hard": {"gpus": 100}}]},
}
WARNING = {"enforcement": {"rules": [{"check": "gpu-quota-exceeded", "action": "warn"}]}}


class ScriptedGate:
    """Says what a quota says, and remembers what it was asked."""

    def __init__(self, *answers: Refused | Full | errors.ClusterError | None, bills: bool = True) -> None:
        self.answers = list(answers)
        self.bills = bills
        self.asked: list[bool] = []
        self.deadlines: set[float] = set()

    async def prepared(self, review: Review, *, until: float) -> Review:
        self.deadlines.add(until)
        return review

    def bill(self, review: Review, decision: model.Decision) -> str | None:  # noqa: ARG002 - the protocol's
        return "bill" if self.bills else None

    async def charge(self, bill: str, *, until: float, force: bool = False) -> Refused | Full | None:
        assert bill == "bill"
        self.asked.append(force)
        self.deadlines.add(until)
        answer = self.answers.pop(0)
        if isinstance(answer, errors.ClusterError):
            raise answer
        return answer

    def refusal(self, bill: str, refused: Refused) -> QuotaRefusal:  # noqa: ARG002 - the protocol's
        quota = gpu_quota_definitions.of_object(GPU_QUOTA)
        assert isinstance(quota, Quota)
        return QuotaRefusal(quota=quota, excesses=refused.excesses)


def refused() -> Refused:
    quota = gpu_quota_definitions.of_object(GPU_QUOTA)
    assert isinstance(quota, Quota)
    excess = Excess(
        limit=quota.limits[0], unit="gpus", asks=8 * NANO, held=0, more=8 * NANO, used=96 * NANO, hard=100 * NANO
    )
    return Refused(excesses=(excess,))


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    made = assembly.embedded(models.Config(), facts=Store.of([GPU_QUOTA]))
    yield made
    made.engine.close()


@pytest.fixture(scope="module")
def warning() -> Iterator[Evaluator]:
    made = assembly.embedded(models.Config.model_validate(WARNING), facts=Store.of([GPU_QUOTA]))
    yield made
    made.engine.close()


def job(**template: Any) -> paths.Object:
    container = builders.container(gpus=8, **template)
    return builders.job(builders.template(container), name="train", namespace="ml")


async def answered(gate: ScriptedGate, evaluator: Evaluator, value: paths.Object | None = None) -> Any:
    answer = await review_validate.validate(body(value or job()), evaluator, gate)
    return orjson.loads(answer.body)["response"]


async def test_what_is_charged_is_let_in(evaluator: Evaluator) -> None:
    gate = ScriptedGate(None)

    assert (await answered(gate, evaluator))["allowed"]
    assert gate.asked == [False]


async def test_what_there_is_no_bill_for_is_not_charged(evaluator: Evaluator) -> None:
    gate = ScriptedGate(bills=False)

    assert (await answered(gate, evaluator))["allowed"]
    assert gate.asked == []


async def test_what_is_denied_for_another_reason_is_not_charged(evaluator: Evaluator) -> None:
    gate = ScriptedGate()
    unequal = builders.job(
        builders.template(builders.container(requests={"nvidia.com/gpu": 8}, limits={"nvidia.com/gpu": 4})),
        name="train",
        namespace="ml",
    )

    assert not (await answered(gate, evaluator, unequal))["allowed"]
    assert gate.asked == []


async def test_what_is_refused_is_denied_with_the_numbers(evaluator: Evaluator) -> None:
    gate = ScriptedGate(refused())

    response = await answered(gate, evaluator)

    assert not response["allowed"]
    assert "USH1230" in response["status"]["message"]
    assert "has 4 of 100 free (96 used)" in response["status"]["message"]
    assert gate.asked == [False]


async def test_where_it_only_warns_it_is_charged_all_the_same(warning: Evaluator) -> None:
    gate = ScriptedGate(refused(), None)

    response = await answered(gate, warning)

    assert response["allowed"]
    assert any("USH1230" in text for text in response["warnings"])
    assert gate.asked == [False, True]


async def test_all_that_a_review_waits_for_has_one_deadline_before_the_api_servers(warning: Evaluator) -> None:
    gate = ScriptedGate(refused(), None)
    began = time.monotonic()

    await answered(gate, warning)

    (until,) = gate.deadlines
    assert began < until <= time.monotonic() + review_validate.WITHIN
    assert review_validate.WITHIN < 3


@pytest.mark.parametrize("answer", [Full(entries=10_000), errors.ClusterError("cannot be reached")])
async def test_what_cannot_be_charged_is_no_verdict(evaluator: Evaluator, answer: Any) -> None:
    with pytest.raises(errors.ClusterError):
        await answered(ScriptedGate(answer), evaluator)


async def test_a_forced_charge_for_which_there_is_no_room_is_no_verdict(warning: Evaluator) -> None:
    with pytest.raises(errors.ClusterError, match="no room for more than 10000 charges"):
        await answered(ScriptedGate(refused(), Full(entries=10_000)), warning)
