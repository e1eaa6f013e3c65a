"""A validating review that is charged: admission, refusal, and errors without a verdict."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import orjson
import pytest

import builders
from reviews import body
from usher import errors, paths
from usher.authorities.authority import QuotaRefusal
from usher.authorities.gpu_quota import definitions as gpu_quota_definitions
from usher.authorities.gpu_quota.definitions import Quota
from usher.authorities.gpu_quota.ledger import Excess, Full
from usher.authorities.gpu_quota.status import ChargeRequest
from usher.cluster.facts.store import Store
from usher.config import models
from usher.policy import assembly
from usher.policy.evaluator import Evaluator
from usher.quantities import NANO
from usher.review import webhooks

GPU_QUOTA = builders.gpu_quota(gpus=100)
WARNING = {"enforcement": {"rules": [{"check": "gpu-quota-exceeded", "action": "warn"}]}}


class ScriptedAdmission:
    """Gives the answers of a quota, and remembers what it was asked."""

    def __init__(self, *answers: QuotaRefusal | Full | errors.ClusterError | None) -> None:
        self.answers = list(answers)
        self.asked: list[bool] = []
        self.deadlines: set[float] = set()

    async def scaled(self, *, until: float, **_path: str) -> None:
        self.deadlines.add(until)

    def undoing(self, _request: ChargeRequest) -> AbstractContextManager[None]:
        return nullcontext()

    async def charge(self, request: ChargeRequest, *, until: float, force: bool = False) -> QuotaRefusal | Full | None:
        assert request.workload.name == "train"
        self.asked.append(force)
        self.deadlines.add(until)
        answer = self.answers.pop(0)
        if isinstance(answer, errors.ClusterError):
            raise answer
        return answer


def refused() -> QuotaRefusal:
    quota = gpu_quota_definitions.of_object(GPU_QUOTA)
    assert isinstance(quota, Quota)
    excess = Excess(
        limit=quota.limits[0], unit="gpus", asks=8 * NANO, held=0, added=8 * NANO, used=96 * NANO, hard=100 * NANO
    )
    return QuotaRefusal(quota=quota, excesses=(excess,))


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


async def answered(admission: ScriptedAdmission, evaluator: Evaluator, value: paths.Object | None = None) -> Any:
    answer = await webhooks.validate_and_charge(body(value or job()), evaluator, admission)
    return orjson.loads(answer.body)["response"]


async def test_what_is_charged_is_let_in(evaluator: Evaluator) -> None:
    admission = ScriptedAdmission(None)

    assert (await answered(admission, evaluator))["allowed"]
    assert admission.asked == [False]


async def test_an_object_that_makes_no_pods_is_not_charged(evaluator: Evaluator) -> None:
    admission = ScriptedAdmission()

    assert (await answered(admission, evaluator, builders.custom("v1", "Service", {}, namespace="ml")))["allowed"]
    assert admission.asked == []


async def test_what_is_denied_for_another_reason_is_not_charged(evaluator: Evaluator) -> None:
    admission = ScriptedAdmission()
    unequal = builders.job(
        builders.template(builders.container(requests={"nvidia.com/gpu": 8}, limits={"nvidia.com/gpu": 4})),
        name="train",
        namespace="ml",
    )

    assert not (await answered(admission, evaluator, unequal))["allowed"]
    assert admission.asked == []


async def test_what_is_refused_is_denied_with_the_numbers(evaluator: Evaluator) -> None:
    admission = ScriptedAdmission(refused())

    response = await answered(admission, evaluator)

    assert not response["allowed"]
    assert "USH1230" in response["status"]["message"]
    assert "has 4 of 100 free (96 used)" in response["status"]["message"]
    assert admission.asked == [False]


async def test_the_answer_names_the_quota_that_refused(evaluator: Evaluator) -> None:
    refusing, room = ScriptedAdmission(refused()), ScriptedAdmission(None)

    assert (await webhooks.validate_and_charge(body(job()), evaluator, refusing)).quota == refused().quota.name
    assert not (await webhooks.validate_and_charge(body(job()), evaluator, room)).quota


async def test_where_it_only_warns_it_is_charged_all_the_same(warning: Evaluator) -> None:
    admission = ScriptedAdmission(refused(), None)

    response = await answered(admission, warning)

    assert response["allowed"]
    assert any("USH1230" in text for text in response["warnings"])
    assert admission.asked == [False, True]


async def test_all_that_a_review_waits_for_has_one_deadline_before_the_api_servers(warning: Evaluator) -> None:
    admission = ScriptedAdmission(refused(), None)
    began = time.monotonic()

    await answered(admission, warning)

    (until,) = admission.deadlines
    assert began < until <= time.monotonic() + webhooks.CHARGE_SECONDS
    assert webhooks.CHARGE_SECONDS < 3


@pytest.mark.parametrize("answer", [Full(entries=10_000), errors.ClusterError("cannot be reached")])
async def test_what_cannot_be_charged_is_no_verdict(evaluator: Evaluator, answer: Any) -> None:
    with pytest.raises(errors.ClusterError):
        await answered(ScriptedAdmission(answer), evaluator)


async def test_a_forced_charge_for_which_there_is_no_room_is_no_verdict(warning: Evaluator) -> None:
    with pytest.raises(errors.ClusterError, match="no room for more than 10000 charges"):
        await answered(ScriptedAdmission(refused(), Full(entries=10_000)), warning)
