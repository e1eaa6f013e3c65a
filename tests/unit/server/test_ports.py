"""The time of one review, and the bytes of all: who is served, who is sent away, and that nothing stays taken."""

import asyncio
import contextvars
import threading
import time
from typing import Any, cast

import pytest

import engines
from builders import container, pod
from reviews import body
from unit.server.asgi import JSON, Answer, call, chunks
from usher import errors, paths
from usher.config import models
from usher.policy import assembly
from usher.policy.engines.engine import ANSWER_UNTIL, Entrypoint
from usher.policy.evaluator import Evaluator
from usher.review import admission_review, webhooks
from usher.review.admission_review import Review
from usher.server import ports
from usher.server.metrics import Metrics
from usher.server.ports import ARRIVED, Body, BusyError, BytesInFlight, RefusedError, ReviewTime
from usher.server.reloading import Current
from usher.server.reviews import (
    LARGE_BODY,
    VERY_LARGE_BODY,
    HeldByNamespace,
    LargeReviews,
    PolicyThreads,
    Reviews,
    Turns,
    namespace_of,
)

POST = {"type": "http", "method": "POST", "headers": [JSON], "query_string": b""}


@pytest.mark.parametrize(
    ("query", "seconds"),
    [
        (b"timeout=1s", 0.7),
        (b"timeout=3s", 2.7),
        (b"timeout=30s", 2.7),
        (b"timeout=500ms", 0.2),
        (b"timeout=100ms", 0.0),
        (b"dryRun=All&timeout=2s", 1.7),
        (b"", 2.7),
        (b"timeout=forever", 2.7),
        (b"timeout=-5s", 2.7),
        (b"timeout=" + b"9" * 5000 + b"s", 2.7),
    ],
    ids=str,
)
def test_a_review_has_the_time_of_the_api_server_less_a_margin_and_never_more_than_ours(
    query: bytes, seconds: float
) -> None:
    assert ports.allowed_seconds(query) == pytest.approx(seconds)


@pytest.mark.parametrize(("waited", "timeout", "late"), [(0.2, b"1s", False), (0.36, b"1s", True), (0.45, b"3s", True)])
def test_a_review_that_waited_too_long_is_not_begun(waited: float, timeout: bytes, late: bool) -> None:
    scope = {**POST, "query_string": b"timeout=" + timeout, ARRIVED: time.monotonic() - waited}

    assert ReviewTime(scope).waited_too_long is late


@pytest.mark.parametrize(("waited", "status", "headers"), [(0.0, 500, []), (0.2, 503, [(b"retry-after", b"1")])])
async def test_a_deadline_that_passes_because_others_came_first_is_too_much_and_not_a_fault(
    waited: float, status: int, headers: list[tuple[bytes, bytes]]
) -> None:
    """An API server tries again after 503."""

    def fail(_: Entrypoint) -> paths.Object:
        raise errors.DeadlineError("no time is left to evaluate the policies")

    evaluator = engines.evaluator(engines.ScriptedEngine(fail))
    metrics = Metrics(engine="scripted", revision="test")
    current = Current(evaluator, file=None, make=lambda _: evaluator)
    app = Reviews(current=current, metrics=metrics, stopping=lambda: False)

    answer = await call(app, "/validate", chunks(body(pod())), waited=waited)

    assert answer.status == status
    assert [each for each in answer.headers if each[0] == b"retry-after"] == headers
    assert (b'result="overload"} 1.0' in metrics.exposition()) is (status == 503)


def test_small_bodies_keep_a_reserve_that_large_ones_do_not_get() -> None:
    room = BytesInFlight(most=10 * 2**20, reserve=2 * 2**20)
    room.held = 8 * 2**20

    assert not room.has_room(2**20, total=2**20)
    assert room.has_room(16_000, total=16_000)
    room.held = 10 * 2**20
    assert not room.has_room(16_000, total=16_000)


async def test_a_body_takes_what_arrived_and_gives_it_back_even_when_it_is_cut_short() -> None:
    room = BytesInFlight()
    reading = Body(room, ReviewTime(POST))
    messages = iter([*chunks(b"x" * 1000, end=False), {"type": "http.disconnect"}])
    seen = []

    async def receive() -> object:
        seen.append(room.held)
        return next(messages)

    with pytest.raises(RefusedError, match="cut short"):
        await reading.read(POST, receive)  # type: ignore[arg-type] # less than a message has
    assert room.held == 1000
    reading.give_back()
    assert seen == [0, 1000]
    assert room.held == 0


async def test_a_client_that_declares_much_and_sends_nothing_takes_no_room_and_loses_its_connection_in_time() -> None:
    room = BytesInFlight()
    scope = {**POST, "headers": [JSON, (b"content-length", b"8000000")], "query_string": b"timeout=310ms"}
    reading = Body(room, ReviewTime(scope))

    async def receive() -> object:
        assert room.held == 0
        await asyncio.sleep(60)
        raise AssertionError

    with pytest.raises(RefusedError) as refused:
        await reading.read(scope, receive)  # type: ignore[arg-type] # it sends nothing
    assert (refused.value.status, refused.value.close) == (408, True)


async def test_a_body_without_room_is_refused_before_any_of_it_is_read() -> None:
    room = BytesInFlight(most=2**20, reserve=2**19)
    scope = {**POST, "headers": [JSON, (b"content-length", b"700000")]}

    async def receive() -> object:
        raise AssertionError

    with pytest.raises(RefusedError) as refused:
        await Body(room, ReviewTime(scope)).read(scope, receive)  # type: ignore[arg-type] # it is not asked
    assert refused.value.status == 503


async def test_a_review_without_any_time_is_sent_away_and_keeps_its_connection() -> None:
    scope = {**POST, "headers": [JSON, (b"content-length", b"2")], "query_string": b"timeout=300ms"}
    (message,) = chunks(b"{}")

    async def receive() -> object:
        return message

    with pytest.raises(RefusedError) as refused:
        await Body(BytesInFlight(), ReviewTime(scope)).read(scope, receive)  # type: ignore[arg-type] # less than a message has
    assert (refused.value.status, refused.value.close) == (503, False)


async def test_a_large_review_leaves_the_event_loop_to_others_and_keeps_its_deadline() -> None:
    large = LargeReviews("large")
    ANSWER_UNTIL.set(123.0)
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def decide() -> float:
        loop.call_soon_threadsafe(begun.set)
        # Only the event loop can go on from here.
        asyncio.run_coroutine_threadsafe(begun.wait(), loop).result(timeout=30)
        return ANSWER_UNTIL.get()

    assert await large.run(decide) == 123.0
    assert large.waiting == 0
    large.close()


async def test_a_large_body_is_answered_like_a_small_one() -> None:
    evaluator = assembly.embedded(models.Config())
    app = Reviews(
        current=Current(evaluator, file=None, make=lambda _: evaluator),
        metrics=Metrics(engine="wasm", revision="test"),
        stopping=lambda: False,
    )
    for padding in (1, LARGE_BODY):
        bad = container(requests={"nvidia.com/gpu": 8}, limits={"nvidia.com/gpu": 4})
        value = pod(bad, annotations={"padding": "x" * padding})
        answer = await call(app, "/validate", chunks(body(value)))
        assert (answer.status, answer.response["allowed"]) == (200, False)
    app.close()
    evaluator.engine.close()


async def test_each_namespace_gets_every_second_turn_however_many_reviews_another_one_sends() -> None:
    large = LargeReviews("large")
    order: list[str] = []
    first, *others = [("flood", f"flood-{number}") for number in range(6)]
    others += [("research", "research-0"), ("research", "research-1")]

    async def review(namespace: str, name: str) -> None:
        await large.run(lambda: order.append(name), namespace=namespace)

    async with asyncio.TaskGroup() as reviews:
        for each in (first, *others):
            reviews.create_task(review(*each))
    large.close()

    assert order[:4] == ["flood-0", "flood-1", "research-0", "flood-2"]
    assert order.index("research-1") == 4
    assert len(order) == 8


async def test_a_caller_that_goes_away_passes_its_turn_on() -> None:
    turns = Turns()
    await turns.take("a")
    gone, next_one = (asyncio.create_task(turns.take(namespace)) for namespace in ("b", "c"))
    await asyncio.sleep(0)
    turns.give_back("a")
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone

    await asyncio.wait_for(next_one, 30)
    turns.give_back("c")
    await asyncio.wait_for(turns.take("d"), 30)


async def test_of_several_places_a_namespace_has_one_and_leaves_the_others_free() -> None:
    turns = Turns(2)
    await turns.take("flood")
    flood = [asyncio.create_task(turns.take("flood")) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.wait_for(turns.take("research"), 30)
    more = asyncio.create_task(turns.take("more"))
    await asyncio.sleep(0)
    turns.give_back("flood")
    await asyncio.wait_for(flood[0], 30)
    turns.give_back("research")
    await asyncio.wait_for(more, 30)

    assert not any(each.done() for each in flood[1:])
    for each in flood[1:]:
        turns.give_back("flood")
        await asyncio.wait_for(each, 30)


async def test_slow_policies_of_one_namespace_leave_a_thread_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    going_on = threading.Event()

    def judged(review: Review, *_: object) -> webhooks.Found:
        assert review.namespace != "slow" or going_on.wait(30)
        return webhooks.NOTHING

    monkeypatch.setattr(webhooks, "judged", judged)
    monkeypatch.setattr(webhooks, "may_find", lambda *_: True)
    threads, given = PolicyThreads(), cast(Any, None)

    def review(namespace: str) -> asyncio.Task[webhooks.Found]:
        sent = admission_review.parse(body(pod(namespace=namespace), namespace=namespace))
        return asyncio.create_task(threads.judged(sent, given, given))

    slow = [review("slow") for _ in range(4)]
    await asyncio.sleep(0)
    for _ in range(3):
        await asyncio.wait_for(review("research"), 30)
    going_on.set()
    await asyncio.gather(*slow)
    threads.close()


async def test_an_ordinary_review_does_not_wait_for_the_very_large_ones_of_other_namespaces() -> None:
    """17 kB are more than the event loop decides about, and have a queue without the reviews that may take a second."""
    going_on = threading.Event()

    def answer(_: Entrypoint) -> paths.Object:
        if threading.current_thread().name.startswith("very-large"):
            assert going_on.wait(30)
        return engines.result()

    evaluator = engines.evaluator(engines.ScriptedEngine(answer))
    current = Current(evaluator, file=None, make=lambda _: evaluator)
    app = Reviews(current=current, metrics=Metrics(engine="scripted", revision="test"), stopping=lambda: False)

    def review(namespace: str, padding: int) -> asyncio.Task[Answer]:
        value = pod(namespace=namespace, annotations={"padding": "x" * padding})
        return asyncio.create_task(call(app, "/validate", chunks(body(value))))

    slow = [review(namespace, VERY_LARGE_BODY) for namespace in ("slow-a", "slow-b") for _ in range(3)]
    await asyncio.sleep(0)
    ordinary = [await review("research", LARGE_BODY) for _ in range(10)]
    going_on.set()

    assert {each.status for each in ordinary} == {200}
    assert {each.status for each in await asyncio.gather(*slow)} <= {200, 503}
    app.close()


def test_one_namespace_cannot_hold_the_bytes_of_all() -> None:
    held = HeldByNamespace(most=100)

    with held.holding("a", 80):
        with pytest.raises(BusyError), held.holding("a", 30):
            pass
        with held.holding("b", 80):
            pass
    with held.holding("a", 500):
        pass


@pytest.mark.parametrize(
    ("value", "request_fields", "namespace"),
    [
        (pod(namespace="research"), {}, "research"),
        (pod(namespace="forged"), {"namespace": "research"}, "research"),
        (pod(namespace=None), {"name": 'x","namespace":"forged'}, ""),
    ],
    ids=["named", "another in the object", "forged in a name"],
)
def test_the_namespace_of_a_body_is_that_of_the_request(
    value: paths.Object, request_fields: dict[str, str], namespace: str
) -> None:
    assert namespace_of(body(value, **request_fields)) == namespace


def test_an_engine_stops_when_the_time_of_its_review_is_over() -> None:
    evaluator: Evaluator = assembly.embedded(models.Config())

    def late() -> None:
        ANSWER_UNTIL.set(time.monotonic() - 0.001)
        with pytest.raises(errors.DeadlineError, match="no time is left"):
            evaluator.engine.evaluate(Entrypoint.FINDINGS, b'{"late": true}')

    contextvars.copy_context().run(late)
    evaluator.engine.close()
