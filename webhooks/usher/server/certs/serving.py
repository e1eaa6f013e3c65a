"""A serving certificate from two files, and its reload while connections are open.

A new pair is read, checked and made into a separate context, and only then becomes the current one (`contexts`). With
uvicorn 0.47 or later: `Config(..., ssl_context_factory=lambda config, default: source.context)`. No library: uvicorn
reads a certificate once, at its start.

A live `SSLContext` is never changed: a pair that does not match would leave it unable to serve. Instead the server
listens with a front context without a certificate, whose `sni_callback` replaces it by the current context at each
handshake (OpenSSL calls it for clients without SNI too). A new pair gets a separate context first, and only then
becomes the current one; open connections keep their context.
"""

import asyncio
import os
import ssl
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from cryptography import x509
from msgspec import Struct

from usher.errors import CertificateError, UsherError
from usher.server.certs import certificates
from usher.server.certs.certificates import canonical_names


class ClientAuthorities(Struct, frozen=True, kw_only=True):
    """The CAs that sign the certificates of clients, in PEM; without them any client may call."""

    authorities: bytes

    @classmethod
    def read(cls, file: Path) -> "ClientAuthorities":
        """The CAs of a file.

        Raises:
            CertificateError: it is missing, or holds no readable certificate.
        """
        content = certificates.read_file(file)
        certificates.read_certificates(content, source=file)
        return cls(authorities=content)


class Front:
    """The contexts to listen with; `show` replaces the context of new connections, by one assignment each."""

    def __init__(self, *, minimum: ssl.TLSVersion, asks_clients: bool = False) -> None:
        self._minimum = minimum
        self._current: ssl.SSLContext | None = None
        self._admin: ssl.SSLContext | None = None
        self.context = _bare_context(minimum)
        # OpenSSL takes this setting from a connection's first context, and the CAs from the context that replaces it.
        self.context.verify_mode = ssl.CERT_REQUIRED if asks_clients else ssl.CERT_NONE
        self.context.sni_callback = self._choose
        self.admin_context = _bare_context(minimum)
        """The context of the admin port: the same certificate, without a request for client certificates."""
        self.admin_context.sni_callback = self._choose_for_admin

    def show(self, pair: certificates.Pair, *, clients: ClientAuthorities | None, source: str) -> None:
        """Serves this pair from now on.

        Raises:
            CertificateError: OpenSSL refuses the pair or the CAs of clients; the earlier ones stay.
        """
        context = plain = context_of(pair, minimum=self._minimum, source=source)
        if clients is not None:
            context = context_of(pair, minimum=self._minimum, source=source)
            context.verify_mode = ssl.CERT_REQUIRED
            try:
                context.load_verify_locations(cadata=clients.authorities.decode("ascii", "replace"))
            except ssl.SSLError as error:
                raise CertificateError(f"OpenSSL refuses the CAs of --client-ca: {error.reason or error}") from error
        self._current, self._admin = context, plain

    def show_for_admin(self, pair: certificates.Pair, *, source: str) -> None:
        """Serves this pair on the admin port, until there is a pair for both ports."""
        self._admin = context_of(pair, minimum=self._minimum, source=source)

    def _choose(self, connection: ssl.SSLSocket | ssl.SSLObject, _name: str | None, _front: ssl.SSLContext) -> None:
        if self._current is not None:
            connection.context = self._current

    def _choose_for_admin(
        self, connection: ssl.SSLSocket | ssl.SSLObject, _name: str | None, _front: ssl.SSLContext
    ) -> None:
        if self._admin is not None:
            connection.context = self._admin


def context_of(pair: certificates.Pair, *, minimum: ssl.TLSVersion, source: str) -> ssl.SSLContext:
    """A context that serves this pair. `minimum` is the oldest TLS version to accept.

    Raises:
        CertificateError: OpenSSL refuses it.
    """
    context = _bare_context(minimum)
    # OpenSSL reads only files: this one has no name and exists only in memory.
    descriptor = os.memfd_create("certificate")
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(pair.key_pem.rstrip() + b"\n" + pair.certificate_pem)
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
    except OSError as error:
        raise CertificateError(
            f"{source}: OpenSSL refuses this pair: {error.strerror or error}; use ECDSA P-256 or RSA with 2048 bits "
            "or more"
        ) from error
    finally:
        os.close(descriptor)
    return context


def _bare_context(minimum: ssl.TLSVersion) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = minimum
    context.set_alpn_protocols(["http/1.1"])
    # A resumed session never sees the new certificate. The API server does not resume: its Go client keeps no tickets.
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0
    return context


RELOAD_INTERVAL = 10.0
"""Seconds between checks of the files. Mounted Secrets give no reliable file events."""

_SOON = 1.0
"""Seconds between checks while the server waits for a certificate."""


class Checked(Struct, frozen=True, kw_only=True):
    """The result of a check of the certificate in service."""

    reloaded: bool
    """Whether a new pair is in service from now on."""
    problem: UsherError | None
    """Why the newest pair cannot be served or renewed; the earlier pair stays in service."""


class CertificateSource(Protocol):
    """Keeps a certificate in service. `check` may run in any thread, but only in one at a time."""

    context: ssl.SSLContext
    """For the listener of the webhook port."""
    admin_context: ssl.SSLContext
    """For the listener of the admin port."""
    problem: UsherError | None
    """The problem that the last check found; None without one."""

    @property
    def leaf(self) -> x509.Certificate | None:
        """The certificate that new connections see; None before the first."""
        ...

    @property
    def authority(self) -> x509.Certificate | None:
        """The CA that signs the next leaf, if it is known."""
        ...

    @property
    def settled(self) -> bool:
        """Whether the newest certificate is in service."""
        ...

    @property
    def unusable(self) -> str:
        """Why API servers do not accept the certificate now, or why this server cannot tell; empty if they do."""
        ...

    @property
    def clock_ahead(self) -> timedelta | None:
        """How far this server's clock is ahead of the API server's; None where they are not compared."""
        ...

    def check(self) -> Checked:
        """Checks whether another pair should be served, and serves it."""
        ...


async def watch(
    source: CertificateSource, interval: float = RELOAD_INTERVAL, *, report: Callable[[Checked], None]
) -> None:
    """Checks every `interval` seconds until cancelled, and more often while a new certificate is not in service yet.

    `report` gets each reload, each new problem (once, while its message stays the same) and its end.
    """
    pause = interval if source.leaf is not None else 0.0
    while True:
        await asyncio.sleep(pause)
        before = source.problem
        # A hanging file system must not delay answers.
        checked = await asyncio.to_thread(source.check)
        if checked.reloaded or str(checked.problem) != str(before):
            report(checked)
        pause = interval if source.settled else min(interval, _SOON)


class Reloader:
    """Serves the newest good pair of two files, and asks clients for a certificate of the CAs in a third file."""

    def __init__(  # noqa: PLR0913 - all but the pair have their defaults
        self,
        certificate_file: Path,
        key_file: Path,
        *,
        client_file: Path | None = None,
        names: Sequence[str] = (),
        minimum: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Loads the pair for the first time.

        Args:
            certificate_file: the leaf, and CAs after it.
            key_file: its key.
            client_file: CAs that sign the certificates of clients; None if any client may call.
            names: DNS names and IP addresses that a certificate must have to be served.
            minimum: the oldest TLS version to accept.

        Raises:
            CertificateError: a file is missing or unreadable, the key is another's, or the leaf is not valid now: a
                server does not start with a pair that it cannot serve.
        """
        self._certificate_file = certificate_file
        self._key_file = key_file
        self._client_file = client_file
        self._names = canonical_names(names) if names else []
        self._clock = clock
        self._front = Front(minimum=minimum, asks_clients=client_file is not None)
        self._clients, self._pair = self._load()
        self.context, self.admin_context = self._front.context, self._front.admin_context
        self.problem: UsherError | None = None

    @property
    def leaf(self) -> x509.Certificate:
        """The certificate that new connections see."""
        return self._pair.leaf

    @property
    def authority(self) -> None:
        """None: another owner has the CA."""
        return

    @property
    def settled(self) -> bool:
        """Always true: the files are in service, or `problem` says why not."""
        return True

    @property
    def unusable(self) -> str:
        """Why the certificate is not valid now; empty if it is."""
        problem = certificates.date_problem(self.leaf, now=self._clock())
        return f"the certificate {problem}" if problem else ""

    @property
    def clock_ahead(self) -> None:
        """None: files come without the time of an API server."""
        return

    def check(self) -> Checked:
        """Looks at the files. A pair that differs from the pair in service is checked, and served if it is good.

        A pair that stays the same is a problem too while it is not valid.
        """
        before = self._pair, self._clients
        try:
            clients, pair = self._load(before)
        except CertificateError as problem:
            self.problem = problem
        else:
            self._pair, self._clients, self.problem = pair, clients, None
        return Checked(reloaded=(self._pair, self._clients) != before, problem=self.problem)

    def _load(self, before: object = None) -> tuple[ClientAuthorities | None, certificates.Pair]:
        pair, source = _read_valid_pair(self._certificate_file, self._key_file, now=self._clock())
        lacking = [name for name in self._names if name not in certificates.subject_names(pair.leaf)]
        if lacking:
            raise CertificateError(
                f"{source}: the certificate is not for {', '.join(lacking)}, so API servers would not accept it; issue "
                "it with all names of --certificate-name"
            )
        clients = ClientAuthorities.read(self._client_file) if self._client_file is not None else None
        if (pair, clients) != before:
            self._front.show(pair, clients=clients, source=source)
        return clients, pair


def _read_valid_pair(certificate_file: Path, key_file: Path, *, now: datetime) -> tuple[certificates.Pair, str]:
    certificate_file, key_file = _resolve(certificate_file, key_file)
    pair = certificates.read_pair(certificate_file, key_file)
    certificates.check_dates(pair.leaf, source=certificate_file, now=now)
    return pair, f"{certificate_file}, {key_file}"


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
