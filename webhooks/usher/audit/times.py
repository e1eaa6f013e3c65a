"""Times in the audit document: ISO 8601 in UTC, whole seconds."""

from datetime import UTC, datetime


def text(time: datetime | None) -> str:
    """`2026-11-23T06:00:00Z`; empty for an unknown time."""
    return "" if time is None else time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def of_seconds(seconds: int) -> str:
    """The same text from seconds since 1970."""
    return text(datetime.fromtimestamp(seconds, tz=UTC))
