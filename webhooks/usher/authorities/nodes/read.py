"""Reads facts that decide on nodes besides the nodes: resources of DeviceClasses, tolerations that pods get."""

from collections.abc import Iterator, Mapping
from typing import Final

from usher import model, paths
from usher.authorities.knowledge import Knowledge
from usher.authorities.nodes import pod_demand
from usher.authorities.nodes.pod_demand import PodDemand
from usher.cluster.facts.store import Store
from usher.kinds.reading.values import Absence, Reference

_QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"


def demands(workload: model.Workload, known: Knowledge) -> list[PodDemand]:
    """The demand of each pod set on nodes, with the tolerations that its pods get before scheduling."""
    added = tuple(_of_flavors(workload, known.facts))
    classes = from_device_classes(known.facts)
    return [
        pod_demand.of_pod_set(pod_set, known.vocabulary, from_classes=classes).tolerating(
            *_of_runtime_class(pod_set, known.facts), *added
        )
        for pod_set in workload.pod_sets
    ]


def from_device_classes(facts: Store) -> frozenset[str]:
    """Extended resources that device classes also serve (docs/domain/device-claims.md#extended-resources)."""
    found = facts.objects("resource.k8s.io", "DeviceClass")
    if isinstance(found, Absence):
        return frozenset()
    specs = (value.get("spec") for value in found.values())
    names = (spec.get("extendedResourceName") for spec in specs if isinstance(spec, dict))
    return frozenset(name for name in names if isinstance(name, str))


def _of_flavors(workload: model.Workload, facts: Store) -> Iterator[Mapping[str, paths.Json]]:
    """Tolerations that Kueue adds with a flavor. The pods may get any flavor, so those of all flavors count."""
    if not workload.queue_labels.get(_QUEUE_LABEL):
        return
    found = facts.objects("kueue.x-k8s.io", "ResourceFlavor")
    for value in () if isinstance(found, Absence) else found.values():
        spec = value.get("spec")
        yield from _mappings(spec.get("tolerations") if isinstance(spec, dict) else None)


def _of_runtime_class(pod_set: model.PodSet, facts: Store) -> Iterator[Mapping[str, paths.Json]]:
    """Tolerations that the API server adds to pods with their RuntimeClass."""
    if not pod_set.runtime_class_name:
        return
    reference = Reference(group="node.k8s.io", kind="RuntimeClass", name=pod_set.runtime_class_name)
    found = facts.find(reference)
    scheduling = None if isinstance(found, Absence) else found.get("scheduling")
    yield from _mappings(scheduling.get("tolerations") if isinstance(scheduling, dict) else None)


def _mappings(value: paths.Json) -> Iterator[Mapping[str, paths.Json]]:
    yield from (each for each in value if isinstance(each, dict)) if isinstance(value, list) else ()
