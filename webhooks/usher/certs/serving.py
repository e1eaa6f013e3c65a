"""TLS contexts for the webhook server, and their reload while connections are open.

A live `SSLContext` is never touched: loading a pair that does not match would leave it unable to serve. Instead the
server listens with a front context without a certificate, whose `sni_callback` puts the current context in its place
at each handshake (OpenSSL calls it for clients without SNI too). A new pair is read, checked and made into a context of
its own, and only then becomes the current one; open connections keep the context that they began with.

With uvicorn 0.47 or later: `Config(..., ssl_context_factory=lambda config, default: reloader.context)`. No library:
uvicorn reads a certificate once, at its start.
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
    """A context that serves this pair, as it is on disk now. `minimum` is the oldest TLS version to accept.

    Raises:
        CertificateError: a file is missing or unreadable, the key is another's, or the leaf is not valid at `now`.
    """
    return _load(certificate_file, key_file, minimum=minimum, now=now or datetime.now(UTC)).context


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a look at the files found."""

    reloaded: bool
    """A new pair is served from now on."""
    problem: CertificateError | None
    """Why the files cannot be served as they stand; the pair from before still is."""


class Reloader:
    """Keeps serving the newest good pair of two files.

    `context` is for the listener. `leaf` is the certificate in service, `problem` what the last check found wrong:
    both for readiness and metrics. Contexts are swapped by one assignment, so `check` may run in any thread, but in one
    at a time.
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
            CertificateError: as for `server_context`; a server does not start with a pair that it cannot serve.
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
        """Looks at both files; what differs from the pair in service is checked, and served if it is good.

        A pair that stays the same is a problem too once it has expired.
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
            # A file system that hangs must not hold up the answers.
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
        # OpenSSL reads the files again. Should they change in between, it compares key and certificate itself, and
        # the digest of what was read before makes the next check load once more.
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
    """Both files in the directory that is published now.

    The kubelet publishes a Secret by swapping the symlink `..data`: followed for each file by itself it may give the
    certificate of one issuance and the key of the next.
    """
    published = certificate_file.parent / "..data"
    if certificate_file.parent != key_file.parent or not published.is_symlink():
        return certificate_file, key_file
    directory = published.resolve()
    both = directory / certificate_file.name, directory / key_file.name
    return both if all(file.is_file() for file in both) else (certificate_file, key_file)
