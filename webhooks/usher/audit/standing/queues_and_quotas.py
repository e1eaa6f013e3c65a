"""Queues and quotas against the cluster and the workloads: those that nothing uses, and those that promise too much.

A Queue of KAI-Scheduler promises `spec.resources.gpu.quota` GPUs and bounds its workloads by `limit`, where -1 means
unlimited. Workloads are in queues without children.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Final

from msgspec import Struct

from usher import paths
from usher.accelerators.names import WHOLE_GPUS
from usher.audit.document import FindingEntry, Subject
from usher.audit.gather import gpus
from usher.audit.gather import object_fields as fields
from usher.audit.gather.estate import Node
from usher.audit.gather.needed_inputs import KAI_POD_GROUP, KAI_QUEUE, KUEUE_WORKLOAD, POD_GROUP
from usher.audit.standing import cluster_equipment
from usher.audit.standing.situation import (
    Situation,
    amount_text,
    cluster_finding,
    cluster_subject,
    counted,
    named_subject,
)
from usher.authorities.gpu_quota import assignment
from usher.authorities.gpu_quota.definitions import GROUP as QUOTA_GROUP
from usher.authorities.gpu_quota.definitions import KIND, Quota
from usher.authorities.kueue import judge as kueue_judge
from usher.authorities.kueue.flavors import Flavor
from usher.authorities.kueue.queues import GROUP, UNLIMITED, ClusterQueue, LocalQueue
from usher.authorities.resource_quota import judge as resource_quota_judge
from usher.authorities.volcano import read as volcano_read
from usher.authorities.volcano.read import DEFAULT_QUEUE
from usher.kinds.reading.values import Absence

_KUEUE: Final = f"{GROUP}/v1beta2"
_VOLCANO: Final = "scheduling.volcano.sh/v1beta1"
_OWN_OF_VOLCANO: Final = (DEFAULT_QUEUE, "root")
"""Queues that Volcano makes itself."""


def queue_findings(situation: Situation) -> Iterator[FindingEntry]:
    """Unused queues with accelerators; empty if usher could not read all workloads."""
    if situation.estate.complete:
        yield from _of_kueue(situation)
        yield from _of_volcano(situation)


def _of_kueue(situation: Situation) -> Iterator[FindingEntry]:
    facts = situation.known.facts
    records = fields.listed(situation.estate, *KUEUE_WORKLOAD.key)
    queues = kueue_judge.cluster(facts).queues
    if records is None or queues is None or not facts.knows(GROUP, "LocalQueue"):
        return
    used = {(fields.namespace(each), fields.text(each, "/spec/queueName")) for each in records}
    used |= {(each.identity.namespace, each.queue) for each in situation.estate.workloads}
    local = {
        namespace: kueue_judge.local_queues(facts, namespace) or {}
        for namespace in sorted(facts.namespaces(GROUP, "LocalQueue"))
    }
    busy = {
        each.cluster_queue for space, found in local.items() for each in found.values() if (space, each.name) in used
    }
    busy |= {fields.text(each, "/status/admission/clusterQueue") for each in records}
    for name in sorted(queues):
        if name not in busy and _nominal_accelerators(queues[name], situation):
            yield _cluster_queue(queues[name], local, situation)
    for space, found in local.items():
        for each in found.values():
            behind = queues.get(each.cluster_queue)
            if (space, each.name) in used or behind is None or behind.name not in busy:
                continue
            if _nominal_accelerators(behind, situation):
                yield _local_queue(space, each, situation)


def _nominal_accelerators(queue: ClusterQueue, situation: Situation) -> Mapping[str, int]:
    """The nominal quota of each accelerator, summed over all flavors."""
    found: dict[str, int] = {}
    for (_, resource), quota in sorted(queue.quotas.by_flavor.items()):
        if situation.known.vocabulary_of_cluster.contains(resource):
            found[resource] = found.get(resource, 0) + quota.nominal
    return found


def _cluster_queue(
    queue: ClusterQueue, local: Mapping[str, Mapping[str, LocalQueue]], situation: Situation
) -> FindingEntry:
    leading = [f"{space}/{each.name}" for space, found in local.items() for each in found.values()
               if each.cluster_queue == queue.name]  # fmt: skip
    quotas = _nominal_accelerators(queue, situation)
    message = "no LocalQueue leads to it" if not leading else "no workload is in any of its LocalQueues"
    return cluster_finding(
        "USA020",
        named_subject(_KUEUE, "ClusterQueue", queue.name),
        message,
        evidence=(
            *(f"nominal quota: {number:,} {resource}" for resource, number in quotas.items()),
            f"LocalQueues: {fields.listing(leading)}" if leading else "",
        ),
        gpus=float(sum(number for resource, number in quotas.items() if resource in WHOLE_GPUS)),
    )


def _local_queue(namespace: str, queue: LocalQueue, situation: Situation) -> FindingEntry:
    return cluster_finding(
        "USA020",
        named_subject(_KUEUE, "LocalQueue", queue.name, namespace=namespace),
        "no workload is in it",
        evidence=(f"it leads to ClusterQueue {queue.cluster_queue}, which other queues use",),
        team=situation.team(namespace),
    )


def _of_volcano(situation: Situation) -> Iterator[FindingEntry]:
    groups = fields.listed(situation.estate, *POD_GROUP.key)
    queues = volcano_read.queues_of_cluster(situation.known.facts)
    if groups is None or queues is None:
        return
    used = {fields.text(each, "/spec/queue") or DEFAULT_QUEUE for each in groups}
    used |= {each.queue for each in situation.estate.workloads}
    for name, queue in sorted(queues.by_name.items()):
        if name in used or name in _OWN_OF_VOLCANO or name in queues.parents:
            continue
        bounds = {
            resource: quantity
            for resource, quantity in sorted(queue.capability.items())
            if situation.known.vocabulary_of_cluster.contains(resource)
        }
        yield cluster_finding(
            "USA020",
            named_subject(_VOLCANO, "Queue", name),
            "no PodGroup is in it",
            evidence=[f"capability: {quantity} {resource}" for resource, quantity in bounds.items()],
        )


def queue_quota_findings(situation: Situation) -> Iterator[FindingEntry]:
    """A finding for each flavor and accelerator where queues promise more than the nodes have.

    It adds up the nominal quotas of all queues and cohorts; they include what a queue may borrow. It skips flavors with
    unknown nodes or quotas, and flavors to which an autoscaler may add nodes.
    """
    known = kueue_judge.cluster(situation.known.facts)
    if known.queues is None or known.flavors is None or situation.estate.nodes is None:
        return
    promised = _promised(situation)
    for name, flavor in sorted(known.flavors.items()):
        if flavor.problems:
            continue
        there = cluster_equipment.accelerators_of(node for node in situation.estate.nodes if _matches(flavor, node))
        for resource, quotas in sorted(promised.get(name, {}).items()):
            total, has = sum(quotas.values()), there.get(resource, 0)
            if total > has and total < UNLIMITED and not cluster_equipment.may_grow(resource, situation):
                yield cluster_finding(
                    "USA021",
                    named_subject(f"{GROUP}/v1beta2", "ResourceFlavor", name),
                    f"{counted(len(quotas), 'queue')} with flavor {name} "
                    f"{'promises' if len(quotas) == 1 else 'promise'} {total:,} {resource}, and the "
                    f"nodes that match it have {has:,}",
                    part=resource,
                    evidence=[f"{queue}: {number:,}" for queue, number in quotas.items()][:20],
                    gpus=float(total - has) if resource in WHOLE_GPUS else 0,
                )


def _promised(situation: Situation) -> Mapping[str, Mapping[str, dict[str, int]]]:
    """The nominal quota of each queue that has one, by flavor and accelerator."""
    found: defaultdict[str, defaultdict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    known = kueue_judge.cluster(situation.known.facts)
    for name, queue in sorted((known.queues or {}).items()):
        # A check may bring nodes (ProvisioningRequest) or send workloads to another cluster.
        if queue.has_checks is False and not queue.problems:
            for (flavor, resource), quota in sorted(queue.quotas.by_flavor.items()):
                if quota.nominal > 0 and situation.known.vocabulary_of_cluster.contains(resource):
                    found[flavor][resource][f"ClusterQueue {fields.excerpt(name)}"] = quota.nominal
    return found


def _matches(flavor: Flavor, node: Node) -> bool:
    return all(node.labels.get(key) == value for key, value in flavor.node_labels.items())


_KAI_VERSION: Final = "scheduling.run.ai/v2"
_OWN_OF_KAI: Final = ("default-queue", "default-parent-queue")
"""Queues that KAI's chart makes."""


class KaiQueue(Struct, frozen=True, kw_only=True):
    """The GPUs of a queue; None if it has no number or no bound."""

    name: str
    parent: str
    quota: float | None
    limit: float | None

    @property
    def subject(self) -> Subject:
        return named_subject(_KAI_VERSION, "Queue", self.name)

    @property
    def words(self) -> Iterator[str]:
        if self.quota is not None:
            yield f"quota: {counted(self.quota, 'GPU')}"
        yield "limit: not set" if self.limit is None else f"limit: {counted(self.limit, 'GPU')}"


def kai_queue_findings(situation: Situation) -> Iterator[FindingEntry]:
    """The findings about the queues; empty if the cluster does not serve them or usher may not list them."""
    listed = fields.listed(situation.estate, *KAI_QUEUE.key)
    queues = [_kai_queue(value) for value in listed or ()]
    if situation.estate.complete:
        yield from _unused_kai_queues(queues, situation)
    yield from _kai_above_capacity(queues, situation)


def _kai_queue(value: paths.Object) -> KaiQueue:
    return KaiQueue(
        name=fields.name(value),
        parent=fields.text(value, "/spec/parentQueue"),
        quota=_kai_number(value, "/spec/resources/gpu/quota"),
        limit=_kai_number(value, "/spec/resources/gpu/limit"),
    )


def _kai_number(value: paths.Object, place: str) -> float | None:
    found = fields.at(value, place)
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return float(found) if is_number and isinstance(found, int | float) and 0 <= found < 10**9 else None


def _unused_kai_queues(queues: Iterable[KaiQueue], situation: Situation) -> Iterator[FindingEntry]:
    groups = fields.listed(situation.estate, *KAI_POD_GROUP.key)
    if groups is None:
        return
    used = {fields.text(each, "/spec/queue") for each in groups} | {each.queue for each in situation.estate.workloads}
    parents = {each.parent for each in queues}
    for queue in queues:
        if queue.name not in used and queue.name not in parents and queue.name not in _OWN_OF_KAI:
            yield cluster_finding(
                "USA020", queue.subject, "no PodGroup of KAI is in it", evidence=queue.words, gpus=queue.quota or 0
            )


def _kai_above_capacity(queues: Iterable[KaiQueue], situation: Situation) -> Iterator[FindingEntry]:
    nodes = situation.estate.nodes
    if nodes is None or any(
        cluster_equipment.may_grow(name, situation) for name in cluster_equipment.accelerators_of(nodes)
    ):
        return
    has = round(sum(map(gpus.capacity_of, nodes)), 6)
    for queue in queues:
        numbers: Mapping[str, float | None] = {"quota": queue.quota, "limit": queue.limit}
        for field, number in numbers.items():
            if number is not None and number > has:
                yield cluster_finding(
                    "USA022",
                    queue.subject,
                    f"its {field} is {counted(number, 'GPU')}, and the cluster has {amount_text(has)}",
                    path=f"spec.resources.gpu.{field}",
                    gpus=number,
                )
    top = [each for each in queues if not each.parent and each.quota]
    total = sum(each.quota or 0 for each in top)
    if len(top) > 1 and total > has:
        yield cluster_finding(
            "USA021",
            cluster_subject("queues of KAI"),
            f"{len(top):,} queues of KAI without a parent promise {counted(total, 'GPU')} together, "
            f"and the cluster has {amount_text(has)}",
            remedy="Lower spec.resources.gpu.quota of these queues to the GPUs of the cluster, or add nodes.",
            evidence=[f"{fields.excerpt(each.name)}: {amount_text(each.quota or 0)}" for each in top][:20],
            gpus=total - has,
        )


_PREFIX: Final = "requests."
_QUOTA: Final = ("", "ResourceQuota")
_NANO: Final = 10**9


class _Hard(Struct, frozen=True, kw_only=True):
    """The limit of a ResourceQuota on one accelerator."""

    namespace: str
    name: str
    resource: str
    number: int | Decimal
    scoped: bool

    @property
    def subject(self) -> Subject:
        return named_subject("v1", "ResourceQuota", self.name, namespace=self.namespace)

    @property
    def gpus(self) -> float:
        return float(self.number) if self.resource in WHOLE_GPUS else 0


def quota_findings(situation: Situation) -> Iterator[FindingEntry]:
    """The findings about quotas of accelerators."""
    hard = list(_hard(situation))
    if situation.estate.nodes is not None:
        yield from _above_capacity(hard, situation)
    # Unless all workloads were read, an empty namespace proves nothing.
    if situation.complete:
        yield from _without_workloads(hard, situation)
        yield from _gpu_quotas_without_workloads(situation)


def _hard(situation: Situation) -> Iterator[_Hard]:
    facts = situation.known.facts
    for namespace in sorted(facts.namespaces(*_QUOTA)):
        objects = facts.objects(*_QUOTA, namespace)
        for quota in () if isinstance(objects, Absence) else resource_quota_judge.read(objects).all:
            for written, quantity in sorted(quota.hard.items()):
                resource = written.removeprefix(_PREFIX)
                if situation.known.vocabulary_of_cluster.contains(resource) and quantity.nanos > 0:
                    yield _Hard(
                        namespace=namespace,
                        name=quota.name,
                        resource=resource,
                        number=quantity.value if quantity.is_whole else Decimal(quantity.nanos).scaleb(-9),
                        scoped=bool(quota.scopes),
                    )


def _above_capacity(hard: list[_Hard], situation: Situation) -> Iterator[FindingEntry]:
    there = cluster_equipment.accelerators_of(situation.estate.nodes or ())
    by_resource: defaultdict[str, list[_Hard]] = defaultdict(list)
    for each in hard:
        has = there.get(each.resource, 0)
        if cluster_equipment.may_grow(each.resource, situation):
            continue
        by_resource[each.resource].append(each)
        if each.number > has:
            yield cluster_finding(
                "USA022",
                each.subject,
                f"it allows {each.number:,} {each.resource}, and the cluster has {has:,}",
                part=each.resource,
                path=f"spec.hard.{_PREFIX}{each.resource}",
                team=situation.team(each.namespace),
                gpus=each.gpus,
            )
    for resource, quotas in sorted(by_resource.items()):
        has = there.get(resource, 0)
        # A quota above the capacity has a finding of its own, and bounds nothing.
        counted = [each for each in quotas if not each.scoped and each.number <= has]
        total = sum(each.number for each in counted)
        if len(counted) > 1 and total > has > 0:
            largest = sorted(counted, key=lambda each: (-each.number, each.namespace, each.name))[:10]
            yield cluster_finding(
                "USA023",
                cluster_subject(resource),
                f"{len(counted):,} ResourceQuotas allow {total:,} {resource} together, and the cluster has {has:,}",
                evidence=[f"{each.namespace}/{each.name}: {each.number:,}" for each in largest],
                gpus=float(total - has) if resource in WHOLE_GPUS else 0,
            )


def _without_workloads(hard: list[_Hard], situation: Situation) -> Iterator[FindingEntry]:
    busy = {each.identity.namespace for each in situation.estate.workloads}
    by_quota: defaultdict[tuple[str, str], list[_Hard]] = defaultdict(list)
    for each in hard:
        if each.namespace not in busy and not situation.exemption(each.namespace):
            by_quota[each.namespace, each.name].append(each)
    for (namespace, _), quotas in sorted(by_quota.items()):
        yield cluster_finding(
            "USA024",
            quotas[0].subject,
            f"namespace {namespace} has no workload with accelerators",
            evidence=[f"allowed: {each.number:,} {each.resource}" for each in quotas],
            team=situation.team(namespace),
            gpus=sum(each.gpus for each in quotas),
        )


def _gpu_quotas_without_workloads(situation: Situation) -> Iterator[FindingEntry]:
    namespaces = sorted({each.identity.namespace for each in situation.estate.workloads})
    for quota in assignment.all_quotas(situation.known):
        if not isinstance(quota, Quota):
            continue
        # Unknown labels may select the namespace.
        held = [name for name in namespaces if assignment.holds(quota, name, situation.labels(name)) is not False]
        if not held:
            gpus = max((float(limit.hard.get("gpus", 0)) / _NANO for limit in quota.limits), default=0.0)
            subject = named_subject(f"{QUOTA_GROUP}/v1alpha1", "Config" if quota.declared else KIND, quota.name)
            yield cluster_finding("USA024", subject, f"{quota} holds for no workload with accelerators", gpus=gpus)
