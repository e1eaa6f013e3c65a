"""Questions to Prometheus over HTTP, and the errors about answers that cannot be trusted."""

import base64
import contextlib
import http.server
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest

from builders import usage as build
from e2e import ports, processes
from usher import errors
from usher.audit.prometheus import endpoint, promql_source
from usher.audit.prometheus.promql_source import Client, PrometheusSource, TooMuchError
from usher.audit.usage.measuring import measure
from usher.config.models import Audit

pytestmark = pytest.mark.process

START: Final = 1_772_409_600
ASKED: Final = promql_source.Range(start=START, step=60, points=100)

Answer = tuple[int, dict[str, str], bytes]


class Server(http.server.ThreadingHTTPServer):
    """Answers by a function of the query, and remembers the headers of each request."""

    daemon_threads = True
    answer: Callable[[dict[str, list[str]]], Answer]

    def __init__(self) -> None:
        super().__init__((processes.LOOPBACK, 0), _Handler)
        self.headers: list[dict[str, str]] = []
        self.queries: list[dict[str, list[str]]] = []

    @property
    def url(self) -> str:
        return f"http://{processes.LOOPBACK}:{self.server_address[1]}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        self.server.headers.append(dict(self.headers.items()))
        self.server.queries.append(query)
        status, headers, body = self.server.answer(query)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        # The client hangs up on what is too large.
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


def client(server: Server, **options: Any) -> Client:
    return Client(endpoint.read_address(server.url, environment={}), wait=lambda _: None, **options)


def matrix(*series: Any, warnings: list[str] | None = None) -> Answer:
    value = {"status": "success", "data": {"resultType": "matrix", "result": list(series)}, "warnings": warnings or []}
    return 200, {"Content-Type": "application/json"}, orjson.dumps(value)


def constant(query: dict[str, list[str]]) -> Answer:
    """A series that is 1 at each point that is asked for."""
    start, end, step = (int(query[key][0]) for key in ("start", "end", "step"))
    return matrix({"metric": {"gpu": "0"}, "values": [[at, "1"] for at in range(start, end + 1, step)]})


def test_a_range_has_its_points_and_no_others(server: Server) -> None:
    server.answer = constant

    (row,) = promql_source.read_range(client(server), "up", ASKED).rows

    assert row.labels == {"gpu": "0"}
    assert (row.first, list(row.values)) == (0, [1.0] * 100)
    assert server.queries == [{"query": ["up"], "start": [str(START + 60)], "end": [str(START + 6000)], "step": ["60"]}]


def test_a_range_of_more_points_than_prometheus_answers_is_split(server: Server) -> None:
    server.answer = constant
    asked = promql_source.Range(start=START, step=15, points=25_000)

    (row,) = promql_source.read_range(client(server), "up", asked).rows

    assert list(row.values) == [1.0] * 25_000
    assert len(server.queries) == 4


@pytest.mark.parametrize("reason", ["too large for usher", "too many samples for Prometheus", "a proxy that gives up"])
def test_a_part_that_is_too_much_is_asked_for_in_halves(server: Server, reason: str) -> None:
    def answer(query: dict[str, list[str]]) -> Answer:
        if int(query["end"][0]) - int(query["start"][0]) < 3000:
            return constant(query)
        if reason == "too large for usher":
            return 200, {}, b" " * 2**20
        status = 422 if reason.startswith("too many") else 504
        return status, {}, orjson.dumps({"status": "error", "errorType": "execution", "error": reason})

    server.answer = answer

    (row,) = promql_source.read_range(client(server, largest_answer=2**16), "up", ASKED).rows

    assert list(row.values) == [1.0] * 100


def test_an_answer_without_end_is_not_read_to_its_end(server: Server) -> None:
    server.answer = lambda _: (200, {}, b"[" * 2**22)

    with pytest.raises(TooMuchError, match="the answer has more than 1 MiB"):
        promql_source.read_range(client(server, largest_answer=2**20), "up", ASKED)
    assert len(server.queries) <= 8


def test_series_with_more_samples_than_fit_are_refused(server: Server) -> None:
    server.answer = constant

    with pytest.raises(errors.PrometheusError, match="more than 99 samples; choose a shorter --window or a longer"):
        promql_source.read_range(client(server), "up", ASKED, most_samples=99)


def test_two_far_samples_count_with_the_points_between(server: Server) -> None:
    server.answer = lambda _: matrix({"metric": {}, "values": [[START + 60, "1"], [START + 6000, "1"]]})

    with pytest.raises(errors.PrometheusError, match="more than 50 samples"):
        promql_source.read_range(client(server), "up", ASKED, most_samples=50)


def _refused(status: int, **value: str) -> Answer:
    return status, {}, orjson.dumps({"status": "error", **value})


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            _refused(400, error="parse error:\n\x1b[31m" + "x" * 999),
            r"refuses the query \(HTTP 400\): parse error: \[31mx+\.\.\.$",
        ),
        ((401, {}, b"Unauthorized"), r"does not accept the credentials \(HTTP 401\); see --prometheus-token-file"),
        ((403, {}, b""), "does not accept the credentials"),
        ((302, {"Location": "http://elsewhere/"}, b""), r"redirects \(HTTP 302\); give --prometheus the URL"),
        ((200, {}, b"<html>Sign in</html>"), "is not that of Prometheus"),
        ((200, {}, b"[]"), "is not that of Prometheus"),
        ((200, {}, b"[" * 100_000), "is not that of Prometheus"),
        (
            (404, {}, b"<html>not found</html>"),
            r"\(HTTP 404\) is not that of Prometheus; write the URL that comes before",
        ),
        (
            (500, {}, b"<html>Internal error</html>"),
            r"it fails \(HTTP 500\); look at its log, or at that of the gateway",
        ),
        (_refused(500, error="no space left"), r"refuses the query \(HTTP 500\): no space left"),
        ((502, {}, b"<html>Bad gateway</html>"), r"a gateway before it does not reach it \(HTTP 502\)"),
        ((503, {}, b"busy"), r"takes too much \(HTTP 503\)"),
        ((503, {"Retry-After": "1"}, b"busy"), r"it stays busy \(HTTP 503\); try again when it has less to do"),
        (_refused(429, error="rate limit"), r"it stays busy \(HTTP 429\): rate limit; try again when"),
        ((200, {}, b'{"status": "success"}'), "it has no matrix"),
        ((200, {}, b'{"status": "success", "data": {"resultType": "vector", "result": []}}'), "it has no matrix"),
        (matrix(1), "a series is not an object"),
        (matrix({"metric": [], "values": []}), "the labels of a series are not an object"),
        (matrix({"metric": {"a": 1}, "values": []}), "a label is not a text"),
        (matrix({"metric": {"a": "x" * 5000}, "values": []}), "a label is not a text, or too long"),
        (matrix({"metric": {}, "values": {}}), "are not a list of the range"),
        (matrix({"metric": {}, "values": [[1]]}), "a sample is not a time and a number"),
        (matrix({"metric": {}, "values": [["NaN", "1"]]}), "a sample is not a time and a number"),
        (matrix({"metric": {}, "values": [[1e308, "1"]]}), "outside of the range|not a time and a number"),
        (matrix({"metric": {}, "values": [[START, "1"]]}), "a sample is outside of the range"),
        (matrix({"metric": {}, "values": [[START + 60, "much"]]}), "a sample is not a time and a number"),
    ],
)
def test_an_answer_that_cannot_be_used_is_an_error_that_says_why(server: Server, answer: Answer, message: str) -> None:
    server.answer = lambda _: answer

    with pytest.raises(errors.PrometheusError, match=message) as found:
        promql_source.read_range(client(server), "up", ASKED)
    assert str(found.value).startswith(f"Prometheus at {server.url}: ")
    assert str(found.value).isprintable()


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_gets_the_time_that_it_asks_for(server: Server, status: int) -> None:
    waits: list[float] = []
    found = Client(endpoint.read_address(server.url, environment={}), wait=waits.append)
    server.answer = lambda query: (
        constant(query) if len(server.queries) > 3 else (status, {"Retry-After": str(len(server.queries) * 20)}, b"")
    )

    (row,) = promql_source.read_range(found, "up", ASKED).rows

    assert list(row.values) == [1.0] * 100
    assert waits == [20.0, 30.0, 30.0]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((429, {}, b""), [0.5, 1.0, 2.0, 4.0, 8.0]),
        ((503, {"Retry-After": "86400"}, b""), [30.0] * 5),
        # The query may be what takes too long, so it is asked in halves: 100 points, 50 and 25.
        ((504, {}, b""), [0.5] * 3),
    ],
)
def test_a_server_that_stays_busy_is_given_up(server: Server, answer: Answer, expected: list[float]) -> None:
    waits: list[float] = []
    server.answer = lambda _: answer

    with pytest.raises(errors.PrometheusError):
        promql_source.read_range(
            Client(endpoint.read_address(server.url, environment={}), wait=waits.append), "up", ASKED
        )

    assert waits == expected


class Clock:
    """Shows a later time with each look."""

    def __init__(self, *, step: float) -> None:
        self._now, self._step = 0.0, step

    def __call__(self) -> float:
        self._now += self._step
        return self._now


def test_all_questions_together_take_an_hour_at_most(server: Server) -> None:
    server.answer = constant
    found = client(server, clock=Clock(step=50))
    asked = promql_source.Range(start=START, step=15, points=11_000 * 100)

    with pytest.raises(
        errors.PrometheusError, match="usher has asked it for an hour, and asks no more; choose a short"
    ):
        promql_source.read_range(found, "up", asked, most_samples=10**9)

    assert 5 < len(server.queries) < 73


def test_an_answer_that_comes_byte_by_byte_is_not_waited_for(server: Server) -> None:
    class Slow(_Handler):
        def do_GET(self) -> None:
            super().do_GET()
            with contextlib.suppress(OSError):
                while not threading.Event().wait(0.01):
                    self.wfile.write(b" ")

    server.RequestHandlerClass = Slow
    server.answer = lambda _: (200, {"Content-Length": str(2**20)}, b"{")

    with pytest.raises(TooMuchError, match="the answer takes more than 120 s"):
        client(server, clock=Clock(step=20)).get("/api/v1/query_range", {})


def test_infinite_values_are_gaps_and_warnings_are_kept(server: Server) -> None:
    values = [[START + 60, "NaN"], [START + 120, "+Inf"], [START + 180, "2"]]
    server.answer = lambda _: matrix({"metric": {}, "values": values}, warnings=["store \x1b[0m a is down"])

    found = promql_source.read_range(client(server), "up", ASKED)

    (row,) = found.rows
    assert [str(value) for value in row.values] == ["nan", "nan", "2.0"]
    assert found.warnings == ("store [0m a is down",)


def test_a_server_that_repeats_credentials_does_not_put_them_into_the_report(server: Server) -> None:
    secrets = {"USHER_PROMETHEUS_TOKEN": "token-4711", "USHER_PROMETHEUS_HEADERS": "X-Api-Key=key-0815"}
    found = Client(endpoint.read_address(server.url, environment=secrets))

    server.answer = lambda _: _refused(400, error="bad token token-4711 and key-0815")
    with pytest.raises(errors.PrometheusError, match=r"bad token \*\*\* and \*\*\*$"):
        promql_source.read_range(found, "up", ASKED)
    server.answer = lambda _: matrix(warnings=["user of token-4711"])
    assert promql_source.read_range(found, "up", ASKED).warnings == ("user of ***",)


def test_a_partial_answer_of_victoriametrics_is_a_warning(server: Server) -> None:
    value = {"status": "success", "isPartial": True, "data": {"resultType": "matrix", "result": []}}
    server.answer = lambda _: (200, {}, orjson.dumps(value))

    assert "partial" in promql_source.read_range(client(server), "up", ASKED).warnings[0]


def test_a_prometheus_that_is_down_is_an_error() -> None:
    (port,) = ports.free(1)
    found = Client(endpoint.read_address(f"http://{processes.LOOPBACK}:{port}", environment={}))

    with pytest.raises(errors.PrometheusError, match=f"{port}: it cannot be reached: .*Connection refused"):
        promql_source.read_range(found, "up", ASKED)


def _sent(server: Server, url: str = "", **options: Any) -> str:
    server.answer = constant
    promql_source.read_range(
        Client(endpoint.read_address(url or server.url, **{"environment": {}, **options})), "up", ASKED
    )
    return server.headers[-1].get("Authorization", "")


def test_credentials_are_sent_and_never_shown(server: Server, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    with_user = server.url.replace("http://", "http://me:p%40ss@")

    assert _sent(server) == ""
    assert _sent(server, token_file=token) == "Bearer secret"
    assert _sent(server, environment={"USHER_PROMETHEUS_TOKEN": "other"}) == "Bearer other"
    assert _sent(server, with_user) == "Basic " + base64.b64encode(b"me:p@ss").decode()
    shown = endpoint.read_address(with_user, environment={"USHER_PROMETHEUS_TOKEN": "other"})
    assert shown.url == server.url
    assert "ss" not in repr(shown).replace("Address", "").replace("pass", "")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "prometheus:9090",
        "ftp://p",
        "file:///etc/passwd",
        "http://",
        "http://p:99999",
        "http://p/?a=b",
        "http://[::1",
        "http://p/\n",
    ],
)
def test_a_url_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(errors.InputError, match="--prometheus: write the URL of Prometheus without query"):
        endpoint.read_address(url, environment={})


def test_files_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    empty, binary = tmp_path / "empty", tmp_path / "binary"
    empty.write_text("\n")
    binary.write_bytes(b"\xff\xfe")
    for file, message in (
        (tmp_path / "missing", "the token cannot be read"),
        (binary, "the token cannot be read"),
        (empty, "a token has 1 to 65536 bytes"),
    ):
        with pytest.raises(errors.InputError, match=message):
            endpoint.read_address("http://p", token_file=file, environment={})
    with pytest.raises(errors.InputError, match="one line of ASCII characters"):
        endpoint.read_address("http://p", environment={"USHER_PROMETHEUS_TOKEN": "a\nb"})
    for file in (tmp_path / "missing", empty):
        with pytest.raises(errors.InputError, match="CA certificates cannot be read"):
            endpoint.read_address("https://p", ca_file=file, environment={})


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ((401, {}, b"no"), "it does not accept the credentials (HTTP 401)"),
        ((200, {}, b"<html>"), "is not that of Prometheus"),
    ],
)
def test_an_audit_goes_on_without_usage_and_says_why(server: Server, answer: Answer, problem: str) -> None:
    server.answer = lambda _: answer
    found = build.estate_of([build.node("n1")], build.workload("train", build.pod("train-0")))
    day = timedelta(days=1)

    measured = measure(found, PrometheusSource(client(server)), config=Audit(), window=day, now=build.BASE + day)

    assert len(server.queries) == 1
    assert measured.total.gpus_now == 1
    assert measured.total.allocated is None
    assert measured.measurement.source == "prometheus"
    assert problem in measured.measurement.problems[0]
