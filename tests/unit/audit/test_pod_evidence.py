"""A template without a toleration is only noted where its pods have it: the cluster or a webhook adds it to them."""

from collections.abc import Sequence
from typing import Any, Final

import pytest

from builders import estates, standings
from builders.estates import entry, estate, gpu_node
from usher import model
from usher.audit import document_entries
from usher.audit.gather.estate import Node, Pod
from usher.check import findings
from usher.model import Outcome

TOLERATION: Final = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
OTHER_CHECK: Final = "requests/gpu_requests_equal_limits"


def found(check: str = document_entries.TOLERATION_CHECK, outcome: Outcome = Outcome.DENY) -> findings.Finding:
    finding = model.Finding(check=check, path="/spec/template/spec/tolerations", message="m", remedy="r")
    judgement = model.Judgement(finding=finding, outcome=outcome, code="USH301", name="gpu-toleration-present")
    return findings.Finding(judgement=judgement, place=None, pod_set=None)


def settled(
    pods: Sequence[Pod], *, nodes: Sequence[Node] | None = (gpu_node(),), has: Sequence[findings.Finding] = (found(),)
) -> findings.Report:
    workload = entry("Deployment", "serve", pods=pods)
    decided, report = standings.judged(estate(nodes=nodes, workloads=[workload]), standings.result(workload, *has))
    return document_entries.settled_by_pods(report, decided)


def outcomes(report: findings.Report) -> list[tuple[str, Outcome]]:
    return [(each.judgement.finding.check, each.judgement.outcome) for each in report.results[0].findings]


def tolerating(name: str = "pod-0", **fields: Any) -> Pod:
    return estates.running(name, tolerations=(TOLERATION,), **fields)


def test_pods_that_tolerate_the_taints_of_their_nodes_refute_it() -> None:
    report = settled([tolerating()])

    assert outcomes(report) == [(document_entries.TOLERATION_CHECK, Outcome.AUDIT)]
    assert report.results[0].findings[0].judgement.because == document_entries.BECAUSE_OF_PODS
    assert (report.totals.errors, report.totals.notes) == (0, 1)
    assert report.totals.accelerators_with_errors == {}


def test_a_pod_on_a_node_that_was_tainted_later_refutes_nothing() -> None:
    assert outcomes(settled([estates.running()])) == [(document_entries.TOLERATION_CHECK, Outcome.DENY)]


def test_one_pod_without_the_toleration_is_enough_to_keep_it() -> None:
    assert outcomes(settled([tolerating(), estates.running("pod-1")])) == [
        (document_entries.TOLERATION_CHECK, Outcome.DENY)
    ]


@pytest.mark.parametrize("nodes", [(gpu_node(taints=()),), (gpu_node("another"),), None])
def test_pods_on_nodes_without_taints_or_unknown_nodes_prove_nothing(nodes: Sequence[Node] | None) -> None:
    assert outcomes(settled([tolerating()], nodes=nodes)) == [(document_entries.TOLERATION_CHECK, Outcome.DENY)]


def test_a_pod_that_waits_proves_nothing() -> None:
    assert outcomes(settled([estates.waiting(tolerations=(TOLERATION,))])) == [
        (document_entries.TOLERATION_CHECK, Outcome.DENY)
    ]


def test_other_findings_stay_and_the_worst_is_first() -> None:
    report = settled([tolerating()], has=(found(), found(OTHER_CHECK)))

    assert outcomes(report) == [(OTHER_CHECK, Outcome.DENY), (document_entries.TOLERATION_CHECK, Outcome.AUDIT)]
    assert (report.totals.errors, report.totals.notes) == (1, 1)
