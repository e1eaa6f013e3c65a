"""One item of the checklist: what it asks for, and how a cluster stands."""

from collections.abc import Callable, Iterable

from usher.audit.document import Standing
from usher.audit.gather.needed_inputs import Wanted
from usher.audit.readiness.look import Look
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """How a cluster stands on one item, with what was seen or why it is not known."""

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
    """What makes it pass, in one sentence; for the documentation."""
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
    """For kinds that were not read: with the rule of RBAC that the auditor of a live cluster needs."""
    return not_known(f"not read: {', '.join(resources)}; an audit of a live cluster needs the verb list on them")


def not_wanted(kinds: Iterable[Wanted]) -> Judgement:
    """As `not_listed`, for kinds that the checklist reads by itself."""
    return not_listed(*(each.resource for each in kinds))
