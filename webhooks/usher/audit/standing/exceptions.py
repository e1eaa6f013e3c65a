"""Exceptions of usher.yaml that cover nothing."""

from collections.abc import Iterator
from typing import Final

from usher.audit import fields
from usher.audit.document import FindingEntry
from usher.audit.standing import entries
from usher.audit.standing.situation import Situation
from usher.config import selection
from usher.scan.exception_uses import ExceptionState, ExceptionUse

_API_VERSION: Final = "gpu-usher.io/v1alpha1"
_KIND: Final = "Config"


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """The findings about each exception; the subject is its ticket in usher.yaml.

    Without a complete look at the cluster an exception only seems to be unused.
    """
    there = situation.known.facts.names("", "Namespace")
    complete = situation.estate.complete and not situation.report.failed
    for number, use in enumerate(situation.report.exceptions):
        path = f"enforcement.exceptions[{number}]"
        if use.state is ExceptionState.EXPIRED:
            message = f"it ended on {use.expires.isoformat()}"
            yield _finding("USA011", use, path, message)
        elif use.state is ExceptionState.UNUSED and there and not any(_fits(use, name) for name in there):
            yield _finding("USA012", use, path, f"no namespace has a name like {fields.listing(use.namespaces)}")
        elif use.state is ExceptionState.UNUSED and complete:
            yield _finding("USA010", use, path, "no object has a finding that it covers")


def _fits(use: ExceptionUse, namespace: str) -> bool:
    return selection.matches(namespace, use.namespaces)


def _finding(code: str, use: ExceptionUse, path: str, message: str) -> FindingEntry:
    checks = fields.listing(use.checks)
    return entries.finding(
        code,
        entries.named(_API_VERSION, _KIND, use.ticket),
        f"the exception {use.ticket} for {checks}: {message}",
        part=f"{','.join(sorted(use.checks))} {','.join(sorted(use.namespaces))}",
        path=path,
        evidence=(f"owner: {use.owner}", f"namespaces: {fields.listing(use.namespaces)}"),
        team=use.owner,
    )
