"""Adds the decisions to the workloads of an estate: their place in the report, and what they request by that decision.

A decision knows the objects that a workload names, the mutations of a manifest and the autoscalers of its files. So its
numbers include what the object alone does not show.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from usher import paths
from usher.audit.building.gathered import Gathered
from usher.audit.estate import Workload
from usher.check.findings import Identity, Result
from usher.policy.mutation import merge


class Decisions:
    """The decisions about workloads, by their names. Several manifests may have one name."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = results
        self._places = defaultdict[tuple[Identity, bool], list[int]](list)
        for index, result in enumerate(results):
            if result.makes_pods:
                self._places[result.identity, result.exists].append(index)

    def apply(self, gathered: Gathered) -> None:
        """Adds the decisions to the workloads."""
        for uid, workload in gathered.tops.items():
            gathered.tops[uid] = self._decided(workload, self._last(workload))
        met = defaultdict[Identity, int](int)
        for number, workload in enumerate(gathered.manifests):
            # Both lists are in the order of the files.
            places = self._places.get((workload.identity, False), [])
            place = met[workload.identity]
            met[workload.identity] += 1
            gathered.manifests[number] = self._decided(workload, places[place] if place < len(places) else -1)

    def _last(self, workload: Workload) -> int:
        return self._places.get((workload.identity, workload.exists), [-1])[-1]

    def _decided(self, workload: Workload, place: int) -> Workload:
        if place < 0:
            return workload
        result = self._results[place]
        return replace(
            workload,
            wanted=result.pods,
            asks=result.accelerators,
            asks_known=result.accelerators_known,
            index=place,
        )

    def place(self, workload: Workload) -> int:
        """The place of a workload among the decisions; -1 if it was not judged."""
        return workload.index if workload.index >= 0 else self._last(workload)

    def admitted(
        self, workloads: Iterable[Workload], manifests: Mapping[str, paths.Object]
    ) -> Mapping[str, paths.Object]:
        """The objects of workloads by uid; for a manifest, the object after the mutating webhook."""
        changes = {
            each.uid: change.merged.operations
            for each in workloads
            if not each.exists and each.index >= 0 and (change := self._results[each.index].change) is not None
        }
        return {
            uid: merge.patched(value, changes[uid]) if changes.get(uid) else value for uid, value in manifests.items()
        }
