"""Why a connection failed, in plain words, and what to do about it."""

from typing import Final

LONGEST: Final = 300

_CLIENT: Final = "give a client certificate that the server accepts, with --prometheus-cert FILE"

_REMEDIES: Final = (
    ("certificate has expired", "renew the certificate of the server"),
    ("certificate is not yet valid", "compare the clocks of both machines"),
    ("Hostname mismatch", "write a host name of the certificate into the URL"),
    ("IP address mismatch", "write a host name of the certificate into the URL"),
    ("CERTIFICATE_VERIFY_FAILED", "give its CA with --prometheus-ca FILE"),
    ("certificate required", _CLIENT),
    # Servers that were built with older versions of Go say this to clients without a certificate too.
    ("alert bad certificate", _CLIENT),
    ("alert unknown ca", _CLIENT),
    ("alert certificate expired", "renew the certificate of --prometheus-cert"),
    ("WRONG_VERSION_NUMBER", "this port does not speak TLS: write http:// into the URL"),
    ("record layer failure", "this port does not speak TLS: write http:// into the URL"),
)
"""By parts of what OpenSSL and Python say; the first that is in a text decides."""


def described(error: BaseException) -> str:
    """The deepest cause of an error of the HTTP client as one line, with its remedy where one is known."""
    reason = getattr(error, "reason", None)
    while isinstance(reason, BaseException):
        error, reason = reason, getattr(reason, "reason", None)
    text = str(error)
    # urllib3 begins with the representation of its connection, OpenSSL ends with a line of its source.
    text = text.rpartition("object at 0x")[2].partition(": ")[2] or text
    remedy = next((remedy for part, remedy in _REMEDIES if part.lower() in text.lower()), "")
    line = plain(text.partition(" (_ssl.c:")[0])
    return f"{line}; {remedy}" if remedy else line


def plain(text: str) -> str:
    """A text of another program as one short line of printable characters."""
    line = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * LONGEST])
    line = " ".join(line.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."
