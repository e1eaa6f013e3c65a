"""Findings about exceptions of usher.yaml that have ended, cover nothing, or are not needed any more.

The checks find the same with and without exceptions, so the decisions of the audit show the result without an
exception.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from typing import Final

from usher.audit import fields
from usher.audit.document import FindingEntry
from usher.audit.standing import entries
from usher.audit.standing.situation import Situation
from usher.check.findings import ExceptionState, ExceptionUse
from usher.config import selection

UNUSED: Final = "USA010"
NOT_NEEDED: Final = "USA012"
_EXPIRED: Final = "USA011"

_API_VERSION: Final = "gpu-usher.io/v1alpha1"
_KIND: Final = "Config"


def place(number: int) -> str:
    """The path of an exception in usher.yaml, by its number from 0."""
    return f"enforcement.exceptions[{number}]"


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """At most one finding about each exception; the subject is its ticket in usher.yaml.

    The end date is always known. An exception is surely not needed only if usher read every object that it matches and
    evaluated each check that it names on them.
    """
    uses = situation.report.exceptions
    for number, use in enumerate(uses):
        known = _is_known(use, situation)
        if use.state is ExceptionState.EXPIRED:
            yield _expired(number, use, known=known)
        elif known and use.state is ExceptionState.USED and not use.needed_findings:
            what = entries.counted(use.findings, "finding")
            yield _finding(NOT_NEEDED, number, use, f"it covers {what}, and usher.yaml would only note them without it")
        elif known and use.state is ExceptionState.UNUSED:
            yield from _unused(number, use, situation)


def _is_known(use: ExceptionUse, situation: Situation) -> bool:
    """Whether usher read and judged every object that it matches. A dump holds only some kinds, and manifests are not a
    cluster.
    """
    from_cluster = situation.report.origin or (situation.estate.pods_read and (use.objects or not use.kinds))
    return bool(situation.complete and from_cluster and use.known and not use.aside)


def _unused(number: int, use: ExceptionUse, situation: Situation) -> Iterator[FindingEntry]:
    covering = [(place(each), situation.report.exceptions[each]) for each in use.covered_by]
    if covering:
        if all(each.expires >= use.expires for _, each in covering):
            names = fields.listing([f"{each.ticket} ({at})" for at, each in covering])
            yield _finding(UNUSED, number, use, f"{names} covers the same findings first, and does not end earlier")
    elif use.objects_with_findings:
        return
    elif use.objects:
        passing = "the only object that it matches passes" if use.objects == 1 else (
            f"all {use.objects:,} objects that it matches pass"
        )  # fmt: skip
        yield _finding(NOT_NEEDED, number, use, f"{passing} without it")
    else:
        there = situation.known.facts.names("", "Namespace")
        gone = there and not any(selection.matches_pattern(name, use.namespaces) for name in there)
        reason = f"no namespace has a name like {fields.listing(use.namespaces)}" if gone else "it matches no object"
        yield _finding(UNUSED, number, use, reason)


def _expired(number: int, use: ExceptionUse, *, known: bool) -> FindingEntry:
    since = datetime.combine(use.expires + timedelta(days=1), time(), UTC) if use.expires.year < 9999 else None
    ended = f"its last day was {use.expires.isoformat()}"
    if use.objects_with_findings:
        what = entries.counted(use.objects_with_findings, "object")
        has = "has a finding" if use.objects_with_findings == 1 else "have findings"
        message = f"{ended}, and {what} {has} that it covered ({fields.listing(use.codes)})"
        remedy = f"Mend what the evidence names and remove {place(number)} from usher.yaml, or agree on a new last day "
        return _finding(_EXPIRED, number, use, message, since=since, remedy=f"{remedy}and set expires.")
    message = f"{ended}, and no object needs it any more" if known else ended
    remedy = f"{_remove(number)}." if known else ""
    return _finding(_EXPIRED, number, use, message, since=since, remedy=remedy)


def _finding(  # noqa: PLR0913 - the fields of a finding
    code: str, number: int, use: ExceptionUse, message: str, *, remedy: str = "", since: datetime | None = None
) -> FindingEntry:
    return entries.finding(
        code,
        entries.named(_API_VERSION, _KIND, use.ticket),
        f"the exception {use.ticket} for {fields.listing(use.checks)}: {message}",
        part=" ".join(",".join(sorted(each)) for each in (use.checks, use.namespaces, use.kinds, use.names) if each),
        # Some shards of a cluster see no object that it matches. Others see that all these objects pass.
        same_as=UNUSED if code == NOT_NEEDED else "",
        path=place(number),
        remedy=remedy or (f"{_remove(number)}, unless another cluster needs it." if code != _EXPIRED else ""),
        evidence=_evidence(use),
        team=use.owner,
        since=since,
    )


def _remove(number: int) -> str:
    return f"Remove {place(number)} from usher.yaml"


def _evidence(use: ExceptionUse) -> Iterator[str]:
    yield f"owner: {use.owner}"
    yield f"namespaces: {fields.listing(use.namespaces)}"
    if use.kinds:
        yield f"kinds: {fields.listing(use.kinds)}"
    if use.names:
        yield f"names: {fields.listing(use.names)}"
    yield f"objects that it matches: {use.objects:,}"
    if use.codes:
        codes = fields.listing(use.codes)
        yield f"with findings of its checks ({codes}): {_some(use)}"


def _some(use: ExceptionUse) -> str:
    more = use.objects_with_findings - len(use.examples)
    shown = ", ".join(map(fields.excerpt, use.examples))
    return f"{shown} and {more:,} more" if more and shown else shown or f"{more:,}"
