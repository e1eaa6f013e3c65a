"""TLS contexts for the webhook server, and their reload while connections are open.

A live `SSLContext` never changes: loading a pair that does not match would leave it unable to serve. Instead the server
listens with a front context without a certificate. Its `sni_callback` sets the current context at each handshake
(OpenSSL calls it for clients without SNI too). A new pair is read, checked and loaded into a new context, and then this
context becomes the current one. Open connections keep their context.

With uvicorn 0.47 or later: `Config(..., ssl_context_factory=lambda config, default: reloader.context)`. uvicorn itself
reads a certificate only once, at its start.
"""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from usher.certs import pem
from usher.errors import CertificateError

RELOAD_INTERVAL = 10.0
"""Seconds between looks at the files. Mounted Secrets give no reliable file events."""


def server_context(
    certificate_file: Path,
    key_file: Path,
    *,
    minimum: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3,
    now: datetime | None = None,
) -> ssl.SSLContext:
    """A context that serves the pair that is on disk now. `minimum` is the oldest accepted TLS version.

    Raises:
        CertificateError: a file is missing or unreadable, the key does not match, or the leaf is not valid at `now`.
    """
    return _load(certificate_file, key_file, minimum=minimum, now=now or datetime.now(UTC)).context


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The result of a look at the files."""

    reloaded: bool
    """Whether a new pair is served from now on."""
    problem: CertificateError | None
    """Why the files cannot be served; the earlier pair is still served."""


class Reloader:
    """Serves the newest valid pair of two files.

    `context` is for the listener. `leaf` is the certificate in service, `problem` the problem of the last check; both
    are for readiness and metrics. One assignment swaps contexts, so `check` may run in any thread, but only in one at
    a time.
    """

    def __init__(
        self,
        certificate_file: Path,
        key_file: Path,
        *,
        minimum: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Loads the pair for the first time.

        Raises:
            CertificateError: as `server_context`; a server does not start with a pair that it cannot serve.
        """
        self._certificate_file = certificate_file
        self._key_file = key_file
        self._minimum = minimum
        self._clock = clock
        self._serving = _load(certificate_file, key_file, minimum=minimum, now=clock())
        self.problem: CertificateError | None = None
        self.context = _bare_context(minimum)
        self.context.sni_callback = self._choose

    @property
    def leaf(self) -> x509.Certificate:
        """The certificate that new connections see."""
        return self._serving.pair.leaf

    def check(self) -> Checked:
        """Looks at both files. If the pair has changed, it is checked, and served if it is valid.

        An unchanged pair becomes a problem when it expires.
        """
        before = self._serving
        try:
            now = self._clock()
            certificate_file, key_file = _resolve(self._certificate_file, self._key_file)
            pair = pem.read_pair(certificate_file, key_file)
            if pair.digest == before.pair.digest:
                pem.check_dates(pair.leaf, source=certificate_file, now=now)
            else:
                self._serving = _load(self._certificate_file, self._key_file, minimum=self._minimum, now=now)
        except CertificateError as problem:
            self.problem = problem
        else:
            self.problem = None
        return Checked(reloaded=self._serving is not before, problem=self.problem)

    async def watch(self, interval: float = RELOAD_INTERVAL, *, report: Callable[[Checked], None]) -> None:
        """Checks every `interval` seconds until cancelled.

        `report` gets each reload, each new problem (once, while its message stays the same) and its end.
        """
        while True:
            await asyncio.sleep(interval)
            before = self.problem
            # A file system that hangs must not delay reviews.
            checked = await asyncio.to_thread(self.check)
            if checked.reloaded or str(checked.problem) != str(before):
                report(checked)

    def _choose(self, connection: ssl.SSLSocket | ssl.SSLObject, _name: str | None, _front: ssl.SSLContext) -> None:
        connection.context = self._serving.context


@dataclass(frozen=True, slots=True, kw_only=True)
class _Serving:
    context: ssl.SSLContext
    pair: pem.Pair


def _load(certificate_file: Path, key_file: Path, *, minimum: ssl.TLSVersion, now: datetime) -> _Serving:
    certificate_file, key_file = _resolve(certificate_file, key_file)
    pair = pem.read_pair(certificate_file, key_file)
    pem.check_dates(pair.leaf, source=certificate_file, now=now)
    context = _bare_context(minimum)
    try:
        # OpenSSL reads the files again. If they change in between, it compares key and certificate itself. The kept
        # digest is that of the earlier read, so the next check loads the pair again.
        context.load_cert_chain(certificate_file, key_file)
    except OSError as error:
        raise CertificateError(
            f"{certificate_file}, {key_file}: OpenSSL refuses this pair: {error.strerror or error}; use ECDSA P-256 "
            "or RSA with 2048 bits or more"
        ) from error
    return _Serving(context=context, pair=pair)


def _bare_context(minimum: ssl.TLSVersion) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = minimum
    context.set_alpn_protocols(["http/1.1"])
    # A resumed session never sees the new certificate. The API server does not resume: its Go client keeps no tickets.
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0
    return context


def _resolve(certificate_file: Path, key_file: Path) -> tuple[Path, Path]:
    """Both files in the directory that the kubelet publishes now.

    The kubelet publishes a Secret by swapping the symlink `..data`. If each file followed the link alone, the result
    could be the certificate of one issuance and the key of the next.
    """
    published = certificate_file.parent / "..data"
    if certificate_file.parent != key_file.parent or not published.is_symlink():
        return certificate_file, key_file
    directory = published.resolve()
    both = directory / certificate_file.name, directory / key_file.name
    return both if all(file.is_file() for file in both) else (certificate_file, key_file)
