"""Finds values that the cluster or the audit would refuse, before the first run."""

import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import Final

from usher.manifests.audits.settings import Settings

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
"""RFC 1123, as Kubernetes checks names of namespaces."""
_LONGEST_NAME: Final = 253

_MONTHS: Final = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS: Final = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_FIELDS: Final[tuple[tuple[str, int, int, Mapping[str, int]], ...]] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of the month", 1, 31, {}),
    ("month", 1, 12, {name: number for number, name in enumerate(_MONTHS, start=1)}),
    ("day of the week", 0, 6, {name: number for number, name in enumerate(_DAYS)}),
)
"""Fields of a schedule, as the CronJob controller reads them (github.com/robfig/cron, parser.go)."""
_MACROS: Final = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_RANGE: Final = re.compile(r"(\*|\?|[A-Za-z0-9]+)(?:-([A-Za-z0-9]+))?(?:/([0-9]+))?", re.ASCII)


def of(settings: Settings) -> Iterator[str]:
    """The errors in the settings, each with its option and a remedy."""
    for option, name in (
        ("--namespace", settings.namespace),
        ("--prometheus-namespace", settings.prometheus_namespace),
    ):
        if _LABEL.fullmatch(name) is None:
            yield f"{option}: {name[:80]!r} is not a name of a namespace: write lower-case letters, digits and '-'"
    for option, name in (
        ("--claim", settings.claim),
        ("--credentials", settings.credentials),
        ("--clusters", settings.clusters),
        ("--configuration", settings.configuration),
        ("--policies-config-map", settings.policies_config_map),
        ("--prometheus-secret", settings.prometheus_secret),
    ):
        if name and not _is_name(name):
            yield f"{option}: {name[:80]!r} is not a name of an object: write lower-case letters, digits, '-' and '.'"
    for address in settings.api_servers:
        if not _is_network(address):
            yield f"--api-server: {address[:80]!r} is not a network: write a CIDR, for example 10.0.0.1/32"
    if settings.schedule and (reason := _why_no_schedule(settings.schedule)):
        yield f"--schedule: {settings.schedule[:80]!r}: {reason}; write for example '0 6 * * 1', each Monday at 06:00"


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and all(_LABEL.fullmatch(part) for part in text.split("."))


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return "/" in text


def _why_no_schedule(text: str) -> str:
    if text.startswith("@"):
        return "" if text in _MACROS else "this macro of cron is unknown"
    fields = text.split()
    if len(fields) != len(_FIELDS):
        return f"it has {len(fields)} fields, and cron has 5"
    for field, (name, lowest, highest, names) in zip(fields, _FIELDS, strict=True):
        if not all(_is_part(part, lowest, highest, names) for part in field.split(",")):
            return f"{field[:40]!r} is not a value for the {name}, from {lowest} to {highest}"
    return ""


def _is_part(text: str, lowest: int, highest: int, names: Mapping[str, int]) -> bool:
    """Whether a text is `*`, a number, a name or a range, with or without a step."""
    found = _RANGE.fullmatch(text)
    if found is None or (found[1] in ("*", "?") and found[2]) or (found[3] is not None and int(found[3]) == 0):
        return False
    if found[1] in ("*", "?"):
        return True
    ends = [_number(each, names) for each in (found[1], found[2] or found[1])]
    return lowest <= ends[0] <= ends[1] <= highest


def _number(text: str, names: Mapping[str, int]) -> int:
    """The value of a number or a name; -1 for other texts."""
    return int(text) if text.isdecimal() else names.get(text.lower(), -1)
