"""Charges while the API server is busy or fails for a moment: tried again, and never left without a verdict."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import builders
from unit.authorities.gpu_quota.live.memory_api import MemoryApi, Replica, charges, job, owned, refusal
from usher import errors
from usher.cluster.api import Answer
from usher.review import webhooks
from usher.review.admission_review import request_of

pytestmark = pytest.mark.costly

Trouble = Callable[[str, str], Answer | None]


def lost(_method: str, _path: str) -> Answer | None:
    raise errors.UnavailableError("the connection is lost")


def busy(_method: str, _path: str) -> Answer | None:
    return refusal(429, "too many requests")


def failing(_method: str, _path: str) -> Answer | None:
    return refusal(500, "etcdserver: leader changed")


def for_a_moment(api: MemoryApi, trouble: Trouble, *, seconds: float, method: str = "") -> None:
    """All requests of a method meet the trouble for some seconds."""
    end = time.monotonic() + seconds

    def troubled(asked: str, path: str) -> Answer | None:
        return trouble(asked, path) if time.monotonic() < end and method in ("", asked) else None

    api.trouble = troubled


def settled(api: MemoryApi, expected: dict[str, int]) -> dict[str, int]:
    """The charges as soon as they are as expected; what they are after a while otherwise."""
    api.trouble = lambda _method, _path: None
    end = time.monotonic() + 5
    while charges(api) != expected and time.monotonic() < end:
        time.sleep(0.01)
    return charges(api)


@pytest.mark.parametrize("trouble", [lost, busy, failing])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_forty_charges_survive_a_moment_without_the_api_server(
    api: MemoryApi, replica: Replica, trouble: Trouble, method: str
) -> None:
    for_a_moment(api, trouble, seconds=0.5, method=method)

    with ThreadPoolExecutor(40) as pool:
        found = list(pool.map(lambda number: replica.ask(job(1, name=f"job-{number}"), seconds=2), range(16)))

    assert found == 16 * [None]
    assert len(charges(api)) == 16


def test_an_owner_is_read_again(api: MemoryApi, replica: Replica) -> None:
    assert replica.ask(job(8)) is None
    above = api.apply(job(8))
    for_a_moment(api, busy, seconds=0.3)

    pod = owned(builders.pod(builders.container(gpus=8), name="worker", namespace="ml"), above)

    assert replica.ask(pod, seconds=2) is None
    assert charges(api) == {"Job.batch/ml/train": 8}, "its job was charged"


def test_a_right_that_is_missing_is_not_tried_again(api: MemoryApi, replica: Replica) -> None:
    api.trouble = lambda _method, _path: refusal(403, "forbidden")
    began = time.monotonic()

    with pytest.raises(errors.ClusterError, match="forbidden"):
        replica.ask(job(8), seconds=2)
    assert time.monotonic() - began < 1


def test_a_charge_fails_when_the_time_is_over(api: MemoryApi, replica: Replica) -> None:
    api.trouble = failing

    with pytest.raises(errors.ClusterError):
        replica.ask(job(8), seconds=0.3)


def test_a_charge_whose_answer_was_lost_is_taken_back_at_once(api: MemoryApi, replica: Replica) -> None:
    """The API server stores the charge, but every answer is lost until the review has to be answered."""

    def trouble(method: str, path: str) -> Answer | None:
        if method != "PUT":
            return None
        api.trouble = lambda _method, _path: None
        api.put(path, api.sent)
        api.trouble = lost
        raise errors.UnavailableError("the connection is lost")

    api.trouble = trouble
    with pytest.raises(errors.ClusterError):
        replica.ask(job(8), seconds=0.4)
    assert charges(api) == {"Job.batch/ml/train": 8}, "it was written"

    assert settled(api, {}) == {}
    assert replica.ask(job(16, name="other")) is None, "its room is free"


def slow(slow_method: str) -> Callable[[str, str], Answer | None]:
    """A server whose answers to one method come late."""

    def trouble(method: str, _path: str) -> Answer | None:
        if method == slow_method:
            time.sleep(0.6)
        return None

    return trouble


def test_a_write_that_ends_after_the_review_is_taken_back(api: MemoryApi, replica: Replica) -> None:
    api.trouble = slow("PUT")
    with pytest.raises(errors.ClusterError, match="in time"):
        replica.ask(job(8), seconds=0.3)

    time.sleep(0.6)
    assert settled(api, {}) == {}


def test_a_read_that_ends_after_the_review_writes_no_charge(api: MemoryApi, replica: Replica) -> None:
    api.trouble = slow("GET")
    with pytest.raises(errors.ClusterError, match="in time"):
        replica.ask(job(8), seconds=0.3)

    time.sleep(1.0)
    assert [method for method, _ in api.requests if method in ("PUT", "POST")] == []


def test_a_review_that_fails_after_its_charge_leaves_what_its_object_had_before(
    api: MemoryApi, replica: Replica
) -> None:
    assert replica.ask(job(4)) is None
    review = replica.review(job(8), old=job(4))
    request = webhooks.charge_request(review, replica.evaluator.decide(request_of(review)))
    assert request is not None

    async def charged_and_failed() -> None:
        with replica.admission.undoing(request):
            assert await replica.admission.charge(request, until=time.monotonic() + 5) is None
            assert charges(api) == {"Job.batch/ml/train": 8}
            raise errors.EngineError("a fault of ours")

    with pytest.raises(errors.EngineError):
        asyncio.run(charged_and_failed())

    assert settled(api, {"Job.batch/ml/train": 4}) == {"Job.batch/ml/train": 4}
