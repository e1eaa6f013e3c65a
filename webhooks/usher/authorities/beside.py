"""The facts about an object from other objects of the same files: its Services, its disks, the pods of its PodGroup.

Files are applied together, so they show all objects. A cluster gets them one by one, so a review knows no other object.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from usher import model, paths
from usher.authorities.knowledge import Knowledge
from usher.kinds.reading import values as reading_values

GROUP_ANNOTATION: Final = "scheduling.k8s.io/group-name"
"""On pods and templates: the name of their PodGroup of Volcano."""

GROUP_LABEL: Final = "scheduling.x-k8s.io/pod-group"
"""On pods and templates: the name of their PodGroup of the coscheduling plugin."""

_POD_GROUP: Final = ("scheduling.volcano.sh", "PodGroup")

_FINISHED: Final = frozenset({"Succeeded", "Failed"})

_PORTS_OF_PEOPLE: Final = (22, 6006, 8888, "22", "6006", "8888")
"""Ports of SSH, TensorBoard and Jupyter, which answer at once and load no model."""

_Naming = Mapping[tuple[str, str], Sequence[paths.Object]]
"""Objects by the namespace and the name of the PodGroup that they name."""


class Beside(Struct, frozen=True, kw_only=True):
    """The objects of the same files that matter to one object."""

    has_service: bool = False
    """Whether a Service with an address of its own sends the requests of programs to the pods."""
    disks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Access modes by the name of the PersistentVolumeClaim, for those that the pods name."""
    gang: model.Workload | None = None
    """The pods of a PodGroup, made by hand, as one workload that waits for minMember of them; else None."""
    shared_groups: frozenset[str] = frozenset()
    """The names of PodGroups that other objects of the same files name as well."""


NOTHING: Final = Beside()


def of(workload: model.Workload | None, objects: reading_values.Lookup, known: Knowledge) -> Beside:
    """The facts about an object from other objects of the same files; empty without files.

    Args:
        objects: the objects of the same files; other kinds of lookups give no facts.
        known: reads the pods.
    """
    if workload is None or not isinstance(objects, reading_values.Objects):
        return NOTHING
    if (workload.group, workload.kind) == _POD_GROUP:
        return Beside(gang=_gang(workload, objects, known))
    if not workload.asks_accelerators:
        return NOTHING
    return Beside(
        has_service=_has_service(workload, objects),
        disks=dict(_disks(workload, objects)),
        shared_groups=_shared_groups(workload, objects),
    )


def _shared_groups(workload: model.Workload, objects: reading_values.Objects) -> frozenset[str]:
    names = {
        name
        for each in workload.pod_sets
        for name in (each.annotations.get(GROUP_ANNOTATION), each.labels.get(GROUP_LABEL), each.scheduling_group)
        if name
    }
    if not names:
        return frozenset()
    naming = _naming(objects)
    return frozenset(name for name in names if len(naming.get((workload.namespace, name), ())) > 1)


def _naming(objects: reading_values.Objects) -> _Naming:
    return objects.once("objects by PodGroup", lambda: _by_group(objects))


def _has_service(workload: model.Workload, objects: reading_values.Objects) -> bool:
    services = [paths.mapping(each.get("spec")) for each in objects.of_kind("", "Service", workload.namespace)]
    selectors = [paths.mapping(spec.get("selector")) for spec in services if _sends_requests(spec)]
    return any(
        selector and all(pod_set.labels.get(key) == value for key, value in selector.items())
        for selector in selectors
        for pod_set in workload.pod_sets
    )


def _sends_requests(service: Mapping[str, paths.Json]) -> bool:
    """Whether a Service has an address of its own, and a port that programs use."""
    ports = service.get("ports")
    numbers = [
        entry.get("targetPort", entry.get("port"))
        for entry in (ports if isinstance(ports, list) else [])
        if isinstance(entry, dict)
    ]
    # Without an address it only names the pods, also those that are not ready.
    return service.get("clusterIP") != "None" and any(number not in _PORTS_OF_PEOPLE for number in numbers)


def _disks(workload: model.Workload, objects: reading_values.Objects) -> Iterator[tuple[str, tuple[str, ...]]]:
    for pod_set in workload.pod_sets:
        for volume in pod_set.fields.get("volumes", ()):
            name = volume.get("persistentVolumeClaim", {}).get("claimName", "")
            found = objects.find(
                reading_values.Reference(
                    group="", kind="PersistentVolumeClaim", name=name, namespace=workload.namespace
                )
            )
            modes = (
                None
                if isinstance(found, reading_values.Absence)
                else paths.mapping(found.get("spec")).get("accessModes")
            )
            if isinstance(modes, list):
                yield name, tuple(mode for mode in modes if isinstance(mode, str))


def _gang(group: model.Workload, objects: reading_values.Objects, known: Knowledge) -> model.Workload | None:
    """The pods of a PodGroup that were made by hand; None if anything else makes pods of the group too."""
    values = _naming(objects).get((group.namespace, group.name), ())
    pods = [known.workload(each, namespace=group.namespace, objects=objects) for each in values]
    by_hand = [pod for pod in pods if pod is not None and pod.is_pod and pod.owner is None]
    if not by_hand or len(by_hand) < len(pods):
        return None
    minimum = group.view.get("volcanoPodGroup", {}).get("spec", {}).get("minMember", 0)
    return replace(
        group,
        pod_sets=tuple(pod_set for pod in by_hand for pod_set in pod.pod_sets),
        gang=model.Gang(wanted=minimum > 1, minimum=minimum),
    )


def _by_group(objects: reading_values.Objects) -> _Naming:
    found: defaultdict[tuple[str, str], list[paths.Object]] = defaultdict(list)
    for namespace, value in objects.all():
        if paths.mapping(value.get("status")).get("phase") not in _FINISHED:
            for name in set(_groups_named(value)):
                found[namespace, name].append(value)
    return found


def _groups_named(value: paths.Object) -> Iterator[str]:
    """The PodGroups that an object or any template in it names."""
    left: list[paths.Json] = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            for name in (
                paths.mapping(each.get("annotations")).get(GROUP_ANNOTATION),
                paths.mapping(each.get("labels")).get(GROUP_LABEL),
                paths.mapping(each.get("schedulingGroup")).get("podGroupName"),
            ):
                if isinstance(name, str):
                    yield name
            left.extend(each.values())
        elif isinstance(each, list):
            left.extend(each)
