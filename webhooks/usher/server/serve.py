"""Runs both ports until a signal ends it: the webhook port, and the admin port with probes and metrics.

usher remembers a granted right for a minute, so that a scraper costs the API server little. It does not remember
refusals, so that wrong tokens cannot displace granted rights.
"""

import asyncio
import contextlib
import gc
import hashlib
import signal
import time
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Final, Protocol

import orjson
import structlog
import uvloop
from msgspec import Struct
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from usher import errors, paths
from usher.cluster.api import Answer
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.review.admission_review import on_one_line
from usher.server import logs, ports, tracing
from usher.server.certs.serving import RELOAD_INTERVAL, CertificateSource, Checked, watch
from usher.server.live_cluster import Cluster, ClusterParts, bound_arenas, return_memory
from usher.server.metrics import Metrics
from usher.server.ports import Address, Server
from usher.server.reloading import NOTHING_LOADED, Bundles, Current, Looked, MakeEvaluator
from usher.server.reviews import Reviews, measure_lag

Right = paths.Object
"""The attributes of a SubjectAccessReview: `resourceAttributes`, or `nonResourceAttributes`."""

METRICS_PATH: Final = "/metrics"
READ_METRICS: Final[Right] = {"nonResourceAttributes": {"path": METRICS_PATH, "verb": "get"}}
ANY_USER: Final[Right] = {}
"""Any user whom the API server knows."""

_TOKENS: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
_RIGHTS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_LONGEST_TOKEN: Final = 16 * 1024
"""Characters of a token; those of service accounts have about a thousand."""

_REMEMBERED: Final = 64
_SECONDS: Final = 60.0
_QUESTIONS_AT_ONCE: Final = 2
"""Questions to the API server at the same time. Strangers with wrong tokens must not cause more."""

_LOG_AGAIN: Final = 60.0


class Api(Protocol):
    """An API server that reviews tokens and rights."""

    def post(self, path: str, value: paths.Object) -> Answer:
        """The answer to a POST request, with any status. Raises ClusterError without one."""
        ...


class Access:
    """Asks the API server about the bearer tokens of clients."""

    def __init__(self, api: Api | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Takes an API server that answers within seconds, or None if no client has rights; and a clock in seconds."""
        self._api = api
        self._clock = clock
        self._allowed: dict[bytes, float] = {}
        """The end of each right of a token, by the digest of both. It never keeps tokens themselves."""
        self._asking = asyncio.Semaphore(_QUESTIONS_AT_ONCE)
        self._log_from = float("-inf")

    async def status(self, authorization: str, right: Right) -> HTTPStatus:
        """200 for a client that has a right; otherwise 401 or 403, or 503 if the API server does not answer."""
        scheme, _, token = authorization.partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token or len(token) > _LONGEST_TOKEN or not token.isascii():
            return HTTPStatus.UNAUTHORIZED
        digest = hashlib.sha256(token.encode() + b"\n" + orjson.dumps(right, option=orjson.OPT_SORT_KEYS)).digest()
        if self._clock() < self._allowed.get(digest, float("-inf")):
            return HTTPStatus.OK
        if self._asking.locked():
            return HTTPStatus.SERVICE_UNAVAILABLE
        async with self._asking:
            try:
                status = await asyncio.to_thread(self._ask, token, right)
            except errors.ClusterError as error:
                self._log(str(error))
                return HTTPStatus.SERVICE_UNAVAILABLE
        self._allowed.pop(digest, None)
        if status is HTTPStatus.OK:
            self._remember(digest)
        return status

    def _ask(self, token: str, right: Right) -> HTTPStatus:
        user = self._user(token)
        if user is None:
            return HTTPStatus.UNAUTHORIZED
        if not right:
            return HTTPStatus.OK
        access: paths.Object = {**right, **{key: user[given] for key, given in _OF_USER if given in user}}
        answer = self._post(_RIGHTS, {"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1"}, access)
        return HTTPStatus.OK if answer.get("allowed") is True else HTTPStatus.FORBIDDEN

    def _user(self, token: str) -> paths.Object | None:
        kind: paths.Object = {"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1"}
        answer = self._post(_TOKENS, kind, {"token": token})
        user = answer.get("user")
        return user if answer.get("authenticated") is True and isinstance(user, dict) else None

    def _post(self, path: str, kind: paths.Object, spec: paths.Object) -> paths.Object:
        if self._api is None:
            raise errors.ClusterError("no cluster is configured")
        answer = self._api.post(path, {**kind, "spec": spec})
        status = answer.value.get("status")
        if answer.status not in (HTTPStatus.OK, HTTPStatus.CREATED) or not isinstance(status, dict):
            raise errors.ClusterError(f"{path} does not answer: {answer.message}")
        return status

    def _remember(self, digest: bytes) -> None:
        while len(self._allowed) >= _REMEMBERED:
            del self._allowed[next(iter(self._allowed))]
        self._allowed[digest] = self._clock() + _SECONDS

    def _log(self, reason: str) -> None:
        """Logs at most once in a minute, because anybody can ask."""
        if self._clock() >= self._log_from:
            self._log_from = self._clock() + _LOG_AGAIN
            structlog.get_logger().warning("access_unknown", reason=reason)


_OF_USER: Final = (("user", "username"), ("uid", "uid"), ("groups", "groups"), ("extra", "extra"))


def admin_app(
    metrics: Metrics,
    *,
    ready: Callable[[], Awaitable[str]],
    access: Access | None = None,
    portal: Starlette | None = None,
) -> Starlette:
    """The admin application with probes, which anybody may request, and metrics.

    Args:
        ready: the reason why the server may not get traffic yet; empty when it may.
        access: who may read the metrics; None for any client.
        portal: an application that answers other questions, and gets these routes; None without them.
    """

    async def healthz(_: HttpRequest) -> Response:
        return Response("ok\n", media_type="text/plain")

    async def readyz(_: HttpRequest) -> Response:
        missing = await ready()
        return Response(f"{missing or 'ok'}\n", status_code=503 if missing else 200, media_type="text/plain")

    async def show_metrics(request: HttpRequest) -> Response:
        if access is not None:
            status = await access.status(request.headers.get("authorization", ""), READ_METRICS)
            if status is not HTTPStatus.OK:
                return Response(f"{status.phrase}\n", status_code=status, media_type="text/plain")
        exposed, content_type = metrics.accepted_exposition(request.headers.get("accept", ""))
        return Response(exposed, media_type=content_type)

    app = Starlette() if portal is None else portal
    for path, answer in (("/healthz", healthz), ("/readyz", readyz), (METRICS_PATH, show_metrics)):
        app.add_route(path, answer)
    return app


DRAIN: Final = 5
"""Seconds after SIGTERM in which the server still answers, and asks each client to connect to another server."""

_LONGEST_REASON: Final = 500

Started = Callable[[Address, Address], None]

Portal = Callable[[Callable[[], Evaluator], Callable[[str, int], None]], Starlette]
"""Makes the application of the portal from the getter of the evaluator and the counter of answers."""


class Settings(Struct, frozen=True, kw_only=True):
    webhook: Address
    admin: Address
    certificate: Callable[[], CertificateSource]
    """Makes the source that keeps a certificate in service."""
    clients: frozenset[str] = frozenset()
    """Allowed common names in client certificates; empty if any client may call."""
    reload_interval: float = RELOAD_INTERVAL
    """Seconds between looks at certificate, key and usher.yaml."""
    configuration: Path | None = None
    """usher.yaml, if there is one."""
    metrics_access: Access | None = None
    """Who may read the metrics; None for any client. If set, the admin port also speaks TLS."""
    portal: Portal | None = None
    """Makes the portal on the admin port, which then speaks TLS; None without a portal."""
    record: logs.RecordSettings | None = None
    """Where reviews are recorded; None without a record."""
    policies: Bundles | None = None
    """Policies of the site; None without any."""


def run(
    settings: Settings,
    make: MakeEvaluator,
    *,
    revision: str,
    started: Started,
    cluster: ClusterParts | None = None,
) -> None:
    """Answers reviews until SIGTERM or SIGINT.

    Args:
        settings: the addresses and the certificate.
        make: makes an evaluator from the present usher.yaml, with own checks; `run` closes its engine at the end.
        revision: the revision of the policies, for the metrics.
        started: called once both ports answer, with their addresses: first the webhook's, then the admin side's.
        cluster: the cluster whose facts it watches and whose quotas it charges; None without one.

    Raises:
        CertificateError: the certificate or key cannot be served.
        InputError: a port cannot be bound, or a bundle of policies cannot be used.
        ConfigError: usher.yaml cannot be used.
        EngineError: the policies do not evaluate; a server that cannot decide does not start.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(settings, make, revision=revision, started=started, cluster=cluster))


async def _serve(
    settings: Settings,
    make: MakeEvaluator,
    *,
    revision: str,
    started: Started,
    cluster: ClusterParts | None,
) -> None:
    bound_arenas()
    current = _loaded(settings, make)
    metrics = Metrics(engine=current.evaluator.engine.name, revision=revision)
    _tell_policies(current, metrics)
    source = settings.certificate()
    metrics.watch_certificate(source)
    stopping = asyncio.Event()
    live = Cluster(cluster, lambda: current.evaluator, metrics)
    live.start(interval=settings.reload_interval)
    recorded = None if settings.record is None else logs.Recorder(settings.record)
    traces = tracing.from_environment()
    reviews = Reviews(
        current=current,
        metrics=metrics,
        stopping=stopping.is_set,
        admission=live.admission,
        observe=live.tell,
        record=None if recorded is None else recorded.record,
        traces=traces,
    )
    webhook = ports.http_server(
        reviews, context=source.context, clients=settings.clients, at_once=reviews.answer_at_once
    )

    async def missing() -> str:
        reason = _missing(started=webhook.started, stopping=stopping.is_set(), source=source)
        return reason or live.missing() or await _engine_missing(current.evaluator)

    access, portal = settings.metrics_access, settings.portal
    asked = portal(lambda: current.evaluator, metrics.portal_answered) if portal is not None else None
    admin = ports.http_server(
        admin_app(metrics, ready=missing, access=access, portal=asked),
        context=source.admin_context if access or portal else None,
    )
    servers = (webhook, admin)
    _stop_on_signals(servers, stopping)
    with (
        ports.listening_socket(settings.webhook) as webhook_socket,
        ports.listening_socket(settings.admin) as admin_socket,
    ):
        addresses = ports.address_of(webhook_socket), ports.address_of(admin_socket)
        tell_configuration = partial(_log_configuration, current=current, metrics=metrics)
        background = [
            asyncio.create_task(watch(source, settings.reload_interval, report=_log_certificate)),
            asyncio.create_task(current.watch(settings.reload_interval, report=tell_configuration)),
            asyncio.create_task(_end_after_drain(servers, stopping)),
            asyncio.create_task(measure_lag(metrics.lagged)),
            asyncio.create_task(ports.watch_descriptors()),
        ]
        try:
            await asyncio.gather(
                webhook.serve(sockets=[webhook_socket]),
                admin.serve(sockets=[admin_socket]),
                _announce(servers, addresses, started, admin_scheme="https" if access or portal else "http"),
            )
        finally:
            for task in background:
                task.cancel()
            reviews.close()
            if recorded is not None:
                recorded.close()
            if traces is not None:
                traces.close()
            current.close()
            live.stop()


def _loaded(settings: Settings, make: MakeEvaluator) -> Current:
    """An evaluator that has decided once, and the policies of the site. The garbage collector treats both
    as permanent.
    """
    loaded = settings.policies.load() if settings.policies is not None else NOTHING_LOADED
    evaluator = make(loaded.own)
    current = Current(evaluator, file=settings.configuration, make=make, bundles=settings.policies, loaded=loaded)
    if not evaluator.engine.waits:
        # This decision proves the whole path. A remote engine may start later than the server, which is not ready until
        # then.
        evaluator.decide(Request(value=_PROBE))
    # Modules and policies live as long as the process, so the collector need not scan them between reviews.
    gc.collect()
    gc.freeze()
    return_memory()
    # A server runs for weeks; a command that ends collects more rarely. Reviews leave almost nothing to collect, and
    # failed connections leave thousands of objects.
    gc.set_threshold(20_000, 20, 100)
    return current


def _missing(*, started: bool, stopping: bool, source: CertificateSource) -> str:
    """Why the server is not ready; empty if it is."""
    if stopping:
        return "the server is stopping"
    if not started:
        return "the webhook port is not open"
    if source.leaf is None:
        return f"there is no certificate yet: {source.problem or 'usher is making it'}"
    # A bad new pair leaves the old one in service. Only a certificate that API servers refuse makes the server useless.
    return source.unusable


async def _engine_missing(evaluator: Evaluator) -> str:
    if not evaluator.engine.waits:
        return ""
    try:
        await asyncio.to_thread(evaluator.engine.ready)
    except errors.EngineError as error:
        return str(error)
    return ""


_PROBE: Final[paths.Object] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "probe", "namespace": "default"},
    "spec": {"containers": [{"name": "probe", "image": "probe"}]},
}


def _stop_on_signals(servers: tuple[Server, Server], stopping: asyncio.Event) -> None:
    """On SIGTERM, answers for a while and then ends. On SIGINT or a second signal, ends; on one more, at once."""

    def stop(number: signal.Signals) -> None:
        structlog.get_logger().info("stopping", signal=number.name)
        for server in servers:
            server.force_exit = server.should_exit
            server.should_exit = stopping.is_set() or number is signal.SIGINT
        stopping.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)


async def _end_after_drain(servers: tuple[Server, Server], stopping: asyncio.Event) -> None:
    """Ends the servers when all clients of the first have left, but no later than DRAIN seconds.

    Closing a connection would fail a review on its way, because the API server does not send it again.
    """
    await stopping.wait()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN):
            while servers[0].server_state.connections:  # noqa: ASYNC110 - uvicorn keeps a mere set
                await asyncio.sleep(0.05)
    for server in servers:
        server.should_exit = True


def _log_certificate(checked: Checked) -> None:
    if checked.problem is not None:
        structlog.get_logger().error("certificate_problem", reason=str(checked.problem))
    elif checked.reloaded:
        structlog.get_logger().info("certificate_reloaded")


def _log_configuration(looked: Looked, *, current: Current, metrics: Metrics) -> None:
    metrics.configured(good=looked.problem is None)
    metrics.policies_loaded(good=current.bundles_in_service)
    if looked.policies is not None:
        structlog.get_logger().error("policies_problem", reason=str(looked.policies), kept="the last good ones")
    if looked.problem is not None:
        structlog.get_logger().error("configuration_problem", reason=str(looked.problem), kept="the last good one")
    else:
        structlog.get_logger().info("configuration_reloaded")
        _tell_policies(current, metrics)


def _tell_policies(current: Current, metrics: Metrics) -> None:
    """Logs which policies of the site are in service, and which of them a server cannot evaluate; sets metrics."""
    policies, own = current.policies, current.own_checks
    missing = {} if policies is None else policies.not_evaluated
    templates = 0 if policies is None else len(policies.library.templates)
    configuration, bundles = current.digests
    metrics.decides_by(configuration=configuration, policies=bundles)
    metrics.policies_in_service(evaluated=templates - len(missing), not_evaluated=len(missing))
    if policies is not None or own:
        constraints = 0 if policies is None else len(policies.library.constraints)
        structlog.get_logger().info("policies_loaded", checks=own, templates=templates, constraints=constraints)
    for kind, reason in sorted(missing.items()):
        structlog.get_logger().warning("policy_not_evaluated", kind=kind, reason=on_one_line(reason, _LONGEST_REASON))


async def _announce(
    servers: tuple[Server, Server], addresses: tuple[Address, Address], started: Started, *, admin_scheme: str
) -> None:
    while not all(server.started for server in servers):  # noqa: ASYNC110 - uvicorn has no event for its start
        await asyncio.sleep(0.01)
    structlog.get_logger().info("started", webhook=f"https://{addresses[0]}", admin=f"{admin_scheme}://{addresses[1]}")
    started(*addresses)
