"""The second engine: a real OPA server, beside usher or central, through opa-python-client.

The client stands in the way of five things that an admission path needs, and each is set on its session, which it
offers no options for: one deadline for the whole call, a bound on the answer and no second attempts (the transport
adapter); one URL, so neither redirects nor proxies from the environment; a certificate authority and a token that are
read from files, because both are renewed. Asking and checking HTTP's status is left to the client.
"""

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import opa_client
import orjson
import requests
import urllib3

from usher import errors, paths
from usher.policy.checks import bundle
from usher.policy.engines import engine, opa_transport
from usher.policy.engines.breaker import Breaker

RESPONSE_LIMIT: Final = 2**20
"""Bytes; a result of ours has a few kilobytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where an OPA server is, and how it and usher know each other."""

    url: str
    """Scheme, host and port."""
    ca_file: Path | None = None
    """Certificates (PEM) to trust instead of the system's."""
    token_file: Path | None = None
    """Holds a bearer token; read anew for every call, because Kubernetes renews it."""


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
        """Prepares connections; nothing is sent yet.

        Args:
            server: where to ask.
            revision: of our policies (`Bundle.source_revision`), which the server must have.
            deadline: seconds that a call may take.
            breaker: decides when a failing server is left alone.

        Raises:
            InputError: the URL is none of a server.
            CertificateError: there are no certificates in the file.
            EngineError: there is no token in the file.
        """
        self._name = f"OPA at {server.url}"
        self._revision = revision
        self._deadline = deadline
        self._breaker = breaker or Breaker(self._name)
        self._verified = False
        scheme, host, port = _parts(server.url)
        self._client = opa_client.OpaClient(host=host, port=port, ssl=scheme == "https", retries=0, timeout=deadline)
        _configure(self._client._session, server)  # noqa: SLF001 - for the reasons above

    def ready(self) -> None:
        """Asks whether the server has our policies."""
        with self._breaker.attempt(), opa_transport.deadline(self._deadline):
            self._verify()

    def evaluate(self, entrypoint: engine.Entrypoint, document: bytes) -> paths.Object:
        try:
            with self._breaker.attempt(), opa_transport.deadline(self._deadline):
                if not self._verified:
                    self._verify()
                return engine.checked_result(self._ask(entrypoint, document), entrypoint=entrypoint)
        except errors.EngineError:
            self._verified = False  # it may come back with other policies
            raise

    def close(self) -> None:
        self._client.close_connection()

    def _verify(self) -> None:
        revision = self._ask(bundle.REVISION_RULE, b"{}")
        if revision != self._revision:
            raise errors.EngineError(
                f"{self._name} has our policies in revision {revision!r:.40}, but this usher needs "
                f"{self._revision}: load the policies of this release into it"
            )
        self._verified = True

    def _ask(self, rule: str, document: bytes) -> object:
        """The value of a rule, which no input can choose.

        Raises:
            EngineError: there is none.
            DeadlineError: it took too long.
        """
        try:
            answer = self._client.query_rule(orjson.loads(document), rule)
        except (OSError, urllib3.exceptions.HTTPError, ValueError, RecursionError) as error:
            raise self._failure(error) from None
        if not isinstance(answer, dict) or "result" not in answer:
            raise errors.EngineError(
                f"rule {rule} is undefined in {self._name}: load the policies of this release into it"
            )
        result: object = answer["result"]
        return result

    def _failure(self, error: Exception) -> errors.EngineError:
        try:
            opa_transport.remaining()
        except TimeoutError:
            return errors.DeadlineError(f"{self._name} took longer than {self._deadline:g} s")
        if isinstance(error, requests.HTTPError) and error.response is not None:
            return errors.EngineError(f"{self._name}: HTTP {error.response.status_code}: {error.response.text!r:.200}")
        return errors.EngineError(f"{self._name} gave no usable answer: {type(error).__name__}: {error!s:.200}")


def _configure(session: requests.Session, server: Server) -> None:
    adapter = opa_transport.BoundedAdapter(limit=RESPONSE_LIMIT)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    session.trust_env = False
    session.max_redirects = 0
    session.headers["Accept-Encoding"] = "identity"
    if server.ca_file is not None:
        _check_authority(server.ca_file)
        session.verify = str(server.ca_file)
    if server.token_file is not None:
        session.auth = _Token(server.token_file)


class _Token(requests.auth.AuthBase):
    def __init__(self, file: Path) -> None:
        self._file = file
        self._read()

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._read()}"
        return request

    def _read(self) -> str:
        try:
            token = self._file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise errors.EngineError(f"{self._file}: the token for OPA cannot be read: {error}") from None
        if not token or not token.isprintable():
            raise errors.EngineError(f"{self._file}: this is no token for OPA: it must be one line of text")
        return token


def _parts(url: str) -> tuple[str, str, int]:
    """Scheme, host and port.

    Raises:
        InputError: there is anything else, or less.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise errors.InputError(f"{url!r} is no URL of an OPA server: {error}") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or port is None:
        raise errors.InputError(
            f"{url!r} is no URL of an OPA server: give scheme, host and port, http://127.0.0.1:8181"
        )
    if parts.username or parts.password or parts.path.strip("/") or parts.query or parts.fragment:
        raise errors.InputError(f"{url!r} is no URL of an OPA server: nothing may stand around host and port")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return parts.scheme, host, port


def _check_authority(file: Path) -> None:
    try:
        ssl.create_default_context(cafile=file)
    except (OSError, ssl.SSLError) as error:
        raise errors.CertificateError(f"{file}: no certificates to trust OPA by: {error}") from None
