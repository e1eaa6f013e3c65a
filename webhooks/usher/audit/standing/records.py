"""The records of Kueue, Volcano and KAI about workloads: their Workloads and PodGroups, found by owner."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Final

from usher import paths
from usher.audit import fields
from usher.audit.estate import Estate, Workload
from usher.audit.standing.wanted import KAI_POD_GROUP, KUEUE_WORKLOAD, POD_GROUP
from usher.dataclass import dataclass

_STARTED: Final = ("Inqueue", "Running", "Completed")
"""Phases of a PodGroup that has left Volcano's queue."""

_UNSCHEDULABLE: Final = "UnschedulableOnNodePool"
"""The condition of a PodGroup that KAI cannot place (KAI:pkg/apis/scheduling/v2alpha2/podgroup_types.go)."""

Index = Mapping[str, Sequence[paths.Object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The authority that holds a workload back, and its messages."""

    by: str
    evidence: tuple[str, ...]
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """All records, by the uid of their owner."""

    kueue: Index = field(default_factory=dict)
    volcano: Index = field(default_factory=dict)
    kai: Index = field(default_factory=dict)


def of(estate: Estate) -> Records:
    """The records of a cluster; empty for unknown kinds."""
    return Records(
        kueue=_by_owner(estate, KUEUE_WORKLOAD),
        volcano=_by_owner(estate, POD_GROUP),
        kai=_by_owner(estate, KAI_POD_GROUP),
    )


def members(workload: Workload, records: Records) -> int:
    """The number of pods that must run together, if a workload has exactly one PodGroup and it says so; else 0."""
    found = sizes(workload, records)
    return found[0] if len(found) == 1 else 0


def sizes(workload: Workload, records: Records) -> Sequence[int]:
    """The numbers of pods that must run together, one for each PodGroup of a workload; 0 for a PodGroup without it."""
    return [_size(each) for each in (*_of(workload, records.volcano), *_of(workload, records.kai))]


def _size(group: paths.Object) -> int:
    sub_groups = fields.objects(group, "/spec/subGroups")
    parents = {fields.text(each, "/parent") for each in sub_groups}
    leaves = [each for each in sub_groups if fields.text(each, "/name") not in parents]
    return fields.whole(group, "/spec/minMember") or sum(fields.whole(each, "/minMember") or 0 for each in leaves)


def held_by_kueue(workload: Workload, records: Records) -> Held | None:
    """Kueue's record of a workload that it has not admitted."""
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
    """Volcano's record of a gang that it has not let into its queue."""
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


def held_by_kai(workload: Workload, records: Records) -> Held | None:
    """KAI's record of a workload that it cannot place."""
    for value in _of(workload, records.kai):
        for condition in fields.objects(value, "/status/schedulingConditions"):
            if fields.text(condition, "/type") == _UNSCHEDULABLE and fields.text(condition, "/status") == "True":
                queue = fields.excerpt(fields.text(value, "/spec/queue"))
                reasons = [fields.text(each, "/message") for each in fields.objects(condition, "/reasons")]
                words = list(filter(None, reasons)) or [fields.text(condition, "/message")]
                evidence = (f"KAI: PodGroup {fields.name(value)} is in queue {queue}" if queue else "",
                            *(fields.excerpt(f"KAI: {each}") for each in words if each))  # fmt: skip
                return Held(by="KAI", evidence=evidence, since=fields.when(condition, "/lastTransitionTime"))
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
