"""One item of the checklist, and the verdict of a cluster on it."""

from collections.abc import Callable, Iterable

from usher.audit.building.wanted import Wanted
from usher.audit.document import Standing
from usher.audit.readiness.look import Look
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict of a cluster on one item, with the evidence or the reason why it is unknown."""

    standing: Standing
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item of the checklist. Ids are an interface: they never get another meaning."""

    id: str
    area: str
    """`drivers`, `monitoring`, `scheduling`, `isolation`, `capacity` or `recovery`."""
    title: str
    how: str
    """The condition to pass in one sentence, for the documentation."""
    remedy: str
    reference: str
    """The document that asks for it."""
    conformance: str = ""
    """The item of the CNCF AI conformance programme, where there is one."""
    judge: Callable[[Look], Judgement]


def passed(*evidence: str) -> Judgement:
    return Judgement(standing=Standing.PASS, evidence=evidence)


def failed(*evidence: str) -> Judgement:
    return Judgement(standing=Standing.FAIL, evidence=evidence)


def not_known(*evidence: str) -> Judgement:
    return Judgement(standing=Standing.NOT_KNOWN, evidence=evidence)


def not_applicable(*evidence: str) -> Judgement:
    return Judgement(standing=Standing.NOT_APPLICABLE, evidence=evidence)


def not_listed(*resources: str) -> Judgement:
    """The verdict for kinds that were not read, with the RBAC rule that the auditor of a live cluster needs."""
    return not_known(f"not read: {', '.join(resources)}; an audit of a live cluster needs the verb list on them")


def not_wanted(kinds: Iterable[Wanted]) -> Judgement:
    """The verdict for kinds that only the checklist reads and that were not read."""
    return not_listed(*(each.resource for each in kinds))
