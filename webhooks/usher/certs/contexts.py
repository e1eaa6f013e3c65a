"""TLS contexts for the webhook server, which it replaces while connections are open.

A live `SSLContext` is never changed: a pair that does not match would leave it unable to serve. Instead the server
listens with a front context without a certificate, whose `sni_callback` replaces it by the current context at each
handshake (OpenSSL calls it for clients without SNI too). A new pair gets a separate context first, and only then
becomes the current one; open connections keep their context.
"""

import os
import ssl
from pathlib import Path

from usher.certs import pem
from usher.dataclass import dataclass
from usher.errors import CertificateError


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """The CAs that sign the certificates of clients, in PEM; without them any client may call."""

    authorities: bytes

    @classmethod
    def read(cls, file: Path) -> "Clients":
        """The CAs of a file.

        Raises:
            CertificateError: it is missing, or holds no readable certificate.
        """
        content = pem.read(file)
        pem.certificates(content, source=file)
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

    def show(self, pair: pem.Pair, *, clients: Clients | None, source: str) -> None:
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

    def show_for_admin(self, pair: pem.Pair, *, source: str) -> None:
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


def context_of(pair: pem.Pair, *, minimum: ssl.TLSVersion, source: str) -> ssl.SSLContext:
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
