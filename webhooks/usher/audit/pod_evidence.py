"""Corrects findings about templates that the pods of a cluster refute: an admission plugin or webhook added the
tolerations.

GKE and other clusters add tolerations at admission (k8s.io/kubernetes plugin/pkg/admission/extendedresourcetoleration),
and so do webhooks of others. The template of these pods stays as it was written. An audit sees both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from usher import model
from usher.audit.estate import Estate, Node, Workload
from usher.check import findings, runner
from usher.cluster.facts.nodes import Taint
from usher.model import placement

CHECK: Final = "placement/gpu_toleration_present"

BECAUSE: Final = "its pods have the toleration, because the cluster or a webhook adds it when they are made"


def settled(report: findings.Report, estate: Estate) -> findings.Report:
    """The report, with a missing toleration as a mere note if the pods have it.

    Args:
        report: the decisions about the objects.
        estate: the workloads with their pods and the nodes of these pods.
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
        replace(result, findings=tuple(_noted(result))) if index in refuted else result
        for index, result in enumerate(report.results)
    )
    return replace(report, results=results, totals=runner.recounted(report.totals, results))


def _pods_tolerate(workload: Workload, nodes: Mapping[str, Node]) -> bool:
    """Whether its pods run on nodes whose taints keep pods off, and tolerate all of these taints.

    A running pod alone proves nothing: it may stay on a node that was tainted later.
    """
    places = [(pod, _guards(nodes[pod.node])) for pod in workload.pods if pod.holds and pod.node in nodes]
    tolerated = all(not placement.untolerated(pod.tolerations, guards) for pod, guards in places)
    return tolerated and any(guards for _, guards in places)


def _guards(node: Node) -> list[Taint]:
    found = (Taint(key=key, value=value, effect=effect) for key, value, effect in node.taints)
    return [taint for taint in found if taint.effect in placement.GUARDING]


def _concerned(result: findings.Result) -> bool:
    return any(each.judgement.finding.check == CHECK for each in result.findings)


def _noted(result: findings.Result) -> Iterator[findings.Finding]:
    """The findings with those notes, worst first."""
    noted = [_milder(each) if each.judgement.finding.check == CHECK else each for each in result.findings]
    yield from sorted(noted, key=lambda each: list(model.Outcome).index(each.judgement.outcome))


def _milder(found: findings.Finding) -> findings.Finding:
    if found.judgement.outcome is model.Outcome.AUDIT:
        return found
    return replace(found, judgement=replace(found.judgement, outcome=model.Outcome.AUDIT, because=BECAUSE))
