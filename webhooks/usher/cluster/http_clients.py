"""HTTP clients: causes of failed connections, proxies, waits between retries, and the clock of the other side.

The API server judges certificates by its own clock. So its time counts, and not the time of this machine.
"""

import base64
import email.utils
import ipaddress
import os
import random
import re
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol
from urllib.parse import SplitResult, unquote, urlsplit

import urllib3

from usher import errors, paths
from usher.cluster.api import JSON, Answer, Lists

LONGEST_TEXT: Final = 300

NEEDS_TLS: Final = b"HTTP request to an HTTPS server"
"""The answer of a server written in Go to plain HTTP at a port with TLS (net/http/server.go)."""

_CONNECTION: Final = re.compile(r"\A(<[^>]*>|\w+\(host=[^)]*\)): ")
"""The start of urllib3's messages: the representation of its connection."""

_OF_PROXIES: Final = (
    ("Tunnel connection failed: 407", "write user:password@ into the URL of the proxy"),
    ("Tunnel connection failed", "let the proxy connect to this server, or name the server in NO_PROXY"),
    ("CERTIFICATE_VERIFY_FAILED", "name a file with the CA of the proxy in SSL_CERT_FILE"),
    ("WRONG_VERSION_NUMBER", "the proxy does not speak TLS: write http:// into its URL"),
    ("record layer failure", "the proxy does not speak TLS: write http:// into its URL"),
)


def describe_failure(error: BaseException, remedies: Iterable[tuple[str, str]] = ()) -> str:
    """The deepest cause of an error of the HTTP client as one line, with its remedy if one is known.

    Args:
        remedies: remedies by parts of the messages of OpenSSL and Python about the server; the first part in the text
            decides. They are not used for a proxy, which has the same messages but other remedies.
    """
    causes = list(_causes_of_error(error))
    text = _CONNECTION.sub("", str(causes[-1]))
    known = _OF_PROXIES if any(isinstance(each, urllib3.exceptions.ProxyError) for each in causes) else remedies
    remedy = next((remedy for part, remedy in known if part.lower() in text.lower()), "")
    # OpenSSL ends with a line of its source.
    line = plain_line(text.partition(" (_ssl.c:")[0])
    return f"{line}; {remedy}" if remedy else line


def _causes_of_error(error: BaseException) -> Iterator[BaseException]:
    """The error and what it wraps, the deepest cause last."""
    cause: object = error
    while isinstance(cause, BaseException):
        yield cause
        cause = getattr(cause, "reason", None) or getattr(cause, "original_error", None)


def plain_line(text: str, *, longest: int = LONGEST_TEXT) -> str:
    """A text of another program as one line of printable characters, with at most `longest` characters."""
    line = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * longest])
    line = " ".join(line.split())
    return line if len(line) <= longest else line[: longest - 3] + "..."


_PORTS: Final = {"http": 80, "https": 443}

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A proxy. `url` has no credentials, so that it may be shown."""

    url: str
    source: str
    """The variable or file that names it, for messages."""
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """Credentials for the proxy, which the server behind it never sees."""
        if not self.user and not self.password:
            return {}
        pair = f"{self.user}:{self.password}".encode()
        return {"Proxy-Authorization": f"Basic {base64.b64encode(pair).decode()}"}

    def context(self) -> ssl.SSLContext | None:
        """The TLS settings for the proxy itself: it trusts the CAs of the system, not those of the server behind it.

        It shows no client certificate: that is for the server.
        """
        return ssl.create_default_context() if self.url.startswith("https:") else None


def proxy_of_environment(url: str, environment: Mapping[str, str] = os.environ) -> Proxy | None:
    """The proxy for a URL by HTTPS_PROXY or HTTP_PROXY, else ALL_PROXY; None where NO_PROXY names its host.

    The same names in lower case win. Requests to this machine never use a proxy, so that ports of kubectl port-forward
    stay reachable.

    Raises:
        InputError: the variable holds no proxy that usher can use.
    """
    parts = urlsplit(url)
    name = next((name for name in _variables(parts.scheme) if environment.get(name)), "")
    excluded = environment.get("no_proxy") or environment.get("NO_PROXY", "")
    if not name or _is_local(parts) or _is_excluded(parts, excluded):
        return None
    return read_proxy(environment[name], source=name)


def read_proxy(text: str, *, source: str) -> Proxy:
    """The proxy of a URL, which may have `user:password@` and may lack http://.

    Raises:
        InputError: it is not the URL of an HTTP proxy. The message names the source, and not the URL with its password.
    """
    text = text.strip()
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        found = urllib3.util.parse_url(url)
        usable = parts.scheme in _PORTS and found.host and found.port != 0 and url.isprintable()
    except ValueError:
        usable = False
    if not usable:
        raise errors.InputError(
            f"{source}: usher takes the URL of an HTTP proxy, like http://user:password@proxy.example.com:3128; mend "
            "it, or name the server in NO_PROXY"
        )
    return Proxy(
        url=url,
        source=source,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
    )


def _variables(scheme: str) -> Iterator[str]:
    for name in (f"{scheme}_proxy", "all_proxy"):
        yield name
        yield name.upper()


def _is_local(parts: SplitResult) -> bool:
    address = _address(parts.hostname or "")
    return parts.hostname == "localhost" or (address is not None and address.is_loopback)


def _is_excluded(parts: SplitResult, excluded: str) -> bool:
    host = (parts.hostname or "").rstrip(".")
    port = str(parts.port or _PORTS.get(parts.scheme))
    return any(_matches(entry, host, port) for entry in excluded.lower().replace(",", " ").split())


def _matches(entry: str, host: str, port: str) -> bool:
    """Whether an entry of NO_PROXY is `*`, a network that has the host, its name, or a domain above it."""
    if entry == "*":
        return True
    address = _address(host)
    if address is not None and "/" in entry:
        try:
            return address in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    name, colon, number = entry.rpartition(":")
    if colon and number.isdecimal() and _address(entry) is None:
        if number != port:
            return False
        entry = name
    named = _address(entry.strip("[]"))
    if address is not None or named is not None:
        return address == named
    domain = entry.removeprefix("*").strip(".")
    return bool(domain) and (host == domain or host.endswith(f".{domain}"))


def _address(text: str) -> _Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


ATTEMPTS: Final = 6
"""How often a request is sent to a server that stays busy."""

_LONGEST_WAIT: Final = 30.0
"""The longest wait in seconds that a server may ask for; some ask for hours."""


def wait_for_busy_server(retry_after: str | None, *, attempt: int, now: Callable[[], float] = time.time) -> float:
    """Seconds until a request may be sent again: as the server asks, within a limit.

    Args:
        retry_after: the header Retry-After, in seconds or as a date (RFC 9110, 10.2.3). Without a usable header the
        wait
            doubles each time, from half a second on.
        attempt: the number of the refused request, from 1 on.
        now: the time, in seconds since 1970.
    """
    asked = _seconds(retry_after.strip(), now) if retry_after else None
    return min(0.5 * 2 ** (attempt - 1) if asked is None else max(asked, 0.0), _LONGEST_WAIT)


def _seconds(text: str, now: Callable[[], float]) -> float | None:
    if text.isdecimal():
        return float(text)
    try:
        return email.utils.parsedate_to_datetime(text).timestamp() - now()
    except (ValueError, OverflowError):
        return None


class Backoff:
    """Waits that double with each failure, up to a ceiling, and vary at random.

    Without that variation, all clients would come back at the same time after an outage and overload the API server.
    """

    def __init__(self, *, first: float, ceiling: float, chance: Callable[[], float] = random.random) -> None:
        """Takes the first and the longest wait in seconds, and a source of numbers from 0 to 1."""
        self._first = first
        self._ceiling = ceiling
        self._chance = chance
        self._failures = 0

    def next(self) -> float:
        """Seconds to wait after one more failure: between half of the doubled wait and all of it."""
        # Without a bound the number would grow for as long as there is no API server.
        due = min(self._first * float(1 << min(self._failures, 32)), self._ceiling)
        self._failures += 1
        return due * (1 + self._chance()) / 2

    def reset(self) -> None:
        self._failures = 0


_RESOLUTION: Final = timedelta(seconds=1)
"""Date has whole seconds, rounded down (RFC 9110, 5.6.7)."""


class Api(Lists, Protocol):
    """An API that reads and writes objects. Each method raises ClusterError without an answer."""

    def put(self, path: str, value: paths.Object) -> Answer:
        """The answer to a PUT of an object, with any status."""
        ...

    def patch(self, path: str, operations: Sequence[paths.Object]) -> Answer:
        """The answer to a JSON patch, with any status."""
        ...

    def apply(self, path: str, value: paths.Object) -> Answer:
        """The answer to a server-side apply of an object, with any status."""
        ...


class TimedApi:
    """Passes requests on, and compares the clock of this machine with the time of each answer."""

    def __init__(self, api: Api, clock: Callable[[], datetime]) -> None:
        self._api = api
        self._clock = clock
        self.ahead: timedelta | None = None
        """How far this machine's clock is ahead of the API server's, at least; negative if it is behind.
        None before the first answer, and after an answer without Date."""

    @property
    def name(self) -> str:
        return self._api.name

    def now(self) -> datetime:
        """The time of the API server, as far as it is known."""
        return self._clock() - (self.ahead or timedelta())

    def clock_problem(self, tolerance: timedelta) -> str:
        """Says that this machine's clock is wrong by more than `tolerance`; empty if it is not, or nothing is known."""
        if self.ahead is None or abs(self.ahead) <= tolerance:
            return ""
        way = "ahead of" if self.ahead > timedelta() else "behind"
        return f"the clock of this server is {_words(self.ahead)} {way} the API server's; set the clock of its node"

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON) -> Answer:
        return self._timed(lambda: self._api.get(path, query=query, accept=accept))

    def put(self, path: str, value: paths.Object) -> Answer:
        return self._timed(lambda: self._api.put(path, value))

    def patch(self, path: str, operations: Sequence[paths.Object]) -> Answer:
        return self._timed(lambda: self._api.patch(path, operations))

    def apply(self, path: str, value: paths.Object) -> Answer:
        return self._timed(lambda: self._api.apply(path, value))

    def _timed(self, request: Callable[[], Answer]) -> Answer:
        before = self._clock()
        answer = request()
        self.ahead = _ahead(_parsed(answer.date), before=before, after=self._clock())
        return answer


def _words(span: timedelta) -> str:
    """A duration for people, in its largest unit: `100 days`."""
    seconds = abs(span.total_seconds())
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            number = round(seconds / length)
            return f"{number} {unit}{'' if number == 1 else 's'}"
    return f"{int(seconds)} seconds"


def _ahead(date: datetime | None, *, before: datetime, after: datetime) -> timedelta | None:
    """The smallest difference that explains the Date of an answer to a request between two times of this clock."""
    if date is None:
        return None
    least, most = before - (date + _RESOLUTION), after - date
    return max(least, timedelta()) + min(most, timedelta())


def _parsed(date: str) -> datetime | None:
    try:
        return email.utils.parsedate_to_datetime(date).astimezone(UTC) if date else None
    except (ValueError, OverflowError):
        return None
