"""usher's answers about the start of objects, to compare with what a controller did or does."""

from collections.abc import Sequence
from functools import cache
from typing import Final

import builders
from usher import model, paths
from usher.authorities.authority import Outlook, Section
from usher.authorities.verdict import Answer
from usher.cluster.facts.store import Store
from usher.config import models
from usher.kinds.reading import values
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.explaining import Outlooks

NAMESPACE: Final = "research"

ABOUT_STARTING: Final = frozenset(
    {
        "gang/kai_queue_unusable",
        "gang/minimum_above_all_pods",
        "gang/pod_group_minimum_above_pods",
        "gang/volcano_queue_never_fits",
        "placement/gang_larger_than_all_nodes",
        "placement/no_node_ever_fits",
        "queueing/flavor_never_matches",
        "queueing/kai_queue_limit_below_workload",
        "queueing/queue_never_admissible",
        "queueing/resource_not_in_queue",
        "queueing/topology_annotations_refused",
    }
)
"""Checks that say that a workload never starts, or that the controller refuses it."""

_ELSEWHERE: Final[Sequence[paths.Object]] = [
    {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "theirs", "namespace": "other"}},
    {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "theirs", "namespace": "other"}},
    builders.gpu_quota("theirs", 1, namespaces=["other"]),
]
"""Quotas of another namespace, so that ours is known to be without quotas."""


@cache
def _engine() -> Evaluator:
    return assembly.embedded(models.Config())


def looked_at(
    objects: Sequence[paths.Object],
    facts: Sequence[paths.Object],
    *,
    beside: Sequence[paths.Object] = (),
    pools: paths.Json = None,
) -> tuple[list[Outlook], list[str]]:
    """The outlook of each object, and the checks of its start that deny it.

    Args:
        beside: other objects of the same files.
        pools: the pools of usher.yaml.
    """
    store = Store.of([*facts, *_ELSEWHERE]).with_applied(objects, namespace=NAMESPACE)
    base = _engine()
    assert base.catalogue.checks.keys() >= ABOUT_STARTING
    config = models.Config.model_validate({"pools": pools or []})
    evaluator = Evaluator(engine=base.engine, entries=base.catalogue, config=config, facts=store)
    around = values.Objects([*objects, *beside], namespace="")
    found, denying = [], []
    for each in objects:
        request = Request(value=each, namespace=NAMESPACE, objects=around, facts=store, place="check")
        outlook = Outlooks(evaluator, store).of(request, as_written=True)
        assert outlook is not None
        found.append(outlook)
        judged = evaluator.decide(request).judgements
        denying += [one.finding.check for one in judged if one.outcome is model.Outcome.DENY]
    return found, [check for check in denying if check in ABOUT_STARTING]


def reasons(outlook: Outlook) -> list[str]:
    return [text for section in outlook.sections for text in section.reasons]


def without_reason(outlook: Outlook) -> list[Section]:
    """The sections that are unknown and do not say why."""
    return [
        section
        for section in outlook.sections
        if section.answer is Answer.UNKNOWN and not (section.reasons or any(each.missing for each in section.holding))
    ]
