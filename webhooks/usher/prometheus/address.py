"""The address of a Prometheus, and the credentials for it."""

import os
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from usher import errors
from usher.dataclass import dataclass
from usher.http_clients import proxies
from usher.http_clients.proxies import Proxy
from usher.prometheus import headers

TOKEN_VARIABLE: Final = "USHER_PROMETHEUS_TOKEN"  # noqa: S105 - the name of a variable

_LONGEST_TOKEN: Final = 64 * 2**10


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where Prometheus answers. `url` has no credentials, so that it may be shown, and no slash at its end."""

    url: str
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    """Sent as a bearer token instead of user and password."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Names and values."""
    ca_file: Path | None = None
    """CAs to trust instead of those of the system."""
    certificate: Path | None = None
    """The client certificate, with its key in the same file where `key` is None."""
    key: Path | None = None
    proxy: Proxy | None = None

    def context(self) -> ssl.SSLContext:
        """What TLS trusts and shows.

        Raises:
            InputError: a file cannot be used.
        """
        context = _trusting(self.ca_file)
        if self.certificate is not None:
            _show(context, self.certificate, self.key)
        return context


def read(  # noqa: PLR0913 - the options of a command, all named
    url: str,
    *,
    token_file: Path | None = None,
    ca_file: Path | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    given_headers: Iterable[str] = (),
    environment: Mapping[str, str] = os.environ,
) -> Address:
    """The address in the options of a command.

    Args:
        url: http or https, with a path where a proxy asks for one, and `user:password@` for basic authentication.
        token_file: holds a bearer token; without it the variable USHER_PROMETHEUS_TOKEN may.
        ca_file: certificates in PEM.
        certificate: that of the client in PEM, with its key unless `key` is given.
        key: the key of the client in PEM, without a password.
        given_headers: further headers, as NAME=VALUE; the variable USHER_PROMETHEUS_HEADERS may have more.
        environment: variables by name, also those that name a proxy.

    Raises:
        InputError: the URL, a file or the proxy cannot be used.
    """
    parts = _parts(url)
    host = parts.netloc.rpartition("@")[2]
    token = _token(token_file) if token_file else environment.get(TOKEN_VARIABLE, "").strip()
    if not token.isascii() or not token.isprintable():
        raise errors.InputError(f"{token_file or '$' + TOKEN_VARIABLE}: a token is one line of ASCII characters")
    shown = urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
    found = Address(
        url=shown,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        token=token,
        headers=headers.read(given_headers, environment),
        ca_file=ca_file,
        certificate=certificate,
        key=key,
        proxy=proxies.of_environment(shown, environment),
    )
    if (token or found.user) and any(name.lower() == "authorization" for name, _ in found.headers):
        raise errors.InputError(
            f"{headers.OPTION}: Authorization is given beside a token or a user; leave one of them out"
        )
    found.context()
    return found


def _parts(url: str) -> SplitResult:
    # The URL may hold a password, so no message shows it.
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in {"http", "https"} and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or parts.query or parts.fragment:
        raise errors.InputError(
            "--prometheus: write the URL of Prometheus without query: http://prometheus.monitoring:9090 or "
            "https://user:password@example.com/prometheus"
        )
    return parts


def _trusting(file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(file) if file else None)
    except (OSError, ssl.SSLError) as error:
        raise errors.InputError(
            f"{file}: the CA certificates cannot be read: {error.strerror or error}; give a file in PEM"
        ) from None


def _show(context: ssl.SSLContext, certificate: Path, key: Path | None) -> None:
    def refuse() -> str:
        # Without this OpenSSL asks for the password on the terminal.
        raise errors.InputError(f"{key or certificate}: the key has a password; give a key without one")

    try:
        context.load_cert_chain(certificate, key, password=refuse)
    except (OSError, ssl.SSLError) as error:
        files = f"{certificate} and {key}" if key else f"{certificate}"
        raise errors.InputError(
            f"{files}: the client certificate and its key cannot be used: {error.strerror or error}; give them in PEM, "
            "and the key with --prometheus-key if it is in a file of its own"
        ) from None


def _token(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            content = stream.read(_LONGEST_TOKEN + 1)
        token = content.decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise errors.InputError(f"{file}: the token cannot be read: {error}") from None
    if not token or len(content) > _LONGEST_TOKEN:
        raise errors.InputError(f"{file}: a token has 1 to {_LONGEST_TOKEN} bytes")
    return token
