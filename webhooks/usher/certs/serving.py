"""A serving certificate from two files, and its reload while connections are open.

A new pair is read, checked and made into a separate context, and only then becomes the current one (`contexts`). With
uvicorn 0.47 or later: `Config(..., ssl_context_factory=lambda config, default: source.context)`. No library: uvicorn
reads a certificate once, at its start.
"""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from cryptography import x509

from usher.certs import pem
from usher.certs.authority import canonical_names
from usher.certs.contexts import Clients, Front
from usher.dataclass import dataclass
from usher.errors import CertificateError, UsherError

RELOAD_INTERVAL = 10.0
"""Seconds between checks of the files. Mounted Secrets give no reliable file events."""

_SOON = 1.0
"""Seconds between checks while the server waits for a certificate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The result of a check of the certificate in service."""

    reloaded: bool
    """Whether a new pair is in service from now on."""
    problem: UsherError | None
    """Why the newest pair cannot be served or renewed; the earlier pair stays in service."""


class Source(Protocol):
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

    def check(self) -> Checked:
        """Checks whether another pair should be served, and serves it."""
        ...


async def watch(source: Source, interval: float = RELOAD_INTERVAL, *, report: Callable[[Checked], None]) -> None:
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
            clock: the time.

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

    def check(self) -> Checked:
        """Looks at the files. A pair that differs from the pair in service is checked, and served if it is good.

        A pair that stays the same is a problem too once it has expired.
        """
        before = self._pair, self._clients
        try:
            clients, pair = self._load(before)
        except CertificateError as problem:
            self.problem = problem
        else:
            self._pair, self._clients, self.problem = pair, clients, None
        return Checked(reloaded=(self._pair, self._clients) != before, problem=self.problem)

    def _load(self, before: object = None) -> tuple[Clients | None, pem.Pair]:
        pair, source = _read(self._certificate_file, self._key_file, now=self._clock())
        lacking = [name for name in self._names if name not in pem.subject_names(pair.leaf)]
        if lacking:
            raise CertificateError(
                f"{source}: the certificate is not for {', '.join(lacking)}, so API servers would not accept it; issue "
                "it with all names of --certificate-name"
            )
        clients = Clients.read(self._client_file) if self._client_file is not None else None
        if (pair, clients) != before:
            self._front.show(pair, clients=clients, source=source)
        return clients, pair


def _read(certificate_file: Path, key_file: Path, *, now: datetime) -> tuple[pem.Pair, str]:
    certificate_file, key_file = _resolve(certificate_file, key_file)
    pair = pem.read_pair(certificate_file, key_file)
    pem.check_dates(pair.leaf, source=certificate_file, now=now)
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
