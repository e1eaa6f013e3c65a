"""What Kueue and Volcano have written about workloads: their Workloads and PodGroups, found by owner."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from usher import paths
from usher.audit import fields
from usher.audit.estate import Estate, Workload
from usher.audit.standing.wanted import KUEUE_WORKLOAD, POD_GROUP
from usher.dataclass import dataclass

_STARTED: Final = ("Inqueue", "Running", "Completed")
"""Phases of a PodGroup that Volcano does not hold in its queue any more."""

Index = Mapping[str, Sequence[paths.Object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Who holds a workload back, and the words of that authority."""

    by: str
    evidence: tuple[str, ...]
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """By the uid of the owner."""

    kueue: Index
    volcano: Index


def of(estate: Estate) -> Records:
    """The records of a cluster; empty for kinds that are not known."""
    return Records(kueue=_by_owner(estate, KUEUE_WORKLOAD), volcano=_by_owner(estate, POD_GROUP))


def held_by_kueue(workload: Workload, records: Records) -> Held | None:
    """What Kueue says of a workload that it has not admitted."""
    for value in _of(workload, records.kueue):
        known = fields.conditions(value)
        admitted, reserved = known.get("Admitted"), known.get("QuotaReserved")
        if admitted is not None and admitted.holds:
            continue
        evidence, since = [], None
        for word in ("QuotaReserved", "Admitted", "Evicted"):
            condition = known.get(word)
            if condition is not None and (condition.holds is False or word == "Evicted") and condition.message:
                evidence.append(f"Kueue, condition {word}: {condition.message}")
        waits = reserved if reserved is not None and reserved.holds is False else admitted
        if waits is not None and waits.holds is False:
            since = waits.since
        evidence += _checks(value)
        return Held(by="Kueue", evidence=tuple(evidence), since=since)
    return None


def held_by_volcano(workload: Workload, records: Records) -> Held | None:
    """What Volcano says of a gang that it has not let into its queue."""
    for value in _of(workload, records.volcano):
        phase = fields.text(value, "/status/phase")
        if not phase or phase in _STARTED:
            continue
        words = [f"Volcano: PodGroup {fields.name(value)} is {fields.excerpt(phase)}"]
        unschedulable = fields.conditions(value).get("Unschedulable")
        if unschedulable is not None and unschedulable.holds:
            words.append(f"Volcano: {unschedulable.message or unschedulable.reason}")
        return Held(by="Volcano", evidence=tuple(words))
    return None


def _checks(value: paths.Object) -> Iterator[str]:
    for each in fields.objects(value, "/status/admissionChecks"):
        state = fields.text(each, "/state")
        if state and state != "Ready":
            message = fields.text(each, "/message")
            yield fields.excerpt(
                f"Kueue, admission check {fields.text(each, '/name')} is {state}: {message}".rstrip(": ")
            )


def _by_owner(estate: Estate, key: tuple[str, str]) -> Index:
    found: dict[str, list[paths.Object]] = {}
    for value in fields.listed(estate, *key) or ():
        for uid in fields.owners(value):
            found.setdefault(uid, []).append(value)
    return found


def _of(workload: Workload, index: Index) -> Iterator[paths.Object]:
    """The records of a workload, or of its pods."""
    for uid in (workload.uid, *(pod.uid for pod in workload.pods)):
        if uid:
            yield from index.get(uid, ())
