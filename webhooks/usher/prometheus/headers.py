"""Further headers of requests: the tenant of Mimir, the key of a gateway."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from usher import errors

OPTION: Final = "--prometheus-header"
VARIABLE: Final = "USHER_PROMETHEUS_HEADERS"

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}", re.ASCII)
"""A token of RFC 9110, section 5.6.2."""
_MOST: Final = 16
_LONGEST_VALUE: Final = 8192

_OURS: Final = frozenset(
    {
        *("accept", "accept-encoding", "connection", "content-length", "content-type", "expect", "host", "te"),
        *("trailer", "transfer-encoding", "upgrade"),
    }
)
"""Headers that decide how requests and answers are read."""


def read(given: Iterable[str], environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The headers of the options, and those of the variable, as names and values.

    Args:
        given: `NAME=VALUE` of each option. A header of the same name in the variable is then left out.
        environment: USHER_PROMETHEUS_HEADERS in it has `NAME=VALUE` on each line.

    Raises:
        InputError: a header cannot be sent. No message shows a value, because it may be a secret.
    """
    lines = [line.strip() for line in environment.get(VARIABLE, "").splitlines()]
    options = _parsed(given, OPTION)
    found = {**_parsed(filter(None, lines), f"${VARIABLE}"), **options}
    if len(found) > _MOST:
        raise errors.InputError(f"{OPTION}: {len(found)} headers are given; usher sends at most {_MOST}")
    return tuple((name, value) for name, value in found.values())


def _parsed(texts: Iterable[str], source: str) -> dict[str, tuple[str, str]]:
    """Names and values by the name in lower case, because headers do not distinguish case."""
    found: dict[str, tuple[str, str]] = {}
    for number, text in enumerate(texts, start=1):
        name, equals, value = text.partition("=")
        name, value = name.strip(), value.strip(" \t")
        if not equals or _NAME.fullmatch(name) is None:
            raise errors.InputError(
                f"{source}: header {number} is not NAME=VALUE with a name of letters, digits and -; for example "
                "X-Scope-OrgID=team-a"
            )
        key = name.lower()
        if key in _OURS:
            raise errors.InputError(f"{source}: usher sets {name} itself; leave it out")
        if key in found:
            raise errors.InputError(f"{source}: {name} is given twice; write one value")
        if not value or len(value) > _LONGEST_VALUE or not _is_one_line(value):
            raise errors.InputError(
                f"{source}: the value of {name} has to be 1 to {_LONGEST_VALUE} printable ASCII characters on one line"
            )
        found[key] = name, value
    return found


def _is_one_line(value: str) -> bool:
    return value.isascii() and value.isprintable()
