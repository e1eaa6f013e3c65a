"""What changed since earlier audits."""

from collections.abc import Mapping

from pydantic import Field

from usher.audit.document.part import Part


class Point(Part):
    """One earlier audit, by its headline numbers; null where it did not measure one."""

    taken: str
    complete: bool
    gpus: float | None = None
    """Null where nodes are not known."""
    gpus_allocated: float | None
    idle: float | None = None
    idle_cost: float | None = None
    not_held: float | None = None
    """GPU-hours that no pod held, and what they cost; audits of an earlier usher have null."""
    not_held_cost: float | None = None
    activity: float | None = None
    findings: int
    never: int | None
    readiness_failed: int = 0


class Entry(Part):
    """A finding that an earlier audit saw first, or that is gone."""

    fingerprint: str
    code: str
    title: str
    subject: str
    first_seen: str
    last_seen: str


class Trend(Part):
    """The comparison with the audit before. `problems` says why one cannot be compared."""

    previous: str = ""
    """When the audit before was taken; empty for the first one."""
    new: tuple[str, ...] = ()
    """Fingerprints of findings that the audit before did not have."""
    fixed: tuple[Entry, ...] = ()
    first_seen: Mapping[str, str] = Field(default={})
    """By fingerprint, for the findings of now."""
    points: tuple[Point, ...] = ()
    """Oldest first, the audit of now included."""
    problems: tuple[str, ...] = ()
