"""The document of an audit of a part of a cluster: one namespace, or a shard. It does not judge the rest."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from usher.audit.document import Audit, FindingEntry, GroupTable
from usher.audit.gather import needed_inputs
from usher.audit.gather.estate import Scope
from usher.audit.gather.needed_inputs import Need

ABOUT_ABSENCE: Final = frozenset({"USA010", "USA012", "USA020", "USA024", "USA032"})
"""Codes of findings that nothing uses or needs an object: true only if every part of a cluster reports it."""

ABOUT_WORKLOADS: Final = frozenset({"USA050", "USA051"})
"""Codes of findings without a namespace that count workloads: each part has the GPUs of its own workloads."""

_ABOUT_ABSENCE_OF_USE: Final = frozenset({"unused", "not needed"})
"""States of exceptions that only an audit of all workloads proves."""


def of(audit: Audit, scope: Scope) -> Audit:
    """The document without objects of other parts, and without statements that only all parts together prove.

    The part with the nodes reports objects without a namespace, so exactly one shard reports them.
    """
    if scope.is_whole:
        return audit
    narrowed = of_objects(audit, scope)
    findings = tuple(
        each
        for each in narrowed.findings
        if each.subject.namespace or (scope.has_nodes and each.code not in ABOUT_ABSENCE | ABOUT_WORKLOADS)
    )
    return needed_inputs.without_unknown(narrowed, needed_inputs.beyond_scope(scope)).model_copy(
        update={
            "findings": findings,
            "summary": needed_inputs.without_unknown(narrowed.summary, needed_inputs.beyond_scope(scope)).model_copy(
                update={"findings": _outcomes(findings)}
            ),
            "exceptions": tuple(each for each in audit.exceptions if each.state not in _ABOUT_ABSENCE_OF_USE),
        }
    )


def of_objects(audit: Audit, scope: Scope, *, keeping: Collection[str] = ()) -> Audit:
    """The document with the objects of the part only.

    Findings without a namespace stay, because all shards together know whether a queue has no workloads.

    Args:
        keeping: numbers of the summary, and sections, to keep although the part does not know them alone.
    """
    findings = tuple(each for each in audit.findings if not each.subject.namespace or scope.has(each.subject.namespace))
    workloads = tuple(each for each in audit.workloads if scope.has(each.subject.namespace))
    lacking = needed_inputs.beyond_scope(scope)
    summary = needed_inputs.without_unknown(audit.summary, lacking, keeping=keeping)
    cluster = audit.cluster if scope.has_nodes else audit.cluster.model_copy(update={"nodes": None})
    return needed_inputs.without_unknown(audit, lacking, keeping=keeping).model_copy(
        update={
            "cluster": cluster,
            "summary": summary.model_copy(update={"workloads": len(workloads), "findings": _outcomes(findings)}),
            "workloads": workloads,
            "findings": findings,
            "savings": tuple(each for each in audit.savings if scope.has(each.subject.namespace)),
            "other_accelerators": tuple(
                needed_inputs.without_unknown(each, lacking) for each in audit.other_accelerators
            ),
            "usage": tuple(_split_at_pod_start(table, lacking) for table in audit.usage),
        }
    )


def _split_at_pod_start(table: GroupTable, lacking: frozenset[Need]) -> GroupTable:
    """The table of the part, without GPUs that no pod held and without groups that its pods never held."""
    if not lacking:
        return table
    rows = [each for each in table.rows if each.workloads or each.usage.gpus_now or each.usage.allocated]
    return table.model_copy(update={"rows": tuple(needed_inputs.without_unknown(each, lacking) for each in rows)})


def _outcomes(findings: Iterable[FindingEntry]) -> Mapping[str, int]:
    return dict(sorted(Counter(each.outcome for each in findings).items()))
