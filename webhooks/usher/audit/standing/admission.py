"""What admission would say today about workloads that are there already."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from usher.audit.document import FindingEntry
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Workload
from usher.audit.gather.needed_inputs import MUTATING, VALIDATING
from usher.audit.standing import entries
from usher.audit.standing.situation import Prevention, Situation
from usher.manifests.webhooks import NAME
from usher.mutation import strategies
from usher.scan import findings as scan

_MOST: Final = 10


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """For each workload at most one finding about denials, and one about changes."""
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
    """Whether usher judges here: without webhooks, nothing came before or past it. A dump may not hold them; then the
    traces of usher on workloads say it.
    """
    webhooks = fields.listed(situation.estate, *VALIDATING.key)
    if webhooks is None:
        return any(each.annotations for each in situation.estate.workloads)
    return any(fields.name(value).startswith(NAME) for value in webhooks)


def _installed(situation: Situation) -> datetime | None:
    """Since when the first of usher's webhooks is registered; None where that is not known."""
    listed = (fields.listed(situation.estate, *kind.key) or () for kind in (MUTATING, VALIDATING))
    ours = [value for values in listed for value in values if fields.name(value).startswith(NAME)]
    times = [fields.when(value, "/metadata/creationTimestamp") for value in ours]
    return min((each for each in times if each is not None), default=None)


def _came_before(workload: Workload, installed: datetime | None) -> bool:
    """Whether it is older than usher's webhooks; where their age is not known, whether it has no trace of usher."""
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
    """Warnings and skips change nothing, so they are no drift."""
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
