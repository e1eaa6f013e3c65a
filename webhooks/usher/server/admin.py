"""The admin port: probes and metrics for people, kubelets and Prometheus, and who may ask for them.

usher remembers a granted right for a minute, so that a scraper costs the API server little. It does not remember
refusals, so that wrong tokens cannot displace granted rights.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final, Protocol

import orjson
import structlog
from fastapi import APIRouter, FastAPI, Request, Response

from usher import errors, paths
from usher.cluster.api import Answer
from usher.server.metrics import Metrics

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
    portal: APIRouter | None = None,
) -> FastAPI:
    """The admin application with probes, which anybody may request, and metrics.

    Args:
        ready: the reason why the server may not get traffic yet; empty when it may.
        access: who may read the metrics; None for any client.
        portal: answers other questions; None without them.
    """
    app = FastAPI(title="gpu-usher", docs_url=None, redoc_url=None, openapi_url=None)
    if portal is not None:
        app.include_router(portal)

    @app.get("/healthz")
    async def healthz() -> Response:
        return Response("ok\n", media_type="text/plain")

    @app.get("/readyz")
    async def readyz() -> Response:
        missing = await ready()
        return Response(f"{missing or 'ok'}\n", status_code=503 if missing else 200, media_type="text/plain")

    @app.get(METRICS_PATH)
    async def show_metrics(request: Request) -> Response:
        if access is not None:
            status = await access.status(request.headers.get("authorization", ""), READ_METRICS)
            if status is not HTTPStatus.OK:
                return Response(f"{status.phrase}\n", status_code=status, media_type="text/plain")
        exposed, content_type = metrics.accepted_exposition(request.headers.get("accept", ""))
        return Response(exposed, media_type=content_type)

    return app
