"""Where usher.yaml differs from a cluster."""

from collections.abc import Iterator
from dataclasses import field
from typing import Final

from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import priority as priority_read
from usher.cluster.facts.store import Store
from usher.config import models, sections, selection
from usher.dataclass import dataclass
from usher.discovery import objects, pool_differences
from usher.kinds.kind import Key

Problem = tuple[str, str]
"""JSON Pointer into usher.yaml, and the difference there."""

_NAMED: Final = 3
"""How many namespaces a difference names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The differences, and the kinds that could not be compared."""

    differences: tuple[Problem, ...]
    unknown: tuple[str, ...] = field(default=())
    """The kinds whose objects usher does not know but needs for the comparison."""


def compare(config: models.Config, facts: Store) -> Comparison:
    """Compares usher.yaml with a cluster: pools, queues, classes."""
    needed: dict[Key, bool] = {
        ("", "Node"): True,
        objects.LOCAL_QUEUE: bool(config.queues),
        objects.WORKLOAD_CLASS: any(queue.priority_class for queue in config.queues),
        objects.PRIORITY_CLASS: bool(config.priorities.classes or config.priorities.global_default),
        objects.VOLCANO_QUEUE: any(route.scheduler == "volcano" for route in config.routing),
        objects.DEVICE_CLASS: bool(config.accelerators.device_classes),
    }
    unknown = tuple(_title(kind) for kind, is_needed in needed.items() if is_needed and not facts.knows(*kind))
    return Comparison(differences=tuple(_differences(config, facts)), unknown=unknown)


def _differences(config: models.Config, facts: Store) -> Iterator[Problem]:
    vocabulary = Vocabulary(config.accelerators)
    if facts.nodes.known:
        yield from pool_differences.of(config.pools, facts.nodes.now, vocabulary)
    yield from _of_device_classes(config, facts, vocabulary)
    yield from _of_queues(config, facts)
    yield from _of_routing(config, facts)
    yield from _of_priorities(config, facts)


def _of_device_classes(config: models.Config, facts: Store, vocabulary: Vocabulary) -> Iterator[Problem]:
    there = objects.names(facts, objects.DEVICE_CLASS)
    for name in config.accelerators.device_classes:
        if there is not None and name not in there:
            yield f"/accelerators/deviceClasses/{name}", f"the cluster has no DeviceClass {name}"
    for name in objects.unknown_device_classes(facts, vocabulary):
        yield "/accelerators", f"DeviceClass {name} of the cluster has a known driver, but is missing in deviceClasses"


def _of_queues(config: models.Config, facts: Store) -> Iterator[Problem]:
    found = objects.local_queues(facts)
    there = {(each.namespace, each.name) for each in found or ()}
    namespaces = objects.names(facts, objects.NAMESPACE)
    for index, queue in enumerate(config.queues):
        if found is not None:
            matching = _namespaces(queue, config, namespaces)
            without = [name for name in matching if (name, queue.local_queue) not in there]
            if without:
                yield f"/queues/{index}/localQueue", f"there is no LocalQueue {queue.local_queue} in {_list(without)}"
        if queue.priority_class is not None:
            yield from _missing(facts, objects.WORKLOAD_CLASS, queue.priority_class, f"/queues/{index}/priorityClass")


def _namespaces(queue: sections.Queue, config: models.Config, known: list[str] | None) -> list[str]:
    """The namespaces of an entry: those of the cluster that match, or those that it names where they are unknown."""
    if known is None:
        return [name for name in queue.namespaces if "*" not in name]
    return [
        name
        for name in known
        if selection.matches_pattern(name, queue.namespaces)
        and not selection.matches_pattern(name, config.exempt_namespaces)
    ]


def _of_routing(config: models.Config, facts: Store) -> Iterator[Problem]:
    for index, route in enumerate(config.routing):
        if route.scheduler == "volcano":
            yield from _missing(facts, objects.VOLCANO_QUEUE, route.queue, f"/routing/{index}/queue")


def _of_priorities(config: models.Config, facts: Store) -> Iterator[Problem]:
    for index, rule in enumerate(config.priorities.classes):
        pointer = f"/priorities/classes/{index}/priorityClass"
        yield from _missing(facts, objects.PRIORITY_CLASS, rule.priority_class, pointer)
    declared = config.priorities.global_default
    there = priority_read.default_class(facts)
    if there is not None and declared is not None and declared != there.name:
        actual = f"the cluster's is {there.name}" if there.name else "no class of the cluster has globalDefault"
        yield "/priorities/globalDefault", f"{declared} is not the default PriorityClass: {actual}"


def _missing(facts: Store, kind: Key, name: str, pointer: str) -> Iterator[Problem]:
    there = objects.names(facts, kind)
    if there is not None and name not in there:
        yield pointer, f"the cluster has no {_title(kind)} {name}"


def _title(kind: Key) -> str:
    return "Queue of Volcano" if kind == objects.VOLCANO_QUEUE else kind[1]


def _list(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    kind = "namespace" if len(names) == 1 else "namespaces"
    return f"{kind} {', '.join(names[:_NAMED])}{more}"
