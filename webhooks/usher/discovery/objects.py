"""The queues, classes and namespaces of a cluster that usher.yaml can name."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from usher import paths
from usher.accelerators import vocabulary as accelerators_vocabulary
from usher.accelerators.vocabulary import Vocabulary
from usher.authorities import priority as priority_read
from usher.cluster.facts.store import Store
from usher.config import sections
from usher.dataclass import dataclass
from usher.kinds.kind import Key
from usher.kinds.reading.values import Absence

NAMESPACE: Final[Key] = ("", "Namespace")
LOCAL_QUEUE: Final[Key] = ("kueue.x-k8s.io", "LocalQueue")
WORKLOAD_CLASS: Final[Key] = priority_read.QUEUE_PRIORITY_CLASS
PRIORITY_CLASS: Final[Key] = priority_read.PRIORITY_CLASS
VOLCANO_QUEUE: Final[Key] = ("scheduling.volcano.sh", "Queue")
DEVICE_CLASS: Final[Key] = ("resource.k8s.io", "DeviceClass")

_NAME: Final = re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
_DRIVER: Final = re.compile(r"""device\.driver\s*==\s*["']([a-z0-9][-a-z0-9.]{0,252})["']""", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalQueue:
    """A queue of Kueue in a namespace."""

    namespace: str
    name: str


def is_name(text: str) -> bool:
    """Whether a text can be the name of an object; a file may hold any text."""
    return _NAME.fullmatch(text) is not None


def names(facts: Store, kind: Key) -> list[str] | None:
    """The names of all objects of a kind, in order; None where the kind is unknown."""
    found = facts.names(*kind)
    return None if found is None else sorted(name for name in found if is_name(name))


def local_queues(facts: Store) -> list[LocalQueue] | None:
    """All LocalQueues, by namespace and name; None where they are unknown."""
    if not facts.knows(*LOCAL_QUEUE):
        return None
    spaces = facts.namespaces(*LOCAL_QUEUE)
    found = (
        LocalQueue(namespace=space, name=name)
        for space in spaces
        for name in _objects(facts, LOCAL_QUEUE, space)
        if is_name(space) and is_name(name)
    )
    return sorted(found, key=lambda each: (each.namespace, each.name))


def unknown_device_classes(facts: Store, vocabulary: Vocabulary) -> dict[str, sections.DeviceClass]:
    """Declarations for DeviceClasses that usher does not know by name, by the known devices of their drivers."""
    return dict(_device_classes(facts, vocabulary))


def _device_classes(facts: Store, vocabulary: Vocabulary) -> Iterator[tuple[str, sections.DeviceClass]]:
    for name, value in sorted(_objects(facts, DEVICE_CLASS).items()):
        if not is_name(name) or vocabulary.device_class(name) is not None:
            continue
        expressions = list(_expressions(value.get("spec")))
        drivers = {driver for text in expressions for driver in _DRIVER.findall(text)}
        accelerator = vocabulary.driver(min(drivers)) if len(drivers) == 1 else None
        if accelerator is None:
            continue
        # Further conditions may select slices of devices, which have no resource.
        every = accelerator and len(expressions) == 1 and _DRIVER.fullmatch(expressions[0].strip())
        resource = accelerators_vocabulary.meaning_of_class(min(drivers)).resource if every else None
        yield name, sections.DeviceClass(accelerator=accelerator, resource=resource)


def _expressions(spec: paths.Json) -> Iterator[str]:
    selectors = spec.get("selectors") if isinstance(spec, dict) else None
    for each in selectors if isinstance(selectors, list) else ():
        cel = each.get("cel") if isinstance(each, dict) else None
        text = cel.get("expression") if isinstance(cel, dict) else None
        # A selector that narrows a driver down selects devices of this driver alone.
        if isinstance(text, str) and "||" not in text:
            yield text


def _objects(facts: Store, kind: Key, namespace: str = "") -> Mapping[str, paths.Object]:
    found = facts.objects(*kind, namespace)
    return {} if isinstance(found, Absence) else found
