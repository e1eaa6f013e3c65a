"""Finds where a workload names its Volcano queue and its PodGroup (docs/domain/volcano.md#routing)."""

from collections.abc import Collection, Iterator
from typing import Final

from usher import model, paths
from usher.authorities.beside import GROUP_ANNOTATION
from usher.dataclass import dataclass

QUEUE_ANNOTATION: Final = "scheduling.volcano.sh/queue-name"

DEFAULT_QUEUE: Final = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A queue or a PodGroup, and the place that names it."""

    name: str
    path: str
    assumption: str = ""
    """The condition under which Volcano reads this place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedGroup(Named):
    """A PodGroup, with the number of pods that name it."""

    least: int
    most: int | None
    """None where the number has no bound."""


def is_placed(workload: model.Workload, schedulers: Collection[str]) -> bool:
    """Whether the object or its runtime names Volcano as the scheduler of any pod."""
    return (
        workload.gang_native
        or workload.gang.scheduler == "volcano"
        or any(pod_set.scheduler.name in schedulers for pod_set in workload.pod_sets)
    )


def queues(workload: model.Workload, schedulers: Collection[str]) -> tuple[Named, ...]:
    """The queues that a workload names, each once; else its default queue.

    Args:
        workload: the object.
        schedulers: the scheduler names of Volcano.
    """
    placed = is_placed(workload, schedulers)
    named = {each.name: each for each in reversed([*_named(workload, placed=placed)])}
    if named or not placed:
        return tuple(named[name] for name in sorted(named))
    path = workload.gang_places.queue
    if path is not None and path.startswith("/spec/") and not workload.view:
        return ()  # The model does not have the fields of this kind, so it may name a queue.
    return (Named(name=DEFAULT_QUEUE, path=path or _scheduler_path(workload, schedulers)),)


def _named(workload: model.Workload, *, placed: bool) -> Iterator[Named]:
    place = workload.gang_places.queue
    if place is not None:
        name = _at(workload, place)
        if name:
            told = "" if placed else f"the operator of {workload.kind}s makes gangs on Volcano"
            yield Named(name=name, path=place, assumption=told)
            return
    holders = [("/metadata", workload.annotations)]
    holders += [(pod_set.metadata_path, pod_set.annotations) for pod_set in workload.pod_sets]
    for path, annotations in holders:
        name = annotations.get(QUEUE_ANNOTATION, "")
        if name and placed:
            yield Named(name=name, path=paths.join(path, "annotations", QUEUE_ANNOTATION))


def _at(workload: model.Workload, place: str) -> str:
    """The text at a place of the object; empty where the model does not have it."""
    holder, _, _ = place.rpartition("/")
    key = paths.split(place)[-1]
    for pod_set in workload.pod_sets:
        if holder == f"{pod_set.metadata_path}/annotations":
            return pod_set.annotations.get(key, "")
    if holder == "/metadata/labels":
        return workload.labels.get(key, "")
    if holder == "/metadata/annotations":
        return workload.annotations.get(key, "")
    for shape in workload.view.values():
        try:
            found = paths.resolve(shape, place)
        except LookupError:
            continue
        return found if isinstance(found, str) else ""
    return ""


def _scheduler_path(workload: model.Workload, schedulers: Collection[str]) -> str:
    for pod_set in workload.pod_sets:
        if pod_set.scheduler.name in schedulers:
            return pod_set.places.get("schedulerName", f"{pod_set.spec_path}/schedulerName")
    return paths.ROOT


def groups(workload: model.Workload) -> tuple[NamedGroup, ...]:
    """The PodGroups that templates name; empty for an object with an owner, because its controller sets the name."""
    if workload.owner is not None:
        return ()
    found: dict[str, list[model.PodSet]] = {}
    for pod_set in workload.pod_sets:
        name = pod_set.annotations.get(GROUP_ANNOTATION, "")
        if name:
            found.setdefault(name, []).append(pod_set)
    return tuple(_group(name, pod_sets) for name, pod_sets in sorted(found.items()))


def _group(name: str, pod_sets: list[model.PodSet]) -> NamedGroup:
    maxima = [pod_set.count.maximum for pod_set in pod_sets]
    bounded = [maximum for maximum in maxima if maximum is not None]
    return NamedGroup(
        name=name,
        path=paths.join(pod_sets[0].metadata_path, "annotations", GROUP_ANNOTATION),
        least=sum(pod_set.count.minimum for pod_set in pod_sets),
        most=sum(bounded) if len(bounded) == len(maxima) else None,
    )
