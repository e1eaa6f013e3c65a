"""The endpoint of a Prometheus: its address, the credentials for it, and which of its series to read."""

import os
import re
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from msgspec import Struct

from usher import errors
from usher.cluster import http_clients
from usher.cluster.http_clients import Proxy

HEADER_OPTION: Final = "--prometheus-header"
HEADERS_VARIABLE: Final = "USHER_PROMETHEUS_HEADERS"

_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}", re.ASCII)
"""A token of RFC 9110, section 5.6.2."""
_MOST_HEADERS: Final = 16
_LONGEST_HEADER: Final = 8192

_OURS: Final = frozenset(
    {
        *("accept", "accept-encoding", "connection", "content-length", "content-type", "expect", "host", "te"),
        *("trailer", "transfer-encoding", "upgrade"),
    }
)
"""Headers that usher sets itself, because they decide how requests and answers are read."""


def read_headers(given: Iterable[str], environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The headers of the options and of the variable, as names and values.

    Args:
        given: `NAME=VALUE` of each option. It replaces a header of the same name in the variable.
        environment: USHER_PROMETHEUS_HEADERS in it has `NAME=VALUE` on each line.

    Raises:
        InputError: a header cannot be sent. No message shows a value, because it may be a secret.
    """
    lines = [line.strip() for line in environment.get(HEADERS_VARIABLE, "").splitlines()]
    options = _parsed_headers(given, HEADER_OPTION)
    found = {**_parsed_headers(filter(None, lines), f"${HEADERS_VARIABLE}"), **options}
    if len(found) > _MOST_HEADERS:
        raise errors.InputError(f"{HEADER_OPTION}: {len(found)} headers are given; usher sends at most {_MOST_HEADERS}")
    return tuple((name, value) for name, value in found.values())


def _parsed_headers(texts: Iterable[str], source: str) -> dict[str, tuple[str, str]]:
    """Names and values by the lower-case name, because headers ignore case."""
    found: dict[str, tuple[str, str]] = {}
    for number, text in enumerate(texts, start=1):
        name, equals, value = text.partition("=")
        name, value = name.strip(), value.strip(" \t")
        if not equals or _HEADER_NAME.fullmatch(name) is None:
            raise errors.InputError(
                f"{source}: header {number} is not NAME=VALUE with a name of letters, digits and -; for example "
                "X-Scope-OrgID=team-a"
            )
        key = name.lower()
        if key in _OURS:
            raise errors.InputError(f"{source}: usher sets {name} itself; leave it out")
        if key in found:
            raise errors.InputError(f"{source}: {name} is given twice; write one value")
        if not value or len(value) > _LONGEST_HEADER or not (value.isascii() and value.isprintable()):
            raise errors.InputError(
                f"{source}: the value of {name} has to be 1 to {_LONGEST_HEADER} printable ASCII characters on one line"
            )
        found[key] = name, value
    return found


TOKEN_VARIABLE: Final = "USHER_PROMETHEUS_TOKEN"  # noqa: S105 - the name of a variable

_LONGEST_TOKEN: Final = 64 * 2**10


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The address of Prometheus. `url` has no credentials, so it may be shown, and no slash at its end."""

    url: str
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    """A bearer token, sent instead of user and password."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Names and values."""
    ca_file: Path | None = None
    """CAs to trust instead of the system's."""
    certificate: Path | None = None
    """The client certificate; the file also has the key if `key` is None."""
    key: Path | None = None
    proxy: Proxy | None = None

    def context(self) -> ssl.SSLContext:
        """The TLS context with the trusted CAs and the client certificate.

        Raises:
            InputError: a file cannot be used.
        """
        context = _tls_context(self.ca_file)
        if self.certificate is not None:
            _load_client_certificate(context, self.certificate, self.key)
        return context


def read_address(  # noqa: PLR0913 - the options of a command, all named
    url: str,
    *,
    token_file: Path | None = None,
    ca_file: Path | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    given_headers: Iterable[str] = (),
    environment: Mapping[str, str] = os.environ,
) -> Address:
    """The address from the options of a command.

    Args:
        url: http or https, with a path if a proxy needs one, and `user:password@` for basic authentication.
        token_file: a file with a bearer token; by default the token comes from the variable USHER_PROMETHEUS_TOKEN.
        ca_file: certificates in PEM.
        certificate: the client certificate in PEM, with its key unless `key` is given.
        key: the key of the client in PEM, without a password.
        given_headers: further headers, as NAME=VALUE; the variable USHER_PROMETHEUS_HEADERS may have more.
        environment: variables by name, including those for a proxy.

    Raises:
        InputError: the URL, a file or the proxy cannot be used.
    """
    parts = _split_url(url)
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
        headers=read_headers(given_headers, environment),
        ca_file=ca_file,
        certificate=certificate,
        key=key,
        proxy=http_clients.proxy_of_environment(shown, environment),
    )
    if (token or found.user) and any(name.lower() == "authorization" for name, _ in found.headers):
        raise errors.InputError(
            f"{HEADER_OPTION}: Authorization is given beside a token or a user; leave one of them out"
        )
    found.context()
    return found


def _split_url(url: str) -> SplitResult:
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


def _tls_context(file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(file) if file else None)
    except (OSError, ssl.SSLError) as error:
        raise errors.InputError(
            f"{file}: the CA certificates cannot be read: {error.strerror or error}; give a file in PEM"
        ) from None


def _load_client_certificate(context: ssl.SSLContext, certificate: Path, key: Path | None) -> None:
    def refuse() -> str:
        # Without it, OpenSSL asks for the password on the terminal.
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


TOKEN_FILE: Final = "token"  # noqa: S105 - the name of a file
CA_FILE: Final = "ca.crt"
CERTIFICATE_FILE: Final = "tls.crt"
KEY_FILE: Final = "tls.key"


class MountedFiles(Struct, frozen=True, kw_only=True):
    """The files of a folder; None for missing files."""

    token: Path | None = None
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


def mounted_files(folder: Path) -> MountedFiles:
    """The files by their usual names in Secrets of service accounts and of certificates.

    Raises:
        InputError: the folder has no such file.
    """
    found = {
        name: folder / name for name in (TOKEN_FILE, CA_FILE, CERTIFICATE_FILE, KEY_FILE) if (folder / name).is_file()
    }
    if not found:
        raise errors.InputError(
            f"{folder}: the folder has no file {TOKEN_FILE}, {CA_FILE}, {CERTIFICATE_FILE} or {KEY_FILE}; mount a "
            "Secret with these keys"
        )
    if KEY_FILE in found and CERTIFICATE_FILE not in found:
        raise errors.InputError(f"{folder}: {KEY_FILE} belongs to a certificate; add {CERTIFICATE_FILE} to the Secret")
    return MountedFiles(
        token=found.get(TOKEN_FILE),
        ca=found.get(CA_FILE),
        certificate=found.get(CERTIFICATE_FILE),
        key=found.get(KEY_FILE),
    )


LABEL_OPTION: Final = "--prometheus-label"

_LABEL_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_CLUSTER: Final = "{cluster}"
_MOST_LABELS: Final = 16
_LONGEST_LABEL: Final = 1024


def read_labels(given: Iterable[str], *, cluster: str) -> tuple[tuple[str, str], ...]:
    """The labels that series must have, as names and values.

    Args:
        given: `NAME=VALUE` of each option.
        cluster: the value for {cluster}.

    Raises:
        InputError: a text is not a label.
    """
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or _LABEL_NAME.fullmatch(name) is None or not _is_label_value(value):
            raise errors.InputError(f"{LABEL_OPTION}: {text[:100]!r} is not NAME=VALUE, for example cluster=prod-1")
        if name in found:
            raise errors.InputError(f"{LABEL_OPTION}: {name} is given twice; write one value")
        if _CLUSTER in value and not cluster:
            raise errors.InputError(
                f"{LABEL_OPTION}: {text} needs the name of the cluster; give it with --cluster-name NAME"
            )
        found[name] = value.replace(_CLUSTER, cluster)
    if len(found) > _MOST_LABELS:
        raise errors.InputError(f"{LABEL_OPTION}: {len(found)} labels are given; usher takes at most {_MOST_LABELS}")
    return tuple(found.items())


def _is_label_value(value: str) -> bool:
    return 0 < len(value) <= _LONGEST_LABEL and value.isprintable()
