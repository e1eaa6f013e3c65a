"""The hot path as an ASGI application: which requests it accepts or refuses, and that a bug never becomes a verdict."""

import asyncio
import io
import json
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any, cast

import pytest
import structlog

import engines
from builders import container, custom, job, mutated_pod, pod, template
from reviews import UID, body
from unit.server.asgi import JSON, Answer, call, chunks
from usher import errors, paths
from usher.authorities.gpu_quota.live.admission import Admission
from usher.config import models
from usher.policy import assembly
from usher.policy.engines.engine import Entrypoint
from usher.policy.evaluator import Evaluator
from usher.server import logs
from usher.server.metrics import Metrics
from usher.server.ports import ARRIVED, HEADERS, MAX_BODY
from usher.server.reloading import Current
from usher.server.reviews import Reviews

BOUND = 20.0
"""Seconds after which a test gives up waiting."""

SECRET = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    evaluator = assembly.embedded(models.Config())
    yield evaluator
    evaluator.engine.close()


@pytest.fixture
def written() -> Iterator[io.BytesIO]:
    """The log, as bytes."""
    root = logging.getLogger()
    before = root.handlers, root.level
    output = io.BytesIO()
    logs.configure(stream=io.TextIOWrapper(output, write_through=True))
    yield output
    root.handlers, root.level = before
    structlog.reset_defaults()


def application(evaluator: Evaluator, *, stopping: bool = False) -> tuple[Reviews, Metrics]:
    metrics = Metrics(engine=evaluator.engine.name, revision="test")
    current = Current(evaluator, file=None, make=lambda _: evaluator)
    return Reviews(current=current, metrics=metrics, stopping=lambda: stopping), metrics


def failing(error: BaseException) -> Evaluator:
    def fail(_: Entrypoint) -> paths.Object:
        raise error

    return engines.evaluator(engines.ScriptedEngine(fail))


def events(written: io.BytesIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


@pytest.mark.parametrize("endpoint", ["/validate", "/mutate"])
async def test_a_review_is_answered_in_json_and_the_connection_kept(
    evaluator: Evaluator, endpoint: str, written: io.BytesIO
) -> None:
    app, _ = application(evaluator)

    answer = await call(app, endpoint, chunks(body(mutated_pod())))

    assert answer.status == 200
    assert (answer.response["uid"], answer.response["allowed"]) == (UID, True)
    assert answer.headers == [JSON, (b"content-length", str(len(answer.body)).encode())]
    assert [event["event"] for event in events(written)] == ["decision"]


def asked(path: str, headers: Sequence[tuple[bytes, bytes]] = (), *, waited: float = 0.0) -> dict[str, Any]:
    """The scope of a request whose whole body has arrived."""
    arrived = time.monotonic() - waited
    return {
        HEADERS: [(b"date", b"today")],
        "method": "POST",
        "path": path,
        "query_string": b"timeout=3s",
        "headers": [JSON, *headers],
        ARRIVED: arrived,
    }


def length(sent: bytes) -> tuple[bytes, bytes]:
    return (b"content-length", str(len(sent)).encode())


def as_sent(answer: Answer) -> bytes:
    """A response as uvicorn writes it."""
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}".encode(), b"date: today"]
    return b"\r\n".join((*lines, *(b": ".join(header) for header in answer.headers), b"", answer.body))


@pytest.mark.parametrize("endpoint", ["/validate", "/mutate"])
@pytest.mark.parametrize(
    "sent",
    [
        body(mutated_pod()),
        body(pod(container(gpus=1))),
        body(pod(container(gpus=1, env={"NVIDIA_VISIBLE_DEVICES": "all"}))),
        body(job(template(container(gpus=1)))),
        body(mutated_pod(), operation="UPDATE", old_value=mutated_pod()),
        b"{}",
        b"[1",
    ],
    ids=["good", "missed", "denied", "job", "update", "no review", "no JSON"],
)
async def test_a_small_review_gets_the_same_answer_without_a_task(
    evaluator: Evaluator, endpoint: str, sent: bytes, written: io.BytesIO
) -> None:
    (app, metrics), (other, expected), got = application(evaluator), application(evaluator), list[bytes]()

    assert app.answer_at_once(asked(endpoint, [length(sent)]), sent, got.append)

    assert got == [as_sent(await call(other, endpoint, chunks(sent)))]
    assert _counted(metrics) == _counted(expected)
    first, second = (events(written) * 2)[:2]
    assert (first["event"], first.get("findings")) == (second["event"], second.get("findings"))


@pytest.mark.parametrize("error", [errors.EngineError("the policies stopped"), errors.CountingError("usher counts")])
async def test_a_fault_without_a_task_is_no_verdict_either(error: Exception, written: io.BytesIO) -> None:
    sent, got = body(pod(container(gpus=1))), list[bytes]()
    app, _ = application(failing(error))

    assert app.answer_at_once(asked("/validate", [length(sent)]), sent, got.append)

    assert got == [as_sent(await call(application(failing(error))[0], "/validate", chunks(sent)))]
    assert [event["event"] for event in events(written)] == ["review_failed"] * 2


def test_what_may_wait_or_be_refused_is_not_answered_at_once(evaluator: Evaluator) -> None:
    sent, large = body(mutated_pod()), body(mutated_pod(), filling="x" * 20_000)
    app, _ = application(evaluator)
    ended, _ = application(evaluator, stopping=True)
    waiting, _ = application(engines.evaluator(engines.ScriptedEngine(lambda _: engines.result(), waits=True)))

    def answers(asked_app: Reviews, body: bytes, scope: dict[str, Any]) -> bool:
        return asked_app.answer_at_once(scope, body, lambda _: None)

    assert answers(app, sent, asked("/validate", [length(sent)]))
    assert not answers(app, sent, asked("/validate"))
    assert not answers(app, sent, asked("/validate", [length(sent + b" ")]))
    assert not answers(app, sent, asked("/validate", [length(sent), (b"content-encoding", b"gzip")]))
    assert not answers(app, sent, asked("/other", [length(sent)]))
    assert not answers(app, sent, asked("/configuration", [length(sent)]))
    assert not answers(app, large, asked("/validate", [length(large)]))
    assert not answers(app, sent, asked("/validate", [length(sent)], waited=2.0))
    assert not answers(ended, sent, asked("/validate", [length(sent)]))
    assert not answers(waiting, sent, asked("/validate", [length(sent)]))


def _counted(metrics: Metrics) -> list[bytes]:
    """The counters of reviews and findings."""
    wanted = (b"usher_reviews_total", b"usher_findings_total", b"usher_mutations_total", b"usher_missed")
    return [line for line in metrics.exposition().splitlines() if line.startswith(wanted)]


async def test_a_pod_comes_again_only_where_a_mutating_webhook_could_change_it(evaluator: Evaluator) -> None:
    """Without that webhook every pod without accelerators would be refused."""
    app, _ = application(evaluator)
    missed = chunks(body(pod(container())))

    before = (await call(app, "/validate", missed)).response
    await call(app, "/mutate", missed)
    after = (await call(app, "/validate", missed)).response

    assert (before["allowed"], "visible-devices-void" in before["warnings"][0]) == (True, True)
    assert (after["allowed"], after["status"]["code"]) == (False, 503)


async def test_a_body_in_many_parts_is_put_together(evaluator: Evaluator, written: io.BytesIO) -> None:
    app, _ = application(evaluator)
    parts = [bytes([byte]) for byte in body(mutated_pod())]

    assert (await call(app, "/validate", chunks(*parts, b""))).response["allowed"] is True
    assert len(events(written)) == 1


@pytest.mark.parametrize("endpoint", ["/validate", "/mutate"])
@pytest.mark.parametrize(
    "error",
    [
        errors.EngineError("the policies stopped"),
        errors.DeadlineError("the policies took longer than 1 s"),
        MemoryError(),
        RecursionError("maximum recursion depth exceeded"),
        KeyError(SECRET),
        ValueError(f"invalid literal: {SECRET!r}"),
    ],
    ids=repr,
)
async def test_a_fault_of_ours_is_no_verdict(endpoint: str, error: Exception, written: io.BytesIO) -> None:
    """With a status of 5xx and no review in the body the API server follows failurePolicy."""
    app, metrics = application(failing(error))

    answer = await call(app, endpoint, chunks(body(pod(container(env={"PASSWORD": SECRET})))))

    assert answer.status == 500
    assert answer.body == b"usher could not decide; its log says why\n"
    assert b'result="error"} 1.0' in metrics.exposition()
    (event,) = events(written)
    assert (event["event"], event["level"]) == ("review_failed", "error")
    assert (event["endpoint"], event["error"]) == (endpoint[1:], type(error).__name__)
    if isinstance(error, errors.UsherError):
        assert event["reason"] == str(error)
    else:
        assert "evaluator.py" in event["traceback"]
    assert SECRET.encode() not in written.getvalue()


async def test_a_review_that_waits_for_a_count_gets_a_time_to_come_back(written: io.BytesIO) -> None:
    app, metrics = application(failing(errors.CountingError("GPUQuota research: usher counts")))

    answer = await call(app, "/validate", chunks(body(pod(container()))))

    assert answer.status == 503
    assert (b"retry-after", b"1") in answer.headers
    assert answer.body == b"GPUQuota research: usher counts\n"
    assert b'result="error"} 1.0' in metrics.exposition()
    assert events(written)[0]["event"] == "review_failed"


async def test_a_review_whose_charge_came_too_late_gets_a_time_to_come_back() -> None:
    app, _ = application(failing(errors.UnavailableError("https://10.0.0.1 cannot be reached")))

    answer = await call(app, "/validate", chunks(body(pod(container()))))

    assert answer.status == 503
    assert (b"retry-after", b"1") in answer.headers
    assert b"try again" in answer.body
    assert b"10.0.0.1" not in answer.body


async def test_after_a_fault_the_next_review_is_answered(written: io.BytesIO) -> None:
    traps = [errors.EngineError("trap")]

    def trap_once(_: Entrypoint) -> paths.Object:
        if traps:
            raise traps.pop()
        return engines.result()

    app, _ = application(engines.evaluator(engines.ScriptedEngine(trap_once)))

    assert (await call(app, "/validate", chunks(body(mutated_pod())))).status == 500
    assert (await call(app, "/validate", chunks(body(mutated_pod())))).response["allowed"] is True
    assert [event["event"] for event in events(written)] == ["review_failed", "decision"]


async def test_a_fault_deep_in_a_recursion_makes_a_short_line_of_log(written: io.BytesIO) -> None:
    def endless(entrypoint: Entrypoint) -> paths.Object:
        return again(entrypoint)

    def again(entrypoint: Entrypoint) -> paths.Object:
        return endless(entrypoint)

    app, _ = application(engines.evaluator(engines.ScriptedEngine(endless)))

    assert (await call(app, "/validate", chunks(body(mutated_pod())))).status == 500
    assert len(written.getvalue()) < 8 * 1024


@pytest.mark.parametrize("endpoint", ["/validate", "/mutate"])
async def test_an_engine_that_waits_holds_up_nobody_else(endpoint: str, written: io.BytesIO) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def wait(_: Entrypoint) -> paths.Object:
        asked.set()
        assert go_on.wait(BOUND)
        return engines.result()

    app, _ = application(engines.evaluator(engines.ScriptedEngine(wait, waits=True)))
    waiting = asyncio.create_task(call(app, endpoint, chunks(body(mutated_pod()))))
    try:
        assert await asyncio.to_thread(asked.wait, BOUND)
        # What makes no pods is decided without the engine.
        other = await call(app, endpoint, chunks(body(custom("v1", "Service", {}))))
        assert other.response["allowed"] is True
        assert not waiting.done()
    finally:
        go_on.set()
    assert (await asyncio.wait_for(waiting, BOUND)).response["allowed"] is True
    assert [event["kind"] for event in events(written)] == ["Service", "Pod"]


async def test_a_server_that_stops_asks_its_clients_to_connect_to_another(
    evaluator: Evaluator, written: io.BytesIO
) -> None:
    app, _ = application(evaluator, stopping=True)

    answer = await call(app, "/validate", chunks(body(mutated_pod())))

    assert answer.response["allowed"] is True
    assert (b"connection", b"close") in answer.headers
    assert len(events(written)) == 1


@pytest.mark.parametrize(
    ("headers", "status", "reason"),
    [
        ([], 415, b"Content-Type must be application/json\n"),
        ([(b"content-type", b"text/plain")], 415, b"Content-Type must be application/json\n"),
        ([(b"content-type", b"application/jsonx")], 415, b"Content-Type must be application/json\n"),
        ([JSON, (b"content-type", b"text/plain")], 415, b"Content-Type must be application/json\n"),
        ([(b"content-type", b"x" * 1_000_000)], 415, b"Content-Type must be application/json\n"),
        ([JSON, (b"content-encoding", b"gzip")], 415, b"compressed bodies are not taken\n"),
        ([JSON, (b"content-encoding", b"")], 415, b"compressed bodies are not taken\n"),
        ([JSON, (b"content-length", str(MAX_BODY + 1).encode())], 413, b"the body is larger than 8388608 bytes\n"),
        ([JSON, (b"content-length", b"9" * 5000)], 413, b"the body is larger than 8388608 bytes\n"),
        ([JSON, (b"content-length", b"7"), (b"content-length", b"9" * 9)], 413, b"the body is larger than"),
        ([JSON, (b"content-length", b"-1")], 400, b"Content-Length is not a number\n"),
        ([JSON, (b"content-length", b"")], 400, b"Content-Length is not a number\n"),
        ([JSON, (b"content-length", b"1_000")], 400, b"Content-Length is not a number\n"),
        ([JSON, (b"content-length", "\u0661".encode())], 400, b"Content-Length is not a number\n"),
    ],
)
async def test_a_request_is_refused_by_its_headers_alone(
    evaluator: Evaluator, headers: list[tuple[bytes, bytes]], status: int, reason: bytes
) -> None:
    app, metrics = application(evaluator)
    unread = chunks(body(mutated_pod()))
    messages = iter(unread)

    answer = await call(app, "/validate", messages, headers=headers)

    assert (answer.status, answer.body[: len(reason)]) == (status, reason)
    # What is still on its way will not be read, so that the connection is of no use any more.
    assert (b"connection", b"close") in answer.headers
    assert list(messages) == unread
    assert b'usher_reviews_total{endpoint="validate",result="bad_request"} 1.0' in metrics.exposition()


@pytest.mark.parametrize(
    "headers",
    [
        [(b"content-type", b"application/json; charset=utf-8")],
        [(b"content-type", b" Application/JSON ;charset=utf-8")],
        [JSON, (b"content-encoding", b"Identity")],
        [JSON, (b"content-length", b"7"), (b"x-anything", b"x" * 100_000)],
    ],
)
async def test_headers_that_say_nothing_else_are_taken(
    evaluator: Evaluator, headers: list[tuple[bytes, bytes]], written: io.BytesIO
) -> None:
    app, _ = application(evaluator)
    assert (await call(app, "/validate", chunks(body(mutated_pod())), headers=headers)).status == 200
    assert len(events(written)) == 1


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
@pytest.mark.parametrize("endpoint", ["/validate", "/mutate"])
async def test_only_post_is_answered(evaluator: Evaluator, method: str, endpoint: str) -> None:
    app, _ = application(evaluator)
    answer = await call(app, endpoint, chunks(body(mutated_pod())), method=method)
    assert answer.status == 405
    assert (b"allow", b"POST") in answer.headers


@pytest.mark.parametrize(
    "path",
    ["/", "/docs", "/redoc", "/openapi.json", "/metrics", "/healthz", "/validate/", "//validate", "/Validate", ""],
)
async def test_nothing_else_is_on_this_port(evaluator: Evaluator, path: str) -> None:
    app, metrics = application(evaluator)
    assert (await call(app, path, chunks(body(mutated_pod())))).status == 404
    assert (await call(app, path, chunks(b""), method="GET", headers=[])).status == 404
    assert b"usher_reviews_total{" not in metrics.exposition()


async def test_a_body_that_grows_too_large_is_refused_before_it_is_read_to_its_end(evaluator: Evaluator) -> None:
    app, _ = application(evaluator)
    mebibyte = b" " * 2**20
    messages = iter(chunks(*[mebibyte] * 1000, end=False))

    answer = await call(app, "/validate", messages)

    assert answer.status == 413
    assert (b"connection", b"close") in answer.headers
    assert len(list(messages)) == 1000 - 9


async def test_a_body_of_exactly_the_limit_is_read(evaluator: Evaluator) -> None:
    app, _ = application(evaluator)
    for size, status in ((MAX_BODY, 400), (MAX_BODY + 1, 413)):
        assert (await call(app, "/validate", chunks(b" " * size))).status == status
        assert (await call(app, "/validate", chunks(b" " * (size - 1), b" "))).status == status


@pytest.mark.parametrize("start", [b"", b'{"kind":"AdmissionReview"'])
async def test_a_client_that_goes_away_is_no_fault_of_ours(evaluator: Evaluator, start: bytes) -> None:
    app, metrics = application(evaluator)
    assert (await call(app, "/validate", chunks(start, end=False))).status == 400
    assert b'result="bad_request"} 1.0' in metrics.exposition()


@pytest.mark.parametrize("raw", [b"", b"null", b"{}", b"[" * 100_000, b"\xff", body(mutated_pod())[:-1]], ids=len)
async def test_what_is_no_review_is_refused_with_a_reason(
    evaluator: Evaluator, raw: bytes, written: io.BytesIO
) -> None:
    app, metrics = application(evaluator)

    answer = await call(app, "/mutate", chunks(raw))

    assert answer.status == 400
    assert answer.body.endswith(b"\n")
    assert answer.body.decode()[:-1].isprintable()
    assert b'usher_reviews_total{endpoint="mutate",result="bad_request"} 1.0' in metrics.exposition()
    (event,) = events(written)
    assert (event["event"], event["endpoint"], event["status"]) == ("request_refused", "mutate", 400)
    assert event["reason"] == answer.body.decode()[:-1]


async def test_a_flood_of_bad_requests_leaves_one_line(evaluator: Evaluator, written: io.BytesIO) -> None:
    app, metrics = application(evaluator)

    for _ in range(50):
        await call(app, "/validate", chunks(b"nonsense"))

    (event,) = events(written)
    assert event["similar"] == 0
    assert b'usher_reviews_total{endpoint="validate",result="bad_request"} 50.0' in metrics.exposition()


def test_the_next_line_says_how_many_were_left_out(written: io.BytesIO) -> None:
    times = iter((0.0, 1.0, 2.0, 11.0))
    refusals = logs.Refusals(clock=lambda: next(times))
    for _ in range(4):
        refusals.log("validate", 400, "nonsense")

    assert [event["similar"] for event in events(written)] == [0, 2]


async def test_the_decision_log_names_the_object_and_never_shows_it(evaluator: Evaluator, written: io.BytesIO) -> None:
    app, _ = application(evaluator)
    value = pod(
        container(env={"PASSWORD": SECRET, "NVIDIA_VISIBLE_DEVICES": "all"}, args=[SECRET]),
        annotations={"example.com/token": SECRET},
        labels={"token": SECRET},
    )

    for endpoint in ("/validate", "/mutate"):
        request = body(
            value, operation="UPDATE", old_value=value, dryRun=True, subResource="status", resource={"version": "v1"}
        )
        assert (await call(app, endpoint, chunks(request))).status == 200

    assert SECRET.encode() not in written.getvalue()
    validated, mutated = events(written)
    assert all(validated.pop(field) for field in ("milliseconds", "timestamp"))
    assert validated.pop("phases").keys() == {"queued", "read", "decided"}
    assert validated == {
        "event": "decision",
        "level": "info",
        "uid": UID,
        "endpoint": "validate",
        "operation": "UPDATE",
        "apiGroup": "",
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": "ml-research",
        "name": "example",
        "allowed": True,
        "user": "alice",
        "groups": ["system:authenticated"],
        "subResource": "status",
        "dryRun": True,
        "findings": {"visible-devices-set-by-hand": "warn"},
    }
    assert mutated["endpoint"] == "mutate"


async def test_hostile_names_are_logged_shortly_and_move_no_cursor(evaluator: Evaluator, written: io.BytesIO) -> None:
    app, _ = application(evaluator)
    hostile = '\x1b[2J\n{"event":"decision"}\u202e\x9b\u2028' + "x" * 100_000
    fields = {"uid": hostile, "name": hostile, "namespace": hostile, "subResource": hostile, "kind": {"kind": hostile}}

    assert (await call(app, "/validate", chunks(body(mutated_pod(), **fields)))).status == 200

    assert written.getvalue().decode().removesuffix("\n").isprintable()
    assert len(written.getvalue()) < 2048
    (event,) = events(written)
    assert event["name"].startswith('\ufffd[2J\ufffd{"event":"decision"}\ufffd\ufffd\ufffdxxx')
    assert len(event["name"]) == 253


async def test_conflicts_are_logged_shortly(written: io.BytesIO) -> None:
    containers = [container(f"main-{number}") for number in range(100)]
    intents: list[paths.Json] = [
        {
            "mutation": mutation,
            "intent": {
                "at": f"/spec/containers/{number}",
                "field": "environment",
                "value": {"name": "A", "value": mutation},
                "reason": "test",
            },
        }
        for number in range(100)
        for mutation in ("a/b", "c/d")
    ]
    app, metrics = application(engines.evaluator(engines.ScriptedEngine(lambda _: engines.result(intents=intents))))

    assert (await call(app, "/mutate", chunks(body(pod(*containers))))).status == 200

    (event,) = events(written)
    assert len(event["conflicts"]) == 20
    assert event["conflicts"][0] == "env at spec.containers[0] left as it is: different values from a/b and c/d"
    assert b"usher_mutation_conflicts_total 100.0" in metrics.exposition()


class QuotaOf:
    """An admission that knows a quota for some namespaces, and never answers."""

    def __init__(self, *namespaces: str) -> None:
        self._namespaces = namespaces

    def may_charge(self, namespace: str) -> bool:
        return namespace in self._namespaces


def beside_a_cluster(evaluator: Evaluator, *namespaces: str) -> Reviews:
    return Reviews(
        current=Current(evaluator, file=None, make=lambda _: evaluator),
        metrics=Metrics(engine="wasm", revision="test"),
        stopping=lambda: False,
        admission=cast(Admission, QuotaOf(*namespaces)),
    )


@pytest.mark.parametrize(
    ("namespace", "said", "request_", "expected"),
    [
        ("ml-research", "ml-research", {}, True),
        ("queued", "queued", {}, False),
        ("queued", "other", {}, False),
        ("ml-research", "ml-research", {"subResource": "scale"}, False),
    ],
    ids=["no quota", "a quota", "a quota of the object's namespace", "a scale"],
)
def test_beside_a_cluster_a_review_is_answered_at_once_where_it_has_nothing_to_wait_for(
    evaluator: Evaluator, namespace: str, said: str, request_: dict[str, Any], expected: bool
) -> None:
    value = mutated_pod(namespace=namespace)
    if "subResource" in request_:
        value = custom("autoscaling/v1", "Scale", {"replicas": 3}, name="web", namespace=namespace)
        request_ = {**request_, "resource": {"group": "apps", "version": "v1", "resource": "deployments"}}
    sent, got = body(value, **request_, namespace=said), list[bytes]()

    app = beside_a_cluster(evaluator, "queued")
    assert app.answer_at_once(asked("/validate", [length(sent)]), sent, got.append) == expected
    assert len(got) == expected
