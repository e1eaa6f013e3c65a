"""Findings about ResourceQuotas and GPUQuotas that do not match the accelerators or the workloads of the cluster."""

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from usher import quantities
from usher.audit.document import FindingEntry, Subject
from usher.audit.standing import capacity, entries
from usher.audit.standing.situation import Situation
from usher.authorities.gpu_quota import assignment
from usher.authorities.gpu_quota.definitions import GROUP, KIND, Quota
from usher.authorities.resource_quota import read as resource_quota_read
from usher.check.devices import WHOLE_GPUS
from usher.dataclass import dataclass
from usher.kinds.reading.values import Absence

_PREFIX: Final = "requests."
_QUOTA: Final = ("", "ResourceQuota")
_NANO: Final = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hard:
    """The limit of a ResourceQuota on one accelerator."""

    namespace: str
    name: str
    resource: str
    number: int | Decimal
    scoped: bool

    @property
    def subject(self) -> Subject:
        return entries.named("v1", "ResourceQuota", self.name, namespace=self.namespace)

    @property
    def gpus(self) -> float:
        return float(self.number) if self.resource in WHOLE_GPUS else 0


def findings(situation: Situation) -> Iterator[FindingEntry]:
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
        for quota in () if isinstance(objects, Absence) else resource_quota_read.read(objects).all:
            for written, quantity in sorted(quota.hard.items()):
                resource = written.removeprefix(_PREFIX)
                if situation.known.vocabulary_of_cluster.contains(resource) and quantity.nanos > 0:
                    yield _Hard(
                        namespace=namespace,
                        name=quota.name,
                        resource=resource,
                        number=_number(quantity),
                        scoped=bool(quota.scopes),
                    )


def _number(quantity: quantities.Quantity) -> int | Decimal:
    return quantity.value if quantity.is_whole else Decimal(quantity.nanos).scaleb(-9)


def _above_capacity(hard: list[_Hard], situation: Situation) -> Iterator[FindingEntry]:
    there = capacity.of(situation.estate.nodes or ())
    by_resource: defaultdict[str, list[_Hard]] = defaultdict(list)
    for each in hard:
        has = there.get(each.resource, 0)
        if capacity.grows(each.resource, situation):
            continue
        by_resource[each.resource].append(each)
        if each.number > has:
            yield entries.finding(
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
            yield entries.finding(
                "USA023",
                entries.of_cluster(resource),
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
        yield entries.finding(
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
            subject = entries.named(f"{GROUP}/v1alpha1", "Config" if quota.declared else KIND, quota.name)
            yield entries.finding("USA024", subject, f"{quota} holds for no workload with accelerators", gpus=gpus)
