"""The webhook port as a plain ASGI application: only `POST /mutate`, `/validate` and `/configuration`.

The status of an answer decides what the API server does (docs/domain/webhooks.md#failures): 4xx for a request that is
not a review, 5xx without a review body for a fault of ours. Then failurePolicy decides.
"""

import asyncio
import contextvars
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from http import HTTPStatus
from typing import Final, TypeVar

from starlette.types import Receive, Scope, Send

from usher import errors, paths
from usher.authorities.authority import QuotaRefusal
from usher.authorities.gpu_quota.ledger import Full
from usher.authorities.gpu_quota.live.admission import Admission
from usher.authorities.gpu_quota.status import ChargeRequest
from usher.extensions.gatekeeper.evaluation import Policies
from usher.policy.engines import engine
from usher.policy.engines.engine import ANSWER_UNTIL
from usher.policy.evaluator import Evaluator
from usher.review import webhooks
from usher.review.admission_review import Answer, Review
from usher.server import logs
from usher.server.live_cluster import return_memory
from usher.server.metrics import Metrics
from usher.server.ports import HEADERS, MOST_BYTES, Body, BusyError, BytesInFlight, RefusedError, ReviewTime, is_plain
from usher.server.reloading import Current
from usher.server.tracing import Traces, parent_of

POLICY_PART: Final = 0.5
"""Share of a review's remaining time, after usher's verdict, that all its policies get. A charge may follow them."""

_THREADS: Final = 2
"""Each thread has an instance of every policy that it has used."""


LARGE_BODY: Final = 16 * 1024
"""Bytes of the largest body that the event loop decides about: a usual Pod, and at most some dozen containers."""

VERY_LARGE_BODY: Final = 64 * 1024
"""Bytes of the largest body that waits only for bodies that are judged as quickly. Larger ones have their own queue."""

MUTATED_LATELY: Final = 600.0
"""Seconds after a request to mutate in which usher takes it that a mutating webhook is registered."""

MOST_BYTES_OF_NAMESPACE: Final = MOST_BYTES // 3
"""Bytes of all large bodies of one namespace in flight."""

_NAMESPACE: Final = re.compile(rb'"namespace":\s*"([^"\\]{0,253})"')
_BEFORE_OBJECT: Final = 4096

_TRIM: Final = 2**20
"""Bytes of a body after which free memory is given back to the system. It takes milliseconds."""

_SWITCH: Final = 0.001
"""Seconds after which Python switches threads. By default the event loop would wait 5 ms each time."""

_LOOK: Final = 0.1
"""Seconds between two measurements of the event loop's lag."""

_Decided = TypeVar("_Decided")


class Turns:
    """Lets a few callers in at a time, at most one of each namespace and one namespace after the other, so that no
    namespace waits for the queue of another.
    """

    def __init__(self, places: int = 1) -> None:
        self._places = places
        self._inside: set[str] = set()
        """The namespaces of the callers that have a turn."""
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """Callers by namespace; the first namespace is next."""

    async def take(self, namespace: str) -> None:
        """Returns when it is the caller's turn. The caller then gives it back."""
        if len(self._inside) < self._places and namespace not in self._inside:
            self._inside.add(namespace)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(namespace, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give_back(namespace)
            raise

    def give_back(self, namespace: str) -> None:
        """Ends a turn of a caller of the namespace: the next caller gets its own."""
        self._inside.remove(namespace)
        while (following := next((each for each in self._waiting if each not in self._inside), None)) is not None:
            callers = self._waiting.pop(following)
            turn = callers.popleft()
            if callers:
                self._waiting[following] = callers  # behind all others
            if not turn.done():
                self._inside.add(following)
                turn.set_result(None)
                return


class PolicyThreads:
    """Judges reviews by policies, a few at a time and of each namespace one, so that slow ones of a tenant leave a
    thread to the others.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="site-policies")
        self._turns = Turns(_THREADS)

    async def judged(self, review: Review, policies: Policies, evaluator: Evaluator) -> webhooks.Found:
        """The findings of policies in a review, within their share of its time, which includes waiting for a thread."""
        if not webhooks.may_find(review, policies):
            return webhooks.NOTHING
        with engine.share_deadline(POLICY_PART):
            context = contextvars.copy_context()
        await self._turns.take(review.namespace)
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._threads, context.run, webhooks.judged, review, policies, evaluator
            )
        finally:
            self._turns.give_back(review.namespace)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class LargeReviews:
    """Decides about large reviews one at a time, because the memory for twenty of them would be unbounded."""

    def __init__(self, name: str) -> None:
        sys.setswitchinterval(_SWITCH)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._turns = Turns()
        self.waiting = 0
        """Calls that wait or run."""

    async def run(self, call: Callable[[], _Decided], *, namespace: str = "") -> _Decided:
        """The result of a call in the thread, with the context of the caller."""
        context = contextvars.copy_context()
        self.waiting += 1
        try:
            await self._turns.take(namespace)
            try:
                return await asyncio.get_running_loop().run_in_executor(self._thread, context.run, call)
            finally:
                self._turns.give_back(namespace)
        finally:
            self.waiting -= 1

    def answered(self, size: int) -> None:
        """Returns the free memory after a body of this size, if no other call waits."""
        if size >= _TRIM and self.waiting == 0:
            self._thread.submit(return_memory)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


class HeldByNamespace:
    """Keeps the large reviews of one namespace from taking the bytes and the time of all."""

    def __init__(self, most: int = MOST_BYTES_OF_NAMESPACE) -> None:
        self._most = most
        self._bytes: dict[str, int] = {}

    @contextmanager
    def holding(self, namespace: str, size: int) -> Iterator[None]:
        """Counts a body for its namespace.

        Raises:
            BusyError: the namespace has too many bytes of large reviews in flight.
        """
        held = self._bytes.get(namespace, 0)
        if held and held + size > self._most:
            raise BusyError
        self._bytes[namespace] = held + size
        try:
            yield
        finally:
            self._bytes[namespace] -= size
            if not self._bytes[namespace]:
                del self._bytes[namespace]


def namespace_of(body: bytes) -> str:
    """The namespace of the request in a body, read without its object; empty without one.

    An API server writes the namespace before the object and the user's name. Quotes in other texts are escaped.
    """
    found = _NAMESPACE.search(body, 0, _BEFORE_OBJECT)
    return found[1].decode(errors="replace") if found else ""


async def measure_lag(report: Callable[[float], None]) -> None:
    """Reports periodically how many seconds the event loop is late."""
    while True:
        expected = time.monotonic() + _LOOK
        await asyncio.sleep(_LOOK)
        report(max(0.0, time.monotonic() - expected))


Endpoint = Callable[[bytes, Evaluator], Answer]
Record = Callable[[str, Answer, int], None]
_Result = TypeVar("_Result")

_ENDPOINTS: Final[dict[str, Endpoint]] = {
    "/mutate": webhooks.mutate,
    "/validate": webhooks.validate,
    "/configuration": webhooks.judge_configuration,
}

_JSON: Final = (b"content-type", b"application/json")
_TEXT: Final = (b"content-type", b"text/plain; charset=utf-8")
_CLOSE: Final = (b"connection", b"close")
_LATER: Final = (b"retry-after", b"1")
"""Seconds. The API server tries again until its timeout; 0 would cause a storm of requests."""
_UNDECIDED: Final = "usher could not decide; its log says why"
_LATE: Final = "usher could not decide in time: the API server is busy, or many charges of one quota wait; try again"
_NOT_FOUND: Final = b"reviews are answered at /mutate, /validate and /configuration\n"


class Reviews:
    """Answers reviews, and 404 on every other path."""

    def __init__(  # noqa: PLR0913 - all receivers of reviews
        self,
        *,
        current: Current,
        metrics: Metrics,
        stopping: Callable[[], bool],
        admission: Admission | None = None,
        observe: Callable[[Answer], None] = lambda _answer: None,
        record: Record | None = None,
        traces: Traces | None = None,
    ) -> None:
        """Prepares to answer.

        Args:
            current: holds the evaluator in service.
            stopping: whether this process will end, so that clients should connect to another.
            record: gets each answer with its endpoint and the size of the review in bytes, and returns at once; None
                without a record.
            traces: gets the times of each review; None without traces.
        """
        self._admission = admission
        self._observe = observe
        self._record = record
        self._traces = traces
        self._mutated = float("-inf")
        self._current = current
        self._metrics = metrics
        self._stopping = stopping
        self._bytes = BytesInFlight()
        self._large = LargeReviews("large-review")
        self._very_large = LargeReviews("very-large-review")
        self._shares = HeldByNamespace()
        self._threads = PolicyThreads()
        self._refusals = logs.Refusals()
        metrics.watch_bytes(lambda: self._bytes.held)

    def close(self) -> None:
        """Stops accepting large reviews and calling policies of the site."""
        self._large.close()
        self._very_large.close()
        self._threads.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        review = _ENDPOINTS.get(scope["path"])
        if review is None:
            await _send(send, 404, _NOT_FOUND, _TEXT, close=self._stopping())
            return
        when = ReviewTime(scope)
        body = Body(self._bytes, when)
        try:
            await self._answer(review, scope, receive, send, body=body, when=when)
        finally:
            body.give_back()

    async def _answer(  # noqa: PLR0913 - an ASGI call, and what belongs to it
        self, review: Endpoint, scope: Scope, receive: Receive, send: Send, *, body: Body, when: ReviewTime
    ) -> None:
        endpoint = scope["path"][1:]
        try:
            received = await body.read(scope, receive)
        except RefusedError as refused:
            self._refuse(endpoint, refused.status, str(refused))
            await _send(send, refused.status, str(refused).encode(), _TEXT, close=refused.close or self._stopping())
            return
        when.read = when.deciding = time.monotonic()
        close = self._stopping()
        try:
            answer = await self._review(review, received, when)
        except Exception as error:  # noqa: BLE001 - any error is our fault and must not look like a verdict
            status, text = self._failed(scope, error, when)
            await _send(send, status, text, _TEXT, close=close)
        else:
            await _send(send, 200, answer.body, _JSON, close=close)
            self._answered(scope, answer, when, size=len(received))

    def answer_at_once(self, scope: Scope, body: bytes, write: Callable[[bytes], None]) -> bool:
        """Answers a small review with its whole body without a task, and returns whether it did.

        It does not answer what must wait for anything, or what may be refused before it is read.
        """
        review = _ENDPOINTS.get(scope["path"])
        if review is None or not self._is_quick(review, body) or not is_plain(scope, body):
            return False
        when = ReviewTime(scope)
        if when.waited_too_long or not self._bytes.has_room(len(body), total=len(body)):
            return False
        when.read = when.deciding = when.began
        try:
            # A context of its own: what it sets ends with the request.
            answer = contextvars.copy_context().run(self._quick_answer, review, body, when)
        except _WaitsError:
            return False
        except Exception as error:  # noqa: BLE001 - any error is our fault and must not look like a verdict
            status, text = self._failed(scope, error, when)
            write(response(status, text, _TEXT, scope))
        else:
            write(response(200, answer.body, _JSON, scope))
            self._answered(scope, answer, when, size=len(body))
        return True

    def _is_quick(self, review: Endpoint, body: bytes) -> bool:
        """Whether the event loop decides about a review without waiting for anything."""
        if len(body) > LARGE_BODY or review is webhooks.judge_configuration or self._stopping():
            return False
        if review is webhooks.validate and (
            self._current.policies is not None
            or (self._admission is not None and self._admission.may_charge(namespace_of(body)))
        ):
            return False
        return not self._current.evaluator.engine.waits

    def _quick_answer(self, review: Endpoint, body: bytes, when: ReviewTime) -> Answer:
        self._begin(review, when)
        evaluator = self._current.evaluator
        if review is not webhooks.validate or self._admission is None:
            return review(body, evaluator)
        return _ended(webhooks.validate_and_charge(body, evaluator, _NoWaiting(self._admission)))

    def _failed(self, scope: Scope, error: Exception, when: ReviewTime) -> tuple[int, bytes]:
        """The status and the text for a review that has no answer, which is counted and logged."""
        endpoint = scope["path"][1:]
        if isinstance(error, errors.DeadlineError) and when.was_shortened:
            error = BusyError()
        if isinstance(error, RefusedError):
            self._refuse(endpoint, error.status, str(error))
            self._trace(scope, when, error.status)
            return error.status, str(error).encode()
        if isinstance(error, errors.ReviewError):
            self._refuse(endpoint, error.status, str(error))
            return error.status, f"{error}\n".encode()
        status, text = _status_and_text(error)
        trace_id = self._trace(scope, when, status)
        self._metrics.failed(endpoint, seconds=time.monotonic() - when.arrived, trace_id=trace_id)
        logs.failure(endpoint, error, trace_id=trace_id)
        return status, f"{text}\n".encode()

    def _answered(self, scope: Scope, answer: Answer, when: ReviewTime, *, size: int) -> None:
        endpoint, now = scope["path"][1:], time.monotonic()
        seconds, phases = now - when.arrived, when.phases(now)
        trace_id = self._trace(scope, when, 200, answer)
        self._metrics.answered(endpoint, answer, seconds=seconds, queued=phases["queued"], trace_id=trace_id)
        logs.decision(endpoint, answer, seconds=seconds, phases=phases, trace_id=trace_id)
        self._observe(answer)
        if self._record is not None:
            self._record(endpoint, answer, size)

    def _trace(self, scope: Scope, when: ReviewTime, status: int, answer: Answer | None = None) -> str:
        """The id of the trace of a review that was answered; empty without one."""
        if self._traces is None:
            return ""
        parent = parent_of(scope["headers"])
        return self._traces.add(when, scope["path"][1:], status, parent=parent, answer=answer)

    def _refuse(self, endpoint: str, status: int, reason: str) -> None:
        self._refusals.log(endpoint, status, reason)
        if status == 503:
            self._metrics.shed(endpoint)
        else:
            self._metrics.refused(endpoint)

    async def _review(self, review: Endpoint, body: bytes, when: ReviewTime) -> Answer:
        evaluator, policies = self._current.evaluator, self._current.policies
        # A task of its own runs each request, so this ends with the request.
        self._begin(review, when)
        return await self._judged(review, body, evaluator, when, policies)

    def _begin(self, review: Endpoint, when: ReviewTime) -> None:
        ANSWER_UNTIL.set(when.until)
        if review is webhooks.mutate:
            self._mutated = when.deciding
        webhooks.MUTATES.set(when.deciding - self._mutated < MUTATED_LATELY)

    async def _judged(
        self, review: Endpoint, body: bytes, evaluator: Evaluator, when: ReviewTime, policies: Policies | None
    ) -> Answer:
        # YAML takes a hundred times as long as JSON.
        if len(body) > LARGE_BODY or review is webhooks.judge_configuration:
            return await self._judged_large(review, body, evaluator, when, policies)
        if review is webhooks.validate and (self._admission is not None or policies is not None):
            run = _run_in_thread if evaluator.engine.waits else webhooks.run_inline
            return await self._charged(body, evaluator, when, policies, run=run)
        if evaluator.engine.waits:
            return await asyncio.to_thread(review, body, evaluator)
        return review(body, evaluator)

    async def _judged_large(
        self, review: Endpoint, body: bytes, evaluator: Evaluator, when: ReviewTime, policies: Policies | None
    ) -> Answer:
        lane = (
            self._large
            if len(body) <= VERY_LARGE_BODY and review is not webhooks.judge_configuration
            else self._very_large
        )
        namespace = namespace_of(body)
        run = partial(self._run_large, when, lane, namespace)
        with self._shares.holding(namespace, len(body)):
            if review is webhooks.validate and (self._admission is not None or policies is not None):
                answer = await self._charged(body, evaluator, when, policies, run=run)
            else:
                answer = await run(partial(review, body, evaluator))
        lane.answered(len(body))
        return answer

    async def _charged(
        self, body: bytes, evaluator: Evaluator, when: ReviewTime, policies: Policies | None, *, run: webhooks.Run
    ) -> Answer:
        admission = None if self._admission is None else _TimedAdmission(self._admission, when)
        site = self._site(policies, evaluator, when)
        return await webhooks.validate_and_charge(body, evaluator, admission, run=run, site=site)

    def _site(self, policies: Policies | None, evaluator: Evaluator, when: ReviewTime) -> webhooks.Site:
        if policies is None:
            return webhooks.no_site

        async def judged(review: Review) -> webhooks.Found:
            with when.waiting("policies of the site"):
                return await self._threads.judged(review, policies, evaluator)

        return judged

    async def _run_large(
        self, when: ReviewTime, lane: LargeReviews, namespace: str, call: Callable[[], _Result]
    ) -> _Result:
        """The result of a call in a thread for large reviews. A call that would be too late does not start.

        Raises:
            BusyError: other reviews took all of the time.
        """

        def begun() -> _Result:
            now = time.monotonic()
            if when.deciding == when.read:
                when.deciding = now
            if now >= when.until:
                raise BusyError
            return call()

        return await lane.run(begun, namespace=namespace)


class _WaitsError(Exception):
    """A review has to wait for the cluster."""


def _ended(review: Coroutine[object, None, Answer]) -> Answer:
    """The answer of a review that nothing lets wait.

    Raises:
        _WaitsError: it waits for something.
    """
    try:
        review.send(None)
    except StopIteration as ended:
        answer: Answer = ended.value
        return answer
    review.close()
    raise _WaitsError


class _NoWaiting:
    """Charges nothing where no quota counts, and ends every review that would wait, before anything is charged."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission

    async def scaled(self, **_names: object) -> paths.Object | None:
        raise _WaitsError

    async def charge(self, request: ChargeRequest, *, until: float, force: bool = False) -> None:  # noqa: ARG002 - as in the protocol
        if self._admission.may_charge(request.workload.namespace):
            raise _WaitsError

    def undoing(self, _request: ChargeRequest) -> AbstractContextManager[None]:
        return nullcontext()


class _TimedAdmission:
    """Asks the cluster, and notes how long a review waits for it."""

    def __init__(self, admission: Admission, when: ReviewTime) -> None:
        self._admission = admission
        self._when = when

    async def scaled(  # noqa: PLR0913 - as in the protocol
        self, *, group: str, version: str, plural: str, namespace: str, name: str, until: float
    ) -> paths.Object | None:
        with self._when.waiting("scaled object"):
            return await self._admission.scaled(
                group=group, version=version, plural=plural, namespace=namespace, name=name, until=until
            )

    async def charge(self, request: ChargeRequest, *, until: float, force: bool = False) -> QuotaRefusal | Full | None:
        with self._when.waiting("charge"):
            return await self._admission.charge(request, until=until, force=force)

    def undoing(self, request: ChargeRequest) -> AbstractContextManager[None]:
        return self._admission.undoing(request)


def _status_and_text(error: Exception) -> tuple[int, str]:
    """503 has a time to come back: the API server asks again within its timeout, and may get a verdict then."""
    if isinstance(error, errors.CountingError):
        return 503, str(error)
    return (503, _LATE) if isinstance(error, errors.UnavailableError) else (500, _UNDECIDED)


async def _run_in_thread(call: Callable[[], _Result], /) -> _Result:
    return await asyncio.to_thread(call)


def response(status: int, body: bytes, content_type: tuple[bytes, bytes], scope: Scope) -> bytes:
    """A whole HTTP response, as `_send` sends it; its connection stays."""
    headers = [*scope.get(HEADERS, ()), content_type, (b"content-length", b"%d" % len(body))]
    if status == 503:
        headers.append(_LATER)
    lines = [b"%b: %b\r\n" % header for header in headers]
    return b"".join((b"HTTP/1.1 %d %b\r\n" % (status, HTTPStatus(status).phrase.encode()), *lines, b"\r\n", body))


async def _send(send: Send, status: int, body: bytes, content_type: tuple[bytes, bytes], *, close: bool) -> None:
    headers = [content_type, (b"content-length", str(len(body)).encode())]
    if status == 405:
        headers.append((b"allow", b"POST"))
    elif status == 503:
        headers.append(_LATER)
    if close:
        headers.append(_CLOSE)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
