"""The webhook port, as a plain ASGI application: `POST /mutate`, `POST /validate`, and nothing else.

The status of an answer decides what the API server does (docs/domain/webhooks.md#failures): 4xx for a request that is
not a review, 5xx without a review body for a fault of ours. Then failurePolicy decides, and not we.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from starlette.types import Message, Receive, Scope, Send

from usher import errors
from usher.authorities.gpu_quota.live.admission import Admission
from usher.policy.evaluator import Evaluator
from usher.review.mutate import mutate
from usher.review.response import Answer
from usher.review.validate import validate, validate_and_charge
from usher.server import logs
from usher.server.metrics import Metrics
from usher.server.reloading import Current

MAX_BODY: Final = 8 * 2**20
"""Bytes. Two objects of at most 3 MiB and their envelope fit; anything larger is not from an API server."""

Review = Callable[[bytes, Evaluator], Answer]

_ENDPOINTS: Final[dict[str, Review]] = {"/mutate": mutate, "/validate": validate}

_JSON: Final = (b"content-type", b"application/json")
_TEXT: Final = (b"content-type", b"text/plain; charset=utf-8")
_CLOSE: Final = (b"connection", b"close")
_NOT_FOUND: Final = b"reviews are answered at /mutate and /validate\n"
_TOO_LARGE: Final = f"the body is larger than {MAX_BODY} bytes\n"


class _RefusedError(Exception):
    """A request that is answered without looking at a review; carries the HTTP status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Reviews:
    """Answers reviews, and 404 on every other path."""

    def __init__(
        self, *, current: Current, metrics: Metrics, stopping: Callable[[], bool], admission: Admission | None = None
    ) -> None:
        """Prepares to answer.

        Args:
            current: holds the evaluator in service.
            metrics: where answers are counted.
            stopping: whether this process will end, so that clients are to connect to another.
            admission: what charges quotas; None without a cluster.
        """
        self._admission = admission
        self._current = current
        self._metrics = metrics
        self._stopping = stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        review = _ENDPOINTS.get(scope["path"])
        if review is None:
            await _send(send, 404, _NOT_FOUND, _TEXT, close=self._stopping())
            return
        endpoint = scope["path"][1:]
        try:
            body = await _body(scope, receive)
        except _RefusedError as refused:
            self._metrics.refused(endpoint)
            # Of the body some may still be on its way, and will not be read.
            await _send(send, refused.status, str(refused).encode(), _TEXT, close=True)
            return
        started = time.perf_counter()
        close = self._stopping()
        try:
            answer = await self._review(review, body)
        except errors.ReviewError as error:
            self._metrics.refused(endpoint)
            await _send(send, error.status, f"{error}\n".encode(), _TEXT, close=close)
        except errors.MissedMutationError as error:
            self._metrics.failed(endpoint, seconds=time.perf_counter() - started)
            logs.failure(endpoint, error)
            await _send(send, 500, f"{error}\n".encode(), _TEXT, close=close)
        except Exception as error:  # noqa: BLE001 - whatever went wrong is our fault and must not read as a verdict
            self._metrics.failed(endpoint, seconds=time.perf_counter() - started)
            logs.failure(endpoint, error)
            await _send(send, 500, b"usher could not decide; its log says why\n", _TEXT, close=close)
        else:
            await _send(send, 200, answer.body, _JSON, close=close)
            seconds = time.perf_counter() - started
            self._metrics.answered(endpoint, answer, seconds=seconds)
            logs.decision(endpoint, answer, seconds=seconds)

    async def _review(self, review: Review, body: bytes) -> Answer:
        evaluator = self._current.evaluator
        if self._admission is not None and review is validate:
            return await validate_and_charge(body, evaluator, self._admission)
        if evaluator.engine.waits:
            return await asyncio.to_thread(review, body, evaluator)
        # The embedded engine takes less time than handing over to a thread would.
        return review(body, evaluator)


async def _body(scope: Scope, receive: Receive) -> bytes:
    """The whole request body, never more than MAX_BODY of it.

    Raises:
        _RefusedError: the request is not a POST of plain JSON, too large, or cut short.
    """
    if scope["method"] != "POST":
        raise _RefusedError(405, "only POST is answered here\n")
    content_type = b""
    for name, value in scope["headers"]:
        if name == b"content-type":
            content_type = value.partition(b";")[0].strip().lower()
        elif name == b"content-encoding" and value.lower() != b"identity":
            raise _RefusedError(415, "compressed bodies are not taken\n")
        elif name == b"content-length":
            _check_length(value)
    if content_type != b"application/json":
        raise _RefusedError(415, "Content-Type must be application/json\n")
    message = await receive()
    if not message.get("more_body", False):
        return _chunk(message)
    body = bytearray(_chunk(message))
    while message.get("more_body", False):
        message = await receive()
        body += _chunk(message)
        if len(body) > MAX_BODY:
            raise _RefusedError(413, _TOO_LARGE)
    return bytes(body)


def _check_length(declared: bytes) -> None:
    if not declared.isdigit():
        raise _RefusedError(400, "Content-Length is not a number\n")
    # int() takes no more than 4300 digits.
    if len(declared) > 20 or int(declared) > MAX_BODY:
        raise _RefusedError(413, _TOO_LARGE)


def _chunk(message: Message) -> bytes:
    if message["type"] != "http.request":
        raise _RefusedError(400, "the body was cut short\n")
    body: bytes = message.get("body", b"")
    if len(body) > MAX_BODY:
        raise _RefusedError(413, _TOO_LARGE)
    return body


async def _send(send: Send, status: int, body: bytes, content_type: tuple[bytes, bytes], *, close: bool) -> None:
    headers = [content_type, (b"content-length", str(len(body)).encode())]
    if status == 405:
        headers.append((b"allow", b"POST"))
    if close:
        headers.append(_CLOSE)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
