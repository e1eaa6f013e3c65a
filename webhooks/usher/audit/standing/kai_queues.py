"""Findings about queues of KAI-Scheduler: unused queues, and queues that promise more GPUs than the cluster has.

A Queue promises `spec.resources.gpu.quota` GPUs and bounds its workloads by `limit`; -1 means no bound. Only queues
without children hold workloads.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from usher import paths
from usher.audit import fields, gpus
from usher.audit.document import FindingEntry, Subject
from usher.audit.standing import capacity, entries
from usher.audit.standing.situation import Situation
from usher.audit.standing.wanted import KAI_POD_GROUP, KAI_QUEUE
from usher.dataclass import dataclass

_API_VERSION: Final = "scheduling.run.ai/v2"
_OWN: Final = ("default-queue", "default-parent-queue")
"""Queues that KAI's chart makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The GPUs of a queue; None if it has no number or no bound."""

    name: str
    parent: str
    quota: float | None
    limit: float | None

    @property
    def subject(self) -> Subject:
        return entries.named(_API_VERSION, "Queue", self.name)

    @property
    def words(self) -> Iterator[str]:
        if self.quota is not None:
            yield f"quota: {entries.counted(self.quota, 'GPU')}"
        yield "limit: not set" if self.limit is None else f"limit: {entries.counted(self.limit, 'GPU')}"


def findings(situation: Situation) -> Iterator[FindingEntry]:
    """The findings about the queues; empty if the cluster does not serve them or usher may not list them."""
    listed = fields.listed(situation.estate, *KAI_QUEUE)
    queues = [_queue(value) for value in listed or ()]
    if situation.estate.complete:
        yield from _unused(queues, situation)
    yield from _above_capacity(queues, situation)


def _queue(value: paths.Object) -> Queue:
    return Queue(
        name=fields.name(value),
        parent=fields.text(value, "/spec/parentQueue"),
        quota=_number(value, "/spec/resources/gpu/quota"),
        limit=_number(value, "/spec/resources/gpu/limit"),
    )


def _number(value: paths.Object, place: str) -> float | None:
    found = fields.at(value, place)
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return float(found) if is_number and isinstance(found, int | float) and 0 <= found < 10**9 else None


def _unused(queues: Iterable[Queue], situation: Situation) -> Iterator[FindingEntry]:
    groups = fields.listed(situation.estate, *KAI_POD_GROUP)
    if groups is None:
        return
    used = {fields.text(each, "/spec/queue") for each in groups} | {each.queue for each in situation.estate.workloads}
    parents = {each.parent for each in queues}
    for queue in queues:
        if queue.name not in used and queue.name not in parents and queue.name not in _OWN:
            yield entries.finding(
                "USA020", queue.subject, "no PodGroup of KAI is in it", evidence=queue.words, gpus=queue.quota or 0
            )


def _above_capacity(queues: Iterable[Queue], situation: Situation) -> Iterator[FindingEntry]:
    nodes = situation.estate.nodes
    if nodes is None or any(capacity.grows(name, situation) for name in capacity.of(nodes)):
        return
    has = round(sum(map(gpus.capacity, nodes)), 6)
    for queue in queues:
        numbers: Mapping[str, float | None] = {"quota": queue.quota, "limit": queue.limit}
        for field, number in numbers.items():
            if number is not None and number > has:
                yield entries.finding(
                    "USA022",
                    queue.subject,
                    f"its {field} is {entries.counted(number, 'GPU')}, and the cluster has {entries.amount(has)}",
                    path=f"spec.resources.gpu.{field}",
                    gpus=number,
                )
    top = [each for each in queues if not each.parent and each.quota]
    total = sum(each.quota or 0 for each in top)
    if len(top) > 1 and total > has:
        yield entries.finding(
            "USA021",
            entries.of_cluster("queues of KAI"),
            f"{len(top):,} queues of KAI without a parent promise {entries.counted(total, 'GPU')} together, "
            f"and the cluster has {entries.amount(has)}",
            remedy="Lower spec.resources.gpu.quota of these queues to the GPUs of the cluster, or add nodes.",
            evidence=[f"{fields.excerpt(each.name)}: {entries.amount(each.quota or 0)}" for each in top][:20],
            gpus=total - has,
        )
