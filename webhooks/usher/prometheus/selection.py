"""Which series to read of a Prometheus that has those of several clusters."""

import re
from collections.abc import Iterable
from typing import Final

from usher import errors

OPTION: Final = "--prometheus-label"

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_CLUSTER: Final = "{cluster}"
_MOST: Final = 16
_LONGEST_VALUE: Final = 1024


def read(given: Iterable[str], *, cluster: str) -> tuple[tuple[str, str], ...]:
    """The labels that series must have, as names and values.

    Args:
        given: `NAME=VALUE` of each option.
        cluster: what {cluster} stands for.

    Raises:
        InputError: a text is not a label.
    """
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or _NAME.fullmatch(name) is None or not _is_value(value):
            raise errors.InputError(f"{OPTION}: {text[:100]!r} is not NAME=VALUE, for example cluster=prod-1")
        if name in found:
            raise errors.InputError(f"{OPTION}: {name} is given twice; write one value")
        if _CLUSTER in value and not cluster:
            raise errors.InputError(f"{OPTION}: {text} needs the name of the cluster; give it with --cluster-name NAME")
        found[name] = value.replace(_CLUSTER, cluster)
    if len(found) > _MOST:
        raise errors.InputError(f"{OPTION}: {len(found)} labels are given; usher takes at most {_MOST}")
    return tuple(found.items())


def _is_value(value: str) -> bool:
    return 0 < len(value) <= _LONGEST_VALUE and value.isprintable()
