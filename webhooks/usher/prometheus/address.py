"""The address of a Prometheus, and the credentials for it."""

import os
import ssl
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from usher import errors
from usher.dataclass import dataclass

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
    ca_file: Path | None = None
    """CAs to trust instead of those of the system."""


def read(
    url: str,
    *,
    token_file: Path | None = None,
    ca_file: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Address:
    """The address in the options of a command.

    Args:
        url: http or https, with a path where a proxy asks for one, and `user:password@` for basic authentication.
        token_file: holds a bearer token; without it the variable USHER_PROMETHEUS_TOKEN may.
        ca_file: certificates in PEM.
        environment: variables by name.

    Raises:
        InputError: the URL or a file cannot be used.
    """
    parts = _parts(url)
    if ca_file is not None:
        _check_certificates(ca_file)
    host = parts.netloc.rpartition("@")[2]
    token = _token(token_file) if token_file else environment.get(TOKEN_VARIABLE, "").strip()
    if not token.isascii() or not token.isprintable():
        raise errors.InputError(f"{token_file or '$' + TOKEN_VARIABLE}: a token is one line of ASCII characters")
    return Address(
        url=urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", "")),
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        token=token,
        ca_file=ca_file,
    )


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


def _check_certificates(file: Path) -> None:
    try:
        ssl.create_default_context(cafile=str(file))
    except (OSError, ssl.SSLError) as error:
        raise errors.InputError(
            f"{file}: the CA certificates cannot be read: {error.strerror or error}; give a file in PEM"
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
