"""The production checklist of a GPU cluster, each item with its evidence."""

from enum import StrEnum

from usher.audit.document.part import Part


class Standing(StrEnum):
    """`not known` is neither a pass nor a failure."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    NOT_KNOWN = "not known"
    NOT_APPLICABLE = "does not apply"


class ReadinessItem(Part):
    id: str
    area: str
    """Drivers, monitoring, scheduling, isolation, capacity or recovery."""
    title: str
    standing: Standing
    evidence: tuple[str, ...]
    """What was seen, or why it is not known."""
    remedy: str = ""
    reference: str = ""
    """The document that asks for it."""
    conformance: str = ""
    """The item of the CNCF AI conformance programme, where there is one."""
