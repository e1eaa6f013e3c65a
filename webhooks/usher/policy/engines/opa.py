"""The second engine: an OPA server, beside usher or central, asked through opa-python-client.

Timeouts of the client count from byte to byte, so each call runs in its own thread, and its caller waits no longer than
the deadline. The client lacks the other options that admission needs, so we set them on its session: a limit for the
answer, no retries, no redirects, no proxies, a certificate authority, and a token read for each call.
"""

import contextlib
import io
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import opa_client
import orjson
import requests
import urllib3
from msgspec import Struct
from requests.adapters import HTTPAdapter

from usher import errors, paths
from usher.policy.checks import catalogue
from usher.policy.engines import engine

RESPONSE_LIMIT: Final = 2**20
"""Bytes of the largest answer; our results have a few kilobytes."""

_THREADS: Final = 64
"""Calls at one time. An abandoned call may run for as long as the server sends a byte now and then."""

_LONGER: Final = 1.0
"""Seconds that the client waits longer than we do, so that our deadline counts."""

_Answer = TypeVar("_Answer")


class Server(Struct, frozen=True, kw_only=True):
    """Where an OPA server is, and how it and usher authenticate."""

    url: str
    """The base URL: scheme, host and port."""
    ca_file: Path | None = None
    """Certificates (PEM) to trust instead of the system's."""
    token_file: Path | None = None
    """The file with a bearer token; read for every call, because Kubernetes renews it."""


class Breaker:
    """Pauses calls to a server that keeps failing; threads may share it.

    It opens after `failures` attempts in a row have failed. After `pause` seconds it lets one through as a trial. A
    success closes it, a failure opens it for another pause.
    """

    def __init__(
        self, subject: str, *, failures: int = 5, pause: float = 5.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._subject = subject
        self._limit = failures
        self._pause = pause
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._retry_at = 0.0

    @contextlib.contextmanager
    def attempt(self) -> Iterator[None]:
        """An attempt; it has failed if its body raises anything.

        Raises:
            EngineError: the breaker is open; nothing was attempted.
        """
        with self._lock:
            now = self._clock()
            if self._failures >= self._limit:
                if now < self._retry_at:
                    raise errors.EngineError(
                        f"{self._subject} has failed {self._failures} times in a row; "
                        f"the next attempt is in {self._retry_at - now:.1f} s"
                    )
                # This one is the trial; other attempts fail while it runs.
                self._retry_at = now + self._pause
        try:
            yield
        except BaseException:
            with self._lock:
                self._failures += 1
                self._retry_at = self._clock() + self._pause
            raise
        with self._lock:
            self._failures = 0


class OpaEngine:
    """Evaluates in an OPA server that has our policies; any thread may call it."""

    name = "opa"
    waits = True

    def __init__(
        self,
        server: Server,
        *,
        revision: str,
        deadline: float = engine.DEFAULT_DEADLINE,
        breaker: Breaker | None = None,
    ) -> None:
        """Prepares connections to a server that must have our policies in `revision`; sends nothing yet.

        Raises:
            InputError: the URL is not one of a server.
            CertificateError: there are no certificates in the file.
            EngineError: there is no token in the file.
        """
        self._name = f"OPA at {server.url}"
        self._revision = revision
        self._deadline = deadline
        self._breaker = breaker or Breaker(self._name)
        self._threads = threading.Semaphore(_THREADS)
        self._verified = False
        scheme, host, port = _parts(server.url)
        self._client = opa_client.OpaClient(
            host=host, port=port, ssl=scheme == "https", retries=0, timeout=deadline + _LONGER
        )
        _configure(self._client._session, server)  # noqa: SLF001 - it offers no options for this

    def ready(self) -> None:
        """Asks whether the server has our policies."""
        with self._breaker.attempt():
            self._within_deadline(self._verify)

    def evaluate(
        self,
        entrypoint: engine.Entrypoint,
        document: bytes,
        left_out: bytes = engine.ALL_CHECKS,  # noqa: ARG002 - the server evaluates all checks
    ) -> paths.Object:
        try:
            with self._breaker.attempt():
                return self._within_deadline(lambda: self._evaluated(entrypoint, document))
        except errors.EngineError:
            self._verified = False  # it may come back with other policies
            raise

    def close(self) -> None:
        self._client.close_connection()

    def _evaluated(self, entrypoint: engine.Entrypoint, document: bytes) -> paths.Object:
        if not self._verified:
            self._verify()
        return engine.checked_result(self._ask(entrypoint, document), entrypoint=entrypoint)

    def _within_deadline(self, call: Callable[[], _Answer]) -> _Answer:
        """The result or the error of a call.

        Raises:
            DeadlineError: it takes too long, or too many calls before it still run.
        """
        ends = time.monotonic() + self._deadline
        answer: Future[_Answer] = Future()

        def run() -> None:
            try:
                answer.set_result(call())
            except BaseException as error:  # noqa: BLE001 - raised by the thread that waits
                answer.set_exception(error)
            finally:
                self._threads.release()

        if self._threads.acquire(timeout=self._deadline):
            threading.Thread(target=run, name="usher-opa", daemon=True).start()
            with contextlib.suppress(TimeoutError):
                return answer.result(max(ends - time.monotonic(), 0))
        raise errors.DeadlineError(f"{self._name} took longer than {self._deadline:g} s")

    def _verify(self) -> None:
        revision = self._ask(catalogue.REVISION_RULE, b"{}")
        if revision != self._revision:
            raise errors.EngineError(
                f"{self._name} has our policies in revision {revision!r:.40}, but this usher needs "
                f"{self._revision}: load the policies of this release into it"
            )
        self._verified = True

    def _ask(self, rule: str, document: bytes) -> object:
        """The value of a rule, which no input can choose.

        Raises:
            EngineError: there is no usable answer.
        """
        try:
            answer = self._client.query_rule(orjson.loads(document), rule)
        except (OSError, urllib3.exceptions.HTTPError, ValueError, RecursionError) as error:
            if isinstance(error, requests.HTTPError) and error.response is not None:
                reason = f"{self._name}: HTTP {error.response.status_code}: {error.response.text!r:.200}"
            else:
                reason = f"{self._name} gave no usable answer: {type(error).__name__}: {error!s:.200}"
            raise errors.EngineError(reason) from None
        if not isinstance(answer, dict) or "result" not in answer:
            raise errors.EngineError(
                f"rule {rule} is undefined in {self._name}: load the policies of this release into it"
            )
        result: object = answer["result"]
        return result


class _BoundedAdapter(HTTPAdapter):
    """Takes answers of at most RESPONSE_LIMIT bytes, without a second attempt."""

    def __init__(self) -> None:
        super().__init__(pool_connections=1, pool_maxsize=_THREADS, max_retries=0)

    def send(self, request: requests.PreparedRequest, *arguments: Any, **options: Any) -> requests.Response:  # noqa: ANN401 - the signature of requests
        response = super().send(request, *arguments, **{**options, "stream": True})
        body = response.raw.read(RESPONSE_LIMIT + 1, decode_content=False)
        if len(body) > RESPONSE_LIMIT:
            response.raw.close()
            raise errors.EngineError(f"the answer is larger than {RESPONSE_LIMIT} bytes")
        # Plain bytes: nothing is unpacked, no cookie is kept, and no encoding guessed.
        response.raw = io.BytesIO(body)
        response.encoding = "utf-8"
        return response


def _configure(session: requests.Session, server: Server) -> None:
    adapter = _BoundedAdapter()
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    session.trust_env = False
    session.max_redirects = 0
    session.headers["Accept-Encoding"] = "identity"
    if server.ca_file is not None:
        try:
            ssl.create_default_context(cafile=server.ca_file)
        except (OSError, ssl.SSLError) as error:
            raise errors.CertificateError(f"{server.ca_file}: no certificates to trust OPA by: {error}") from None
        session.verify = str(server.ca_file)
    if server.token_file is not None:
        session.auth = partial(_authorized, server.token_file)
        _read_token(server.token_file)


def _authorized(token_file: Path, request: requests.PreparedRequest) -> requests.PreparedRequest:
    request.headers["Authorization"] = f"Bearer {_read_token(token_file)}"
    return request


def _read_token(file: Path) -> str:
    try:
        token = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise errors.EngineError(f"{file}: the token for OPA cannot be read: {error}") from None
    if not token or not token.isprintable():
        raise errors.EngineError(f"{file}: a token for OPA must be one line of text")
    return token


def _parts(url: str) -> tuple[str, str, int]:
    """Scheme, host and port.

    Raises:
        InputError: the URL lacks one of these parts, or has any other.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise errors.InputError(f"{url!r} is not a URL of an OPA server: {error}") from None
    extra = parts.username or parts.password or parts.path.strip("/") or parts.query or parts.fragment
    if parts.scheme not in {"http", "https"} or not parts.hostname or port is None or extra:
        raise errors.InputError(
            f"{url!r} is not a URL of an OPA server: give only scheme, host and port, for example http://127.0.0.1:8181"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return parts.scheme, host, port
