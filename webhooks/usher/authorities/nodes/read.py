"""The demand of one pod of a pod set on its node, with the resources and tolerations that it gets before scheduling."""

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.accelerators import names
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.nodes import Amounts, scheduler_amount
from usher.cluster.facts.store import Store
from usher.kinds.reading.values import Absence, Reference
from usher.model import placement
from usher.model.placement import Requirement
from usher.workloads import pod_sets

MOST_ALTERNATIVES: Final = 64
MOST_VALUES: Final = 4096
"""The most terms of a pod, and values in all terms; real pods have far fewer."""

_OF_DEVICES: Final = frozenset({names.Unit.DEVICE, names.Unit.PARTITION, names.Unit.SHARE})


class Alternative(NamedTuple):
    """One sufficient set of requirements: a term of the affinity, with the node selector."""

    on_labels: tuple[Requirement, ...]
    on_fields: tuple[Requirement, ...]


class PodDemand(Struct, frozen=True, kw_only=True):
    amounts: Amounts
    """Amounts above 0."""
    alternatives: tuple[Alternative, ...]
    """Empty where no node can fit, with any labels."""
    tolerations: tuple[Mapping[str, paths.Json], ...]
    node_name: str
    too_large: bool
    """Whether the affinity has more terms and values than usher reads."""
    claims_devices: bool
    """Whether the pod needs devices that nodes do not advertise."""
    from_classes: frozenset[str]
    """Resources that device classes may serve on nodes that do not advertise them."""
    in_one_container: Amounts
    """The most that any one container asks for."""

    def tolerating(self, *tolerations: Mapping[str, paths.Json]) -> "PodDemand":
        """The demand with more tolerations."""
        return replace(self, tolerations=(*self.tolerations, *tolerations))


def demand_of_pod_set(
    pod_set: model.PodSet, vocabulary: Vocabulary, *, from_classes: Collection[str] = ()
) -> PodDemand:
    """The demand of one pod.

    Args:
        from_classes: names of extended resources that DeviceClasses of the cluster serve.
    """
    amounts = pod_sets.requests_of_pod(
        pod_set.containers,
        overhead=pod_set.overhead,
        pod_requests=pod_set.pod_requests,
        pod_limits=pod_set.pod_limits,
    )
    found = {
        name: asked
        for name, quantity in sorted(amounts.items())
        if (asked := scheduler_amount(name, quantity)) > 0 and _is_advertised(name, vocabulary)
    }
    alternatives = tuple(islice(_alternatives(pod_set), MOST_ALTERNATIVES + 1))
    classes = frozenset(name for name in found if name in from_classes or name.startswith(names.CLAIM_PREFIX))
    largest = {
        name: max(scheduler_amount(name, each.effective(name)) for each in pod_set.containers)
        for name in found
        if pod_set.containers
    }
    return PodDemand(
        amounts=found,
        alternatives=alternatives,
        tolerations=pod_set.tolerations,
        node_name=pod_set.node_name,
        too_large=_is_too_large(alternatives),
        claims_devices=bool(pod_set.device_claims)
        or any(request.route is model.Route.CLAIM and request.name not in classes for request in pod_set.requests),
        from_classes=classes,
        in_one_container=largest,
    )


def _is_too_large(alternatives: tuple[Alternative, ...]) -> bool:
    values = sum(len(requirement.values) for alternative in alternatives for requirement in alternative.on_labels)
    return len(alternatives) > MOST_ALTERNATIVES or values > MOST_VALUES


def _is_advertised(name: str, vocabulary: Vocabulary) -> bool:
    """Whether nodes advertise a resource. They do not advertise the memory of a share: HAMi's scheduler counts it."""
    meaning = vocabulary.meaning(name)
    return (
        meaning is None or meaning.unit in _OF_DEVICES or meaning.unit is names.Unit.FABRIC or meaning.divides is None
    )


def _alternatives(pod_set: model.PodSet) -> Iterator[Alternative]:
    selected = tuple(
        Requirement(key=key, operator="In", values=(value,)) for key, value in sorted(pod_set.node_selector.items())
    )
    if not pod_set.has_required_affinity:
        yield Alternative(selected, ())
        return
    for term in pod_set.required_terms:
        found = placement.parse_term(term)
        if found is not None:
            yield Alternative((*selected, *found.on_labels), tuple(found.on_fields))


_QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"


def demands_of_workload(workload: model.Workload, known: Knowledge) -> list[PodDemand]:
    """The demand of each pod set on nodes, with the tolerations that its pods get before scheduling."""
    added = tuple(_tolerations_of_flavors(workload, known.facts))
    classes = resources_of_device_classes(known.facts)
    return [
        demand_of_pod_set(pod_set, known.vocabulary, from_classes=classes).tolerating(
            *_tolerations_of_runtime_class(pod_set, known.facts), *added
        )
        for pod_set in workload.pod_sets
    ]


def resources_of_device_classes(facts: Store) -> frozenset[str]:
    """Extended resources that device classes also serve (docs/domain/device-claims.md#extended-resources)."""
    found = facts.objects("resource.k8s.io", "DeviceClass")
    if isinstance(found, Absence):
        return frozenset()
    specs = (value.get("spec") for value in found.values())
    names = (spec.get("extendedResourceName") for spec in specs if isinstance(spec, dict))
    return frozenset(name for name in names if isinstance(name, str))


def _tolerations_of_flavors(workload: model.Workload, facts: Store) -> Iterator[Mapping[str, paths.Json]]:
    """Tolerations that Kueue adds with a flavor. The pods may get any flavor, so those of all flavors count."""
    if not workload.queue_labels.get(_QUEUE_LABEL):
        return
    found = facts.objects("kueue.x-k8s.io", "ResourceFlavor")
    for value in () if isinstance(found, Absence) else found.values():
        spec = value.get("spec")
        yield from _mappings(spec.get("tolerations") if isinstance(spec, dict) else None)


def _tolerations_of_runtime_class(pod_set: model.PodSet, facts: Store) -> Iterator[Mapping[str, paths.Json]]:
    """Tolerations that the API server adds to pods with their RuntimeClass."""
    if not pod_set.runtime_class_name:
        return
    reference = Reference(group="node.k8s.io", kind="RuntimeClass", name=pod_set.runtime_class_name)
    found = facts.find(reference)
    scheduling = None if isinstance(found, Absence) else found.get("scheduling")
    yield from _mappings(scheduling.get("tolerations") if isinstance(scheduling, dict) else None)


def _mappings(value: paths.Json) -> Iterator[Mapping[str, paths.Json]]:
    yield from (each for each in value if isinstance(each, dict)) if isinstance(value, list) else ()
