"""Numbers, times and names of an audit document for people."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from usher.audit.document import Subject
from usher.reports import wording
from usher.scan.findings import Identity

_LONGEST: Final = 63


def number(value: float) -> str:
    """`64`, `0.7`, `1,234.5`: one digit behind the point, if there is one."""
    rounded = round(value, 1)
    return f"{int(rounded):,}" if rounded == int(rounded) else f"{rounded:,.1f}"


def gpus(value: float) -> str:
    """`1 GPU`, `64 GPUs`, `0.7 GPUs`."""
    text = number(value)
    return f"{text} {'GPU' if text == '1' else 'GPUs'}"


def share(value: float) -> str:
    """`79 %`; a small share is not 0 %, and nearly all is not 100 %."""
    percent = value * 100
    if 0 < percent < 0.5:
        return "under 1 %"
    if 99.5 <= percent < 100:
        return "over 99 %"
    return f"{round(percent)} %"


def money(value: float, currency: str) -> str:
    """`12,345 USD`; small amounts with cents."""
    return f"{value:,.2f} {currency}" if 0 < abs(value) < 100 else f"{round(value):,} {currency}"


def subject(value: Subject) -> str:
    """`Job ml-research/bert`."""
    return str(Identity(api_version=value.api_version, kind=value.kind, namespace=value.namespace, name=value.name))


def short(name: str) -> str:
    """A name for a column: labels and namespaces of Kubernetes have at most 63 characters; longer ones are cut."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def findings(counts: Mapping[str, int]) -> str:
    """`2 errors, 10 warnings, 36 notes`, by outcome; only errors are said where they are 0."""
    parts = (
        wording.count(counts.get("deny", 0), "error") if counts.get("deny") else "no errors",
        wording.count(counts["warn"], "warning") if counts.get("warn") else "",
        wording.count(counts["audit"], "note") if counts.get("audit") else "",
    )
    return ", ".join(filter(None, parts))


def age(since: str, now: str) -> str:
    """`3 days`, `5 hours`, `20 minutes`; empty where the beginning is not known."""
    if not since or not now:
        return ""
    seconds = (datetime.fromisoformat(now) - datetime.fromisoformat(since)).total_seconds()
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        whole = int(seconds // length)
        if whole >= 1:
            return f"{whole:,} {unit if whole == 1 else unit + 's'}"
    return "less than a minute" if seconds >= 0 else ""


def moment(value: str) -> str:
    """`2026-11-23 06:00 UTC`."""
    return f"{value[:10]} {value[11:16]} UTC" if value else ""
