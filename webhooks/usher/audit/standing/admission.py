"""Findings about existing workloads that admission would refuse or change today."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from usher.audit import fields
from usher.audit.document import FindingEntry
from usher.audit.estate import Workload
from usher.audit.standing import entries
from usher.audit.standing.situation import Prevention, Situation
from usher.audit.standing.wanted import MUTATING, VALIDATING
from usher.check import findings as scan
from usher.install.manifests.webhooks import NAME
from usher.policy.mutation import strategies

_MOST: Final = 10


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """At most one finding about denials and one about changes for each workload."""
    installed = _installed(situation)
    judges = _judges(situation)
    for workload in situation.estate.workloads:
        result = situation.result(workload)
        if result is None or not workload.exists:
            continue
        denials = situation.denials(workload)
        if denials and judges:
            yield from _denied(workload, denials, installed, situation)
        if result.change is not None:
            yield from _changed(workload, result.change, situation)


def _judges(situation: Situation) -> bool:
    """Whether usher judges in this cluster. A dump may not hold its webhooks; then its traces on workloads show it."""
    webhooks = fields.listed(situation.estate, *VALIDATING)
    if webhooks is None:
        return any(each.annotations for each in situation.estate.workloads)
    return any(fields.name(value).startswith(NAME) for value in webhooks)


def _installed(situation: Situation) -> datetime | None:
    """When the first of usher's webhooks was registered; None if unknown."""
    listed = (fields.listed(situation.estate, *key) or () for key in (MUTATING, VALIDATING))
    ours = [value for values in listed for value in values if fields.name(value).startswith(NAME)]
    times = [fields.when(value, "/metadata/creationTimestamp") for value in ours]
    return min((each for each in times if each is not None), default=None)


def _came_before(workload: Workload, installed: datetime | None) -> bool:
    """Whether a workload is older than usher's webhooks. If their age is unknown: whether usher left no trace on it."""
    if installed is None or workload.created is None:
        return not workload.annotations
    return workload.created < installed and not workload.annotations


def _denied(
    workload: Workload, denials: list[scan.Finding], installed: datetime | None, situation: Situation
) -> Iterator[FindingEntry]:
    judgements = [each.judgement for each in denials]
    codes = list(dict.fromkeys(each.code for each in judgements))
    runs = sum(pod.holds for pod in workload.pods)
    if _came_before(workload, installed):
        code = "USA040"
        message = f"it came before usher, and admission would deny it today: {fields.listing(codes)}"
    elif runs:
        code = "USA041"
        verb = "runs" if runs == 1 else "run"
        message = f"{entries.counted(runs, 'pod')} {verb}, and admission would deny it today: {fields.listing(codes)}"
    else:
        return
    yield entries.finding(
        code,
        entries.of_workload(workload),
        message,
        evidence=[fields.excerpt(f"{each.code}: {each.finding.message}") for each in judgements[:_MOST]],
        team=workload.team,
        gpus=situation.gpus(workload),
        since=workload.created,
        prevention=Prevention(by=codes[0]),
    )


def _changed(workload: Workload, change: scan.Change, situation: Situation) -> Iterator[FindingEntry]:
    """The finding about drift. Warnings and skipped mutations change nothing, so they are not drift."""
    applied = change.merged.applied
    if not applied:
        return
    words = list(dict.fromkeys(strategies.WORDS[intent.field] for intent in applied))
    yield entries.finding(
        "USA042",
        entries.of_workload(workload),
        f"it lacks what admission would add: {fields.listing(words)}",
        evidence=[
            fields.excerpt(f"{change.names.get(each.mutation, each.mutation)}: {each.reason}")
            for each in applied[:_MOST]
        ],
        team=workload.team,
        gpus=situation.gpus(workload),
        since=workload.created,
    )
