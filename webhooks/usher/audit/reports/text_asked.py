"""What workloads ask for, in text; of manifests nothing else is known."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from usher.audit.document import Audit, WorkloadEntry
from usher.audit.reports import numbers, words
from usher.reports import wording
from usher.reports.lines import Row

_FILES: Final = (
    "allocated, waiting and never are not known, because these are files; usher audit without a PATH reads the cluster"
)


def of_manifests(audit: Audit) -> Iterator[Row]:
    """The first screen: the findings, and what the workloads ask for."""
    found, unread = audit.summary.findings, audit.completeness.not_judged
    parts = f", {wording.count(unread, 'part')} not judged" if unread else ""
    yield Row("findings", f"{words.findings(found)}{parts}", indent=0)
    yield from rows(audit)
    yield Row("GPUs", _FILES, indent=0)


def rows(audit: Audit) -> Iterator[Row]:
    """What all workloads ask for; where it is more at times alone, both numbers."""
    found = audit.summary
    known = found.workloads - found.workloads_not_known
    if known or not found.workloads_not_known:
        yield Row("asked for", f"{words.asked(audit)}, by {wording.count(known, 'workload')} with accelerators")
    if found.gpus_asked_least != found.gpus_asked:
        yield Row("", "the larger number includes the extra pods of rollouts and autoscalers")
    if found.workloads_not_known:
        more = wording.count(found.workloads_not_known, "workload")
        yield Row("not known", f"the accelerators of {more} cannot be read, see below")


HEADERS: Final = ("team", "workloads", "asked for")


def teams(audit: Audit) -> Sequence[Sequence[str]]:
    """A row for each team, the one that asks for most first."""
    members = defaultdict[str, list[WorkloadEntry]](list)
    for workload in audit.workloads:
        members[workload.team].append(workload)
    asked = {team: sum(each.known_gpus for each in found) for team, found in members.items()}
    ordered = sorted(members, key=lambda team: (-asked[team], team))
    return [
        (numbers.short(team) or "(no team)", f"{len(members[team]):,}", words.together(members[team]))
        for team in ordered
    ]
