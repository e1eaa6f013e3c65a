"""What was decided about the workloads of an estate, and what their pods refute of it.

A decision has seen the objects that a workload names, the mutations of a manifest and the autoscalers of its files. So
it counts what the object alone does not say.

GKE and other clusters add tolerations at admission (k8s.io/kubernetes plugin/pkg/admission/extendedresourcetoleration),
and so do webhooks of others. The template of such pods stays as it was written. An audit sees both.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from usher import model, paths
from usher.audit.gather.estate import Estate, Node, Workload
from usher.audit.gather.pod_folding import Gathered
from usher.facts.node_reading import Taint
from usher.mutation import merge
from usher.scan import findings, totals
from usher.scan.findings import Identity, Result
from usher.scheduling import taints


class Decisions:
    """The decisions about workloads, by their names. Several manifests may have one name."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = results
        self._places = defaultdict[tuple[Identity, bool], list[int]](list)
        for index, result in enumerate(results):
            if result.makes_pods:
                self._places[result.identity, result.exists].append(index)

    def apply(self, gathered: Gathered) -> None:
        """Gives the workloads what was decided about them."""
        for uid, workload in gathered.tops.items():
            gathered.tops[uid] = self._decided(workload, self._last(workload))
        met = defaultdict[Identity, int](int)
        for number, workload in enumerate(gathered.manifests):
            # Both are in the order of the files.
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
        """Its place among the decisions; -1 where it was not judged."""
        return workload.index if workload.index >= 0 else self._last(workload)

    def admitted(
        self, workloads: Iterable[Workload], manifests: Mapping[str, paths.Object]
    ) -> Mapping[str, paths.Object]:
        """The objects of workloads, by uid; of a manifest what the mutating webhook makes of it."""
        changes = {
            each.uid: change.merged.operations
            for each in workloads
            if not each.exists and each.index >= 0 and (change := self._results[each.index].change) is not None
        }
        return {
            uid: merge.patched(value, changes[uid]) if changes.get(uid) else value for uid, value in manifests.items()
        }


TOLERATION_CHECK: Final = "placement/gpu_toleration_present"

BECAUSE_OF_PODS: Final = "its pods have the toleration, because the cluster or a webhook adds it when they are made"


def settled_by_pods(report: findings.Report, estate: Estate) -> findings.Report:
    """The report, in which a missing toleration is only noted where pods have it.

    Args:
        report: the decisions about the objects as they are.
        estate: the workloads with their pods, and the nodes that these are on.
    """
    nodes = {node.name: node for node in estate.nodes or ()}
    refuted = frozenset(
        each.index
        for each in estate.workloads
        if each.index >= 0 and _concerned(report.results[each.index]) and _pods_tolerate(each, nodes)
    )
    if not refuted:
        return report
    results = tuple(
        replace(result, findings=tuple(_noted_findings(result))) if index in refuted else result
        for index, result in enumerate(report.results)
    )
    return replace(report, results=results, totals=totals.recounted(report.totals, results))


def _pods_tolerate(workload: Workload, nodes: Mapping[str, Node]) -> bool:
    """Whether its pods are on nodes with taints that keep pods off, and tolerate all of these.

    A pod may stay on a node that was tainted later, so that a pod runs proves nothing.
    """
    places = [(pod, _guards(nodes[pod.node])) for pod in workload.pods if pod.holds and pod.node in nodes]
    tolerated = all(not taints.untolerated(pod.tolerations, guards) for pod, guards in places)
    return tolerated and any(guards for _, guards in places)


def _guards(node: Node) -> list[Taint]:
    found = (Taint(key=key, value=value, effect=effect) for key, value, effect in node.taints)
    return [taint for taint in found if taint.effect in taints.GUARDING]


def _concerned(result: findings.Result) -> bool:
    return any(each.judgement.finding.check == TOLERATION_CHECK for each in result.findings)


def _noted_findings(result: findings.Result) -> Iterator[findings.Finding]:
    """The findings, worst first."""
    noted = [
        _milder_finding(each) if each.judgement.finding.check == TOLERATION_CHECK else each for each in result.findings
    ]
    yield from sorted(noted, key=lambda each: list(model.Outcome).index(each.judgement.outcome))


def _milder_finding(found: findings.Finding) -> findings.Finding:
    if found.judgement.outcome is model.Outcome.AUDIT:
        return found
    return replace(found, judgement=replace(found.judgement, outcome=model.Outcome.AUDIT, because=BECAUSE_OF_PODS))
