"""Why a connection failed, in plain words, and the remedy."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

import urllib3

LONGEST: Final = 300

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


def described(error: BaseException, remedies: Iterable[tuple[str, str]] = ()) -> str:
    """The deepest cause of an error of the HTTP client as one line, with its remedy if one is known.

    Args:
        error: the error of urllib3.
        remedies: remedies by parts of the messages of OpenSSL and Python about the server; the first part in the text
            decides. They are not used for a proxy, which has the same messages but other remedies.
    """
    causes = list(_causes(error))
    text = _CONNECTION.sub("", str(causes[-1]))
    known = _OF_PROXIES if any(isinstance(each, urllib3.exceptions.ProxyError) for each in causes) else remedies
    remedy = next((remedy for part, remedy in known if part.lower() in text.lower()), "")
    # OpenSSL ends with a line of its source.
    line = plain(text.partition(" (_ssl.c:")[0])
    return f"{line}; {remedy}" if remedy else line


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it wraps, the deepest cause last."""
    cause: object = error
    while isinstance(cause, BaseException):
        yield cause
        cause = getattr(cause, "reason", None) or getattr(cause, "original_error", None)


def plain(text: str, *, longest: int = LONGEST) -> str:
    """A text of another program as one line of printable characters, with at most `longest` characters."""
    line = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * longest])
    line = " ".join(line.split())
    return line if len(line) <= longest else line[: longest - 3] + "..."
