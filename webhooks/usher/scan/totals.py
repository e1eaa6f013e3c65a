"""The totals of a run, and the checks that could not be evaluated."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from usher import model
from usher.policy.checks.catalogue import About, Entry
from usher.policy.evaluator import Evaluator
from usher.scan import devices, findings


def totals(results: list[findings.Result], counts: Counter[str]) -> findings.Totals:
    making_pods = [result for result in results if not result.is_template]
    found = findings.Totals(
        files=counts["files"],
        objects=counts["objects"],
        workloads=sum(result.makes_pods for result in results),
        pods=devices.total(devices.of_pods(result.pods) for result in making_pods),
        accelerators=devices.added(result.accelerators for result in making_pods),
        accelerators_with_errors={},
        exempt=sum(bool(result.exemption) for result in results),
        owned=counts["owned"],
        finished=counts["finished"],
        ignored=counts["ignored"],
    )
    return recounted(found, results)


def recounted(found: findings.Totals, results: Sequence[findings.Result]) -> findings.Totals:
    """The totals with the findings of the results."""
    outcomes = Counter(finding.judgement.outcome for result in results for finding in result.findings)
    denied = (each for each in results if not each.is_template and each.worst is model.Outcome.DENY)
    return replace(
        found,
        accelerators_with_errors=devices.added(result.accelerators for result in denied),
        errors=outcomes[model.Outcome.DENY],
        warnings=outcomes[model.Outcome.WARN],
        notes=outcomes[model.Outcome.AUDIT],
    )


def checks_without_facts(results: list[findings.Result], evaluator: Evaluator) -> int:
    """The number of checks that need missing facts; 0 without workloads with accelerators, which these checks judge."""
    if not evaluator.facts.empty or not any(result.accelerators for result in results):
        return 0
    return sum(entry.about is About.CLUSTER_FACTS for entry in evaluator.catalogue.checks.values())


def rules(results: list[findings.Result], evaluator: Evaluator) -> Mapping[str, Entry]:
    """The checks in the results, by key, in the order of their codes."""
    named = {finding.judgement.finding.check for result in results for finding in result.findings}
    named |= {entry.unknown.check for result in results for entry in result.not_judged}
    known = evaluator.catalogue.checks
    return {key: known[key] for key in sorted(named & known.keys(), key=lambda key: known[key].number)}


def not_evaluated(results: list[findings.Result], evaluator: Evaluator) -> tuple[findings.NotEvaluated, ...]:
    workloads = Counter(
        pair
        for result in results
        for pair in {(entry.unknown.check, entry.unknown.reason) for entry in result.not_judged if entry.unknown.check}
    )
    entries = evaluator.catalogue.checks
    return tuple(
        findings.NotEvaluated(
            check=check,
            code=entries[check].code if check in entries else "",
            name=entries[check].name if check in entries else check,
            reason=reason,
            workloads=number,
        )
        for (check, reason), number in sorted(workloads.items())
    )
