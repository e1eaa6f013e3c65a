"""The second engine against servers that answer as no OPA would: always an error of ours, and never late."""

import contextlib
import gzip
import socket
import threading
from pathlib import Path

import orjson
import pytest

from clocks import Clock
from e2e import ports
from unit.policy.engines.hostile_http import BOUND, REVISION, Behaviour, Conversation, answer, serving
from usher import errors, paths
from usher.policy.engines import opa
from usher.policy.engines.engine import Entrypoint
from usher.policy.engines.opa import RESPONSE_LIMIT, Breaker, OpaEngine, Server

pytestmark = pytest.mark.costly

RESULT: paths.Object = {"version": 1, "findings": []}
GOOD = answer(orjson.dumps({"result": RESULT}))


def connected(url: str, *, deadline: float = BOUND, breaker: Breaker | None = None) -> "contextlib.closing[OpaEngine]":
    engine = OpaEngine(
        Server(url=url), revision=REVISION, deadline=deadline, breaker=breaker or Breaker("OPA", failures=1000)
    )
    return contextlib.closing(engine)


def ask(engine: OpaEngine, document: bytes = b"{}") -> paths.Object:
    return engine.evaluate(Entrypoint.FINDINGS, document)


def says(data: bytes, *, close: bool = False) -> Behaviour:
    def behaviour(talk: Conversation) -> None:
        talk.read_body()
        talk.send(data)
        if close:
            talk.connection.shutdown(socket.SHUT_RDWR)

    return behaviour


def test_the_hostile_server_could_be_an_honest_one() -> None:
    with serving(says(GOOD)) as server, connected(server.url) as engine:
        assert ask(engine) == RESULT


# Answers that are none


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(answer(b"{}"), "undefined", id="no result"),
        pytest.param(answer(b'{"result": null}'), "answered with no object", id="null"),
        pytest.param(answer(b'{"result": [{"version": 1}]}'), "answered with no object", id="a list"),
        pytest.param(answer(b'{"result": {}}'), "expected 1", id="no version"),
        pytest.param(answer(b'{"result": {"version": 2}}'), "expected 1", id="another version"),
        pytest.param(answer(b'[{"result": {"version": 1}}]'), "undefined", id="no object"),
        pytest.param(answer(b""), "no usable answer", id="nothing"),
        pytest.param(answer(b"<html>"), "no usable answer", id="HTML"),
        pytest.param(answer(b"[" * 500_000), "no usable answer", id="endless nesting"),
        pytest.param(answer(b"\xff\xfe\x80" * 300_000, headers=b""), "no usable answer", id="noise"),
        pytest.param(
            answer(gzip.compress(b'{"result": {"version": 1}}'), headers=b"Content-Encoding: gzip\r\n"),
            "no usable answer",
            id="packed",
        ),
        pytest.param(answer(b'{"code": "internal_error"}', status="500 Oops"), "HTTP 500: .*internal_err", id="500"),
        pytest.param(answer(b"\x1b[31m\n", status="503 Busy"), r"HTTP 503: '\\x1b\[31m\\n'", id="503"),
        pytest.param(answer(b"", status="401 Who"), "HTTP 401", id="401"),
        pytest.param(answer(b"x" * (RESPONSE_LIMIT + 1)), "larger than 1048576 bytes", id="a byte too many"),
        pytest.param(
            answer(b"x" * 2 * RESPONSE_LIMIT, status="500 Oops"), "larger than 1048576 bytes", id="a large 500"
        ),
    ],
)
def test_an_invalid_answer_is_an_error(data: bytes, message: str) -> None:
    refused = pytest.raises(errors.EngineError, match=message)

    with serving(says(data)) as server, connected(server.url) as engine, refused as caught:
        ask(engine)

    assert not isinstance(caught.value, errors.DeadlineError)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"x" * 100_000,
    ],
    ids=["nothing", "another protocol", "half an answer", "no chunks", "an endless header"],
)
def test_a_connection_that_ends_early_is_an_error_and_is_not_tried_again(data: bytes) -> None:
    with serving(says(data, close=True)) as server, connected(server.url) as engine:
        with pytest.raises(errors.EngineError, match="no usable answer"):
            ask(engine)

        assert len(server.heads) == 1


def test_a_port_without_a_server_is_an_error() -> None:
    (port,) = ports.free(1)

    with connected(f"http://127.0.0.1:{port}") as engine, pytest.raises(errors.EngineError, match="no usable answer"):
        ask(engine)


def test_of_an_answer_without_end_no_more_is_taken_than_the_limit() -> None:
    sent = 0
    gone = threading.Event()

    def flood(talk: Conversation) -> None:
        nonlocal sent
        talk.read_body()
        try:
            talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (50 * RESPONSE_LIMIT))
            for _ in range(50):
                talk.send(b"x" * RESPONSE_LIMIT)
                sent += 1
        finally:
            gone.set()

    with serving(flood) as server, connected(server.url) as engine:
        with pytest.raises(errors.EngineError, match="larger than 1048576 bytes"):
            ask(engine)
        assert gone.wait(BOUND)

    assert sent < 50


# Time


# All of them answer well in the end, so that whoever waits for them is found out.


def silent(talk: Conversation) -> None:
    talk.read_body()
    talk.hang()
    talk.send(GOOD)


def deaf(talk: Conversation) -> None:
    talk.hang()
    talk.read_body()
    talk.send(GOOD)


def trickles_its_header(talk: Conversation) -> None:
    talk.read_body()
    talk.trickle(b"HTTP/1.1 200 OK\r\nA: " + b"x" * 3000)
    talk.send(b"\r\n" + GOOD.partition(b"\r\n")[2])


def trickles_its_body(talk: Conversation) -> None:
    talk.read_body()
    slow = answer(b" " * 3000 + orjson.dumps({"result": RESULT}))
    talk.send(slow[:100])
    talk.trickle(slow[100:])


def always_about_to_answer(talk: Conversation) -> None:
    talk.read_body()
    for _ in range(3000):
        if talk.ended.wait(0.01):
            return
        talk.send(b"HTTP/1.1 100 Continue\r\n\r\n")
    talk.send(GOOD)


@pytest.mark.parametrize(
    "behaviour",
    [silent, trickles_its_header, trickles_its_body, always_about_to_answer],
    ids=lambda each: each.__name__,
)
def test_a_server_that_takes_its_time_is_left_at_the_deadline_and_the_next_call_works(behaviour: Behaviour) -> None:
    calls = 0

    def once(talk: Conversation) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            behaviour(talk)
        else:
            says(GOOD)(talk)

    with serving(once) as server, connected(server.url, deadline=1.0) as engine:
        with pytest.raises(errors.DeadlineError, match=r"took longer than 1 s"):
            ask(engine)

        assert ask(engine) == RESULT


def test_a_server_that_does_not_listen_is_left_at_the_deadline() -> None:
    document = orjson.dumps({"labels": "x" * 32 * 2**20})  # more than the kernel takes off our hands

    late = pytest.raises(errors.DeadlineError)

    with serving(deaf) as server, connected(server.url, deadline=1.0) as engine, late:
        ask(engine, document)


def test_a_server_that_never_begins_tls_is_left_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"https://127.0.0.1:{listening.getsockname()[1]}"
        with connected(url, deadline=0.3) as engine, pytest.raises(errors.DeadlineError):
            ask(engine)


def test_a_slow_name_resolution_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()

    def look_up(*_: object, **__: object) -> list[object]:
        if not answered.wait(BOUND):
            raise AssertionError("the engine waited for the name")
        raise socket.gaierror("too late")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    try:
        with connected("http://opa.example.com:8181", deadline=0.3) as engine, pytest.raises(errors.DeadlineError):
            ask(engine)
    finally:
        answered.set()


def test_calls_that_never_end_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opa, "_THREADS", 2)

    def asking() -> int:
        return sum(thread.name == "usher-opa" for thread in threading.enumerate())

    with serving(always_about_to_answer) as server, connected(server.url, deadline=0.1) as engine:
        before = asking()
        for _ in range(5):
            with pytest.raises(errors.DeadlineError):
                ask(engine)

        assert asking() <= before + 2


def test_a_call_that_goes_on_after_its_deadline_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    really = socket.getaddrinfo

    def look_up(_: str, port: int, *__: object, **___: object) -> object:
        released.wait(BOUND)
        return really("127.0.0.1", port, type=socket.SOCK_STREAM)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://opa.example.com:{listening.getsockname()[1]}"
        with connected(url, deadline=0.3) as engine, pytest.raises(errors.DeadlineError):
            ask(engine)
        released.set()
        listening.settimeout(BOUND)
        late, _ = listening.accept()
        with late:
            late.settimeout(BOUND)
            while late.recv(65536):
                pass


# One URL


def test_no_input_can_change_the_requested_path_or_method() -> None:
    document = orjson.dumps({"../../v1/policies": "]; x := data", "path": "usher%2fmain/../../system"})
    bodies = []

    def note(talk: Conversation) -> None:
        bodies.append(talk.read_body())
        talk.send(GOOD)

    with serving(note) as server, connected(server.url) as engine:
        ask(engine, document)
        engine.evaluate(Entrypoint.INTENTS, document)

    assert [head.partition(b"\r\n")[0] for head in server.heads] == [
        b"POST /v1/data/usher/main/findings HTTP/1.1",
        b"POST /v1/data/usher/main/intents HTTP/1.1",
    ]
    assert [orjson.loads(body) for body in bodies] == [{"input": orjson.loads(document)}] * 2


def test_a_redirection_is_not_followed() -> None:
    with serving(says(GOOD)) as elsewhere:
        moved = answer(b"", status="307 Moved", headers=f"Location: {elsewhere.url}/v1/data\r\n".encode())
        unusable = pytest.raises(errors.EngineError, match="no usable answer")
        with serving(says(moved)) as server, connected(server.url) as engine, unusable:
            ask(engine)

        assert not elsewhere.heads


def test_neither_proxies_nor_credentials_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret\n")
    (nowhere,) = ports.free(1)
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{nowhere}")

    with serving(says(GOOD)) as server, connected(server.url) as engine:
        assert ask(engine) == RESULT

    assert b"authorization" not in server.heads[0].lower()


def test_no_cookie_is_kept() -> None:
    tracked = answer(orjson.dumps({"result": RESULT}), headers=b"Set-Cookie: id=1\r\n")

    with serving(says(tracked)) as server, connected(server.url) as engine:
        ask(engine)
        ask(engine)

    assert b"cookie" not in server.heads[1].lower()


# The breaker


def test_the_engine_pauses_after_repeated_failures_and_then_tries_once() -> None:
    clock = Clock(0.0)
    healthy = False

    def behaviour(talk: Conversation) -> None:
        says(GOOD if healthy else answer(b"", status="500 Oops"))(talk)

    breaker = Breaker("OPA", failures=3, pause=5.0, clock=clock)
    with serving(behaviour) as server, connected(server.url, breaker=breaker) as engine:
        for _ in range(3):
            with pytest.raises(errors.EngineError, match="HTTP 500"):
                ask(engine)
        for attempt in (ask, ask, OpaEngine.ready):
            with pytest.raises(errors.EngineError, match=r"failed 3 times in a row; the next attempt is in 5\.0 s"):
                attempt(engine)
        assert len(server.heads) == 3

        clock.now += 5.0
        with pytest.raises(errors.EngineError, match="HTTP 500"):
            ask(engine)
        with pytest.raises(errors.EngineError, match="next attempt"):
            ask(engine)
        assert len(server.heads) == 4

        healthy = True
        clock.now += 5.0
        assert ask(engine) == RESULT
        assert ask(engine) == RESULT
