"""The second engine against a real OPA."""

import contextlib
import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pytest

import opa_server
from e2e import ports
from unit.server.certs import directories
from usher import errors, paths
from usher.policy.engines.engine import Entrypoint
from usher.policy.engines.opa import Breaker, OpaEngine, Server

pytestmark = opa_server.needs_opa

BOUND = 60.0
"""Seconds that a call may take where the test is not about time."""

REVISION = "0123456789abcdef"

POLICY = """
package usher.main

revision := "REVISION"

findings := {"version": 1, "echo": input.value} if input.does == "echo"

findings := {"version": 1, "found": found} if {
	input.does == "loop"
	many := numbers.range(1, 1000)
	found := [1 | some a in many; some b in many; some c in many; some d in many; a < b; b < c; c < d; d < a]
}

findings := {"version": 1, "which": which} if {
	input.does == "contradict"
	some which in [1, 2]
}

intents := {"version": 1, "intents": []}
"""

AUTHORIZATION = """
package system.authz

default allow := false

allow if input.path == ["health"]

allow if input.identity == "let-me-in"

allow if input.identity == "let-me-in-again"
"""


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("policy") / "policy.rego"
    file.write_text(POLICY.replace("REVISION", REVISION))
    return file


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, policy: Path) -> Iterator[str]:
    """A real OPA with that policy."""
    with opa_server.running(tmp_path_factory.mktemp("opa"), policy) as url:
        yield url


def connected(
    url: str,
    *,
    deadline: float = BOUND,
    revision: str = REVISION,
    ca_file: Path | None = None,
    token_file: Path | None = None,
) -> "contextlib.closing[OpaEngine]":
    server = Server(url=url, ca_file=ca_file, token_file=token_file)
    breaker = Breaker("OPA", failures=1000)  # test_opa_faults.py is about breakers
    return contextlib.closing(OpaEngine(server, revision=revision, deadline=deadline, breaker=breaker))


def ask(engine: OpaEngine, does: str, value: paths.Json = None) -> paths.Object:
    return engine.evaluate(Entrypoint.FINDINGS, orjson.dumps({"does": does, "value": value}))


@pytest.mark.parametrize("value", [None, "\x00 ü € 😀 \u2028", {"a": [1, 2.5, True, 9007199254740993]}], ids=ascii)
def test_the_answer_is_that_of_the_policy(url: str, value: paths.Json) -> None:
    with connected(url) as engine:
        assert ask(engine, "echo", value) == {"version": 1, "echo": value}
        assert engine.evaluate(Entrypoint.INTENTS, b"{}") == {"version": 1, "intents": []}


def test_many_threads_ask_at_once_and_each_gets_its_own_answers(url: str) -> None:
    def work(name: int) -> list[paths.Json]:
        return [ask(engine, "echo", f"{name}/{number}")["echo"] for number in range(20)]

    with connected(url) as engine, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(work, range(8)))

    assert answers == [[f"{name}/{number}" for number in range(20)] for name in range(8)]


def test_a_policy_that_loops_costs_no_more_than_the_deadline(url: str) -> None:
    late = pytest.raises(errors.DeadlineError, match=rf"OPA at {url} took longer than 0\.3 s")

    with connected(url, deadline=0.3) as engine, late:
        ask(engine, "loop")


def test_a_contradiction_is_an_error_that_says_what_opa_said(url: str) -> None:
    with connected(url) as engine, pytest.raises(errors.EngineError, match=r"HTTP 500: .*internal_error"):
        ask(engine, "contradict")


def test_an_undefined_rule_is_an_error_that_says_what_to_do(url: str) -> None:
    with (
        connected(url) as engine,
        pytest.raises(errors.EngineError, match=r"findings is undefined in OPA .*: load the"),
    ):
        ask(engine, "nothing that the policy knows")


def test_a_server_with_our_policies_is_ready(url: str) -> None:
    with connected(url) as engine:
        engine.ready()

        assert ask(engine, "echo", "a")["echo"] == "a"


def test_a_server_with_policies_of_another_revision_is_never_believed(url: str) -> None:
    with connected(url, revision="fedcba9876543210") as engine:
        for attempt in (engine.ready, lambda: ask(engine, "echo")):
            with pytest.raises(errors.EngineError, match=r"revision '0123456789abcdef', .* needs fedcba9876543210"):
                attempt()


def test_a_server_that_comes_back_without_policies_is_not_believed_until_it_has_them_again(
    tmp_path: Path, policy: Path
) -> None:
    (port,) = ports.free(1)
    with connected(f"http://127.0.0.1:{port}") as engine:
        with opa_server.running(tmp_path, policy, port=port):
            assert ask(engine, "echo", 1)["echo"] == 1
        with pytest.raises(errors.EngineError, match="no usable answer"):
            ask(engine, "echo")
        with opa_server.running(tmp_path, port=port):
            for attempt in (engine.ready, lambda: ask(engine, "echo")):
                with pytest.raises(errors.EngineError, match="undefined"):
                    attempt()
        with opa_server.running(tmp_path, policy, port=port):
            engine.ready()
            assert ask(engine, "echo", 2)["echo"] == 2


def test_tls_is_verified_by_the_given_authority(tmp_path: Path, policy: Path) -> None:
    issued = directories.written(tmp_path / "server")
    directories.written(tmp_path / "other")
    files = ("--tls-cert-file", tmp_path / "server/tls.crt", "--tls-private-key-file", tmp_path / "server/tls.key")
    trusting = ssl.create_default_context(cadata=issued.files["ca.crt"].decode())

    with opa_server.running(tmp_path, policy, arguments=files, tls=trusting) as url:
        with connected(url, ca_file=tmp_path / "server/ca.crt") as engine:
            assert ask(engine, "echo", 1)["echo"] == 1
        for other in (None, tmp_path / "other/ca.crt"):
            with connected(url, ca_file=other) as engine, pytest.raises(errors.EngineError, match="SSLError"):
                ask(engine, "echo")


def test_the_token_is_read_again_for_every_call_and_never_shown(tmp_path: Path, policy: Path) -> None:
    authorization, token = tmp_path / "authz.rego", tmp_path / "token"
    authorization.write_text(AUTHORIZATION)
    token.write_text("let-me-in\n")
    guarded = ("--authentication", "token", "--authorization", "basic")

    server = opa_server.running(tmp_path, policy, authorization, arguments=guarded)
    with server as url, connected(url, token_file=token) as engine:
        assert ask(engine, "echo", 1)["echo"] == 1
        token.write_text("let-me-in-again\n")
        assert ask(engine, "echo", 2)["echo"] == 2
        token.write_text("outdated")
        with pytest.raises(errors.EngineError, match="HTTP 401") as refused:
            ask(engine, "echo")
        assert "outdated" not in str(refused.value)
        token.unlink()
        with pytest.raises(errors.EngineError, match="the token for OPA cannot be read"):
            ask(engine, "echo")


@pytest.mark.parametrize("text", ["", "\n", "two\nlines", "ünïcode"], ids=ascii)
def test_a_file_that_holds_no_token_is_refused_at_once(tmp_path: Path, text: str) -> None:
    token = tmp_path / "token"
    token.write_text(text)

    with pytest.raises(errors.EngineError, match="token"):
        connected("http://127.0.0.1:8181", token_file=token)


def test_a_file_that_holds_no_authority_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "ca.crt"
    for content in (None, "no certificate"):
        if content is not None:
            file.write_text(content)
        with pytest.raises(errors.CertificateError, match=r"ca\.crt"):
            connected("https://127.0.0.1:8181", ca_file=file)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8181",
        "http://",
        "http://opa",
        "http://opa:0x10",
        "http://opa:99999",
        "ftp://opa:8181",
        "unix:///run/opa.sock",
        "http://opa:8181/v1/data",
        "http://opa:8181/?pretty",
        "http://opa:8181/#usher",
        "http://user:password@opa:8181",
        "http://[::1:8181",
    ],
)
def test_only_scheme_host_and_port_make_a_url(url: str) -> None:
    with pytest.raises(errors.InputError, match="is not a URL of an OPA server"):
        connected(url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8181/", "https://opa.example.com:443", "http://[::1]:8181"])
def test_a_good_url_is_taken_and_nothing_is_sent_yet(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[object] = []

    def refuse(*where: object, **_: object) -> None:
        looked_up.append(where)
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", refuse)

    with connected(url) as engine:
        assert looked_up == []
        with pytest.raises(errors.EngineError):
            engine.ready()

    assert looked_up
