"""Traces of reviews: the content and the parent of a span, and the bounds for strangers."""

import contextlib
import io
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any, cast

import pytest

import builders
from reviews import UID, body
from unit.server.asgi import JSON, call, chunks
from unit.server.test_reviews import evaluator, failing, written
from usher import errors
from usher.authorities.gpu_quota.live.admission import Admission
from usher.policy.evaluator import Evaluator
from usher.server import tracing
from usher.server.metrics import Metrics
from usher.server.reloading import Current
from usher.server.reviews import Reviews
from usher.server.tracing import Parent, Traces

__all__ = ["evaluator", "written"]

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
GOOD = f"00-{TRACE}-{SPAN}-01"


class Spans:
    """Traces whose spans stay in memory."""

    def __init__(self, sampler: str = "always_on", **arguments: Any) -> None:
        trace = pytest.importorskip("opentelemetry.sdk.trace", reason="gpu-usher[tracing] is not installed")
        from opentelemetry.sdk.trace import export, sampling
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        self._exporter = InMemorySpanExporter()
        samplers = {"always_on": sampling.DEFAULT_ON, "always_off": sampling.DEFAULT_OFF}
        provider = trace.TracerProvider(sampler=samplers[sampler], shutdown_on_exit=False)
        provider.add_span_processor(export.SimpleSpanProcessor(self._exporter))
        self.traces = Traces(provider, **arguments)

    @property
    def all(self) -> Sequence[Any]:
        """Finished spans, a review after its steps."""
        found: Sequence[Any] = self._exporter.get_finished_spans()
        return found

    @property
    def review(self) -> Any:
        """The span of the only review."""
        (found,) = [span for span in self.all if span.name.startswith("POST ")]
        return found


def traced(evaluator: Evaluator, spans: Spans, admission: object = None) -> tuple[Reviews, Metrics]:
    metrics = Metrics(engine="wasm", revision="test")
    current = Current(evaluator, file=None, make=lambda _: evaluator)
    app = Reviews(
        current=current,
        metrics=metrics,
        stopping=lambda: False,
        admission=cast(Admission, admission) if admission is not None else None,
        traces=spans.traces,
    )
    return app, metrics


async def ask(app: Reviews, *traceparents: str, waited: float = 0.0) -> int:
    headers = [JSON, *((b"traceparent", value.encode()) for value in traceparents)]
    answer = await call(app, "/validate", chunks(body(builders.pod())), headers=headers, waited=waited)
    return answer.status


async def test_a_review_is_one_span_of_the_trace_of_the_api_server(evaluator: Evaluator, written: io.BytesIO) -> None:
    spans = Spans()
    app, _ = traced(evaluator, spans)

    assert await ask(app, GOOD, waited=0.05) == 200

    review = spans.review
    assert (format(review.context.trace_id, "032x"), format(review.parent.span_id, "016x")) == (TRACE, SPAN)
    assert review.kind.name == "SERVER"
    assert review.attributes["usher.uid"] == UID
    assert (review.attributes["http.route"], review.attributes["http.response.status_code"]) == ("/validate", 200)
    assert (review.attributes["usher.kind"], review.attributes["usher.allowed"]) == ("Pod", True)
    steps = {span.name: span for span in spans.all if span is not review}
    assert steps.keys() == {"queued", "read", "decided"}
    assert {span.parent.span_id for span in steps.values()} == {review.context.span_id}
    assert steps["queued"].end_time - steps["queued"].start_time >= 50_000_000
    assert review.start_time == steps["queued"].start_time
    assert abs(review.end_time / 1e9 - time.time()) < 60
    assert all(review.start_time <= span.start_time <= span.end_time <= review.end_time for span in steps.values())
    (line,) = [json.loads(line) for line in written.getvalue().splitlines()]
    assert line["traceId"] == TRACE


async def test_the_wait_for_a_charge_is_a_step(evaluator: Evaluator) -> None:
    class Quotas:
        async def charge(self, _request: object, *, until: float, force: bool = False) -> None:
            assert (until > 0, force) == (True, False)

        def undoing(self, _request: object) -> contextlib.nullcontext[None]:
            return contextlib.nullcontext()

    spans = Spans()
    app, _ = traced(evaluator, spans, Quotas())

    assert await ask(app) == 200

    assert {"read", "decided", "charge"} <= {span.name for span in spans.all}


@pytest.mark.usefixtures("written")
async def test_a_fault_of_ours_is_an_error_in_the_trace() -> None:
    spans = Spans()
    app, _ = traced(failing(errors.EngineError("the policies stopped")), spans)

    assert await ask(app) == 500

    assert spans.review.status.status_code.name == "ERROR"
    assert spans.review.attributes["http.response.status_code"] == 500


async def test_the_histogram_of_durations_has_the_trace_as_an_exemplar(evaluator: Evaluator) -> None:
    spans = Spans()
    app, metrics = traced(evaluator, spans)

    await ask(app, GOOD)

    prometheus = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3"
    exposed, content_type = metrics.accepted_exposition(prometheus)
    buckets = [
        line for line in exposed.decode().splitlines() if line.startswith("usher_review_duration_seconds_bucket")
    ]
    assert sum(f'# {{trace_id="{TRACE}"}}' in line for line in buckets) == 1
    assert content_type.startswith("application/openmetrics-text; version=1.0.0")
    for other in ("", "text/plain;version=0.0.4", "*/*"):
        plain, content_type = metrics.accepted_exposition(other)
        assert TRACE not in plain.decode()
        assert content_type == "text/plain; version=1.0.0; charset=utf-8"


async def test_a_trace_that_is_not_sampled_leaves_nothing(evaluator: Evaluator) -> None:
    spans = Spans("always_off")
    app, metrics = traced(evaluator, spans)

    await ask(app)
    await ask(app, f"00-{TRACE}-{SPAN}-00")

    assert spans.all == ()
    assert b"trace_id" not in metrics.accepted_exposition("application/openmetrics-text")[0]


def test_the_header_of_an_api_server_names_the_parent() -> None:
    parent = tracing.parent_of([(b"traceparent", GOOD.encode())])

    assert parent == Parent(trace_id=int(TRACE, 16), span_id=int(SPAN, 16), flags=1)


@pytest.mark.parametrize(
    "values",
    [
        (),
        (GOOD, GOOD),
        ("",),
        (GOOD.upper(),),
        (f"ff-{TRACE}-{SPAN}-01",),
        (f"00-{'0' * 32}-{SPAN}-01",),
        (f"00-{TRACE}-{'0' * 16}-01",),
        (f"{GOOD}-more",),
        (f"{GOOD}\n",),
        (f"00-{TRACE}-{SPAN}",),
        (f"00-{'a' * 60_000}-{SPAN}-01",),
        ("00-" + "-" * 60_000,),
    ],
    ids=lambda values: " ".join(values)[:60] or "none",
)
def test_any_other_header_names_no_parent(values: tuple[str, ...]) -> None:
    assert tracing.parent_of([(b"traceparent", value.encode()) for value in values]) is None


async def test_a_stranger_who_wants_everything_traced_gets_a_bounded_number(evaluator: Evaluator) -> None:
    now = [100.0]
    spans = Spans("always_off", clock=lambda: now[0])
    app, _ = traced(evaluator, spans)

    for _ in range(tracing.MOST_IN_SECOND + 20):
        assert await ask(app, GOOD) == 200
    first = sum(span.name.startswith("POST ") for span in spans.all)
    now[0] += 1
    await ask(app, GOOD)

    assert first == tracing.MOST_IN_SECOND
    assert sum(span.name.startswith("POST ") for span in spans.all) == first + 1


async def test_a_fault_of_the_traces_ends_no_review(evaluator: Evaluator, written: io.BytesIO) -> None:
    class Broken:
        def get_tracer(self, *_: str) -> "Broken":
            return self

        def start_span(self, *_: object, **__: object) -> None:
            raise RuntimeError("out of spans")

    app, _ = traced(evaluator, cast(Spans, type("", (), {"traces": Traces(Broken())})))

    assert [await ask(app), await ask(app)] == [200, 200]

    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert sum(line["event"] == "tracing_problem" for line in lines) == 1
    assert sum(line["event"] == "decision" for line in lines) == 2


_LOOK = """
import json, os, sys
from usher.cli import serve
from usher.server import tracing
for given in json.loads(sys.argv[1]):
    os.environ.update(given)
    print(tracing.from_environment() is None, *(f"opentelemetry.{name}" in sys.modules for name in ("sdk", "exporter")))
    for name in given:
        del os.environ[name]
"""


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_SDK_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.costly
@pytest.mark.usefixtures("variables")
def test_without_an_exporter_nothing_is_imported() -> None:
    given = [
        {},
        {"OTEL_SERVICE_NAME": "usher"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1", "OTEL_TRACES_EXPORTER": "none"},
    ]
    looked = [sys.executable, "-c", _LOOK, json.dumps(given)]

    done = subprocess.run(looked, capture_output=True, text=True, check=False, timeout=120)

    assert done.stdout == 4 * "True False False\n", done.stderr


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER is zipkin; usher exports otlp"),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "usher exports http/protobuf"),
    ],
    ids=str,
)
def test_traces_that_cannot_be_made_are_a_line_in_the_log(
    given: dict[str, str], reason: str, variables: pytest.MonkeyPatch, written: io.BytesIO
) -> None:
    """A platform may set these variables for every pod, and no pod of usher may stop for that."""
    for name, value in given.items():
        variables.setenv(name, value)

    assert tracing.from_environment() is None

    (line,) = [json.loads(line) for line in written.getvalue().splitlines()]
    assert (line["event"], line["level"]) == ("tracing_problem", "warning")
    assert reason in line["reason"]


def test_without_the_extra_the_log_says_what_to_install(variables: pytest.MonkeyPatch, written: io.BytesIO) -> None:
    variables.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:1")
    variables.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)

    assert tracing.from_environment() is None

    (line,) = [json.loads(line) for line in written.getvalue().splitlines()]
    assert line["reason"].endswith("is not installed: pip install 'gpu-usher[tracing]'")
