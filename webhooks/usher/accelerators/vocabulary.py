"""The meaning of names on this cluster: known names, and those that usher.yaml adds (accelerators:)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from usher.accelerators import device_classes, lookalikes, meanings, names, node_taints
from usher.accelerators.device_classes import DeviceClassMeaning
from usher.accelerators.names import Meaning, Unit
from usher.config import models

KNOWN_TAINTS: Final = {"nvidia.com/": "nvidia.com/gpu", "google.com/tpu": "google.com/tpu", "amd.com/": "amd.com/gpu"}
"""The usual taint of nodes with these resources; GKE and KServe use the keys (docs/domain/nodes.md#taints)."""

_REMEMBERED: Final = 1024
_DEVICE: Final = Meaning(unit=Unit.DEVICE)
_NOTHING_SERVED: Final[Mapping[str, str]] = MappingProxyType({})


class Vocabulary:
    """The meaning of names, from the known names and those that usher.yaml adds.

    A whole name in usher.yaml decides first, then the known names, then the prefixes in usher.yaml, then the resources
    that device classes of the cluster serve.

    How totals count a resource depends on its unit:

    - DEVICE: whole devices, which add up across names. In a container that also asks for a resource that `divides` it,
      they are shares. Time slices and MIG may hide behind them, unless usher.yaml says so.
    - PARTITION, SHARE: counted by name. Only the board or side resources say which part of a device one is.
    - MEMORY, MEMORY_FRACTION, CORES: never a number of devices. `size` turns them into bytes or a fraction of a device.
    - MONITORING: access to every device of the node; it takes no device, so there is nothing to add up.
    - CLAIM: devices of the class in the name. They count as the class says, and not at all where that is unknown.
    - FABRIC, SETTING: not an accelerator.
    """

    def __init__(self, section: models.Accelerators, served: Mapping[str, str] = _NOTHING_SERVED) -> None:
        """The meanings of names.

        Args:
            section: what usher.yaml says.
            served: device classes by the extended resource that their devices serve.
        """
        self._section = section
        self._served = served
        self._resources: Mapping[str, models.Resource] = section.resources
        self._names = frozenset(section.names)
        self._prefixes = tuple(sorted(section.prefixes, key=len, reverse=True))
        self._ignored = frozenset(section.ignored)
        self._classes: Mapping[str, models.DeviceClass] = section.device_classes
        self._taints = {**KNOWN_TAINTS, **section.taints}
        self._meaning = lru_cache(maxsize=_REMEMBERED)(self._work_out)
        self._looks_like = lru_cache(maxsize=_REMEMBERED)(lookalikes.looks_like_accelerator)

    def serving(self, served: Mapping[str, str]) -> "Vocabulary":
        """The vocabulary for more device classes that serve extended resources."""
        return Vocabulary(self._section, {**self._served, **served})

    def contains(self, name: str) -> bool:
        """Whether a positive amount of the resource gives a pod an accelerator, a part of one, or access to some.

        Side resources do so too: a pod that asks for `aliyun.com/gpu-mem` alone gets a share of a GPU, and HAMi
        adds `nvidia.com/gpu` to a container that asks for `nvidia.com/gpumem` alone. How many devices it gets is for
        `meaning` to say. A claim for a device class counts unless the class is known to be something else.
        """
        found = self.meaning(name)
        if found is None or found.unit not in names.GIVING:
            return False
        return found.device_class is None or self.device_class(found.device_class) is not False

    def meaning(self, name: str) -> Meaning | None:
        """The meaning of a resource; None for cpu, memory and all other names that are not known as accelerators."""
        return self._meaning(name) if len(name) <= names.LONGEST else self._work_out(name)

    def looks_like(self, name: str) -> bool:
        """Whether a name without a meaning looks like an accelerator; see lookalikes.looks_like_accelerator."""
        if name in self._ignored or self.meaning(name) is not None:
            return False
        return self._looks_like(name) if len(name) <= names.LONGEST else lookalikes.looks_like_accelerator(name)

    def device_class(self, name: str) -> bool | None:
        """Whether the devices of a class are accelerators; None if unknown, because usher does not guess."""
        return self.device_class_meaning(name).accelerator

    def device_class_meaning(self, name: str) -> DeviceClassMeaning:
        """The devices of a class. For a class in usher.yaml, its resource gives unit and vendor."""
        known = device_classes.device_class(name)
        said = self._classes.get(name)
        if said is None:
            return known
        if not said.accelerator:
            return DeviceClassMeaning(accelerator=False, driver=known.driver)
        resource = said.resource or known.resource
        like = self.meaning(resource) if resource else None
        return DeviceClassMeaning(
            accelerator=True,
            vendor=(like.vendor if like else "") or known.vendor,
            unit=like.unit if like else known.unit or Unit.DEVICE,
            driver=known.driver,
            resource=resource,
            offered_as=(said.resource,) if said.resource else known.offered_as,
            memory_step=said.memory_step,
        )

    def driver(self, name: str) -> bool | None:
        """Whether the devices of a DRA driver are accelerators; None if this is unknown."""
        return device_classes.driver(name)

    @property
    def taint_keys(self) -> list[str]:
        """The keys of all taints that nodes with accelerators usually have, each once."""
        return sorted(set(self._taints.values()))

    def marks_accelerators(self, key: str, value: str) -> bool:
        """Whether a taint marks nodes with accelerators, without reserving them for some pods."""
        return key in self._taints.values() or self.contains(key) or node_taints.marks_accelerators(key, value)

    def taint_key(self, name: str) -> str | None:
        """The key of the usual taint of nodes with this resource, or with devices of this class.

        The longest matching prefix decides. A class without a resource of its own counts as the one of its driver.
        """
        fitting = [prefix for prefix in self._taints if name.startswith(prefix)]
        if fitting:
            return self._taints[max(fitting, key=len)]
        meaning = self.device_class_meaning(name)
        resource = meaning.resource or self.device_class_meaning(meaning.driver).resource
        return self.taint_key(resource) if resource and resource != name else None

    def _work_out(self, name: str) -> Meaning | None:
        if name in self._ignored:
            return None
        known = meanings.meaning(name)
        own = self._resources.get(name)
        if own is not None:
            return _from_site(own, known)
        if known is not None and (known.unit in names.GIVING or name not in self._names):
            return known
        if name in self._names:
            return _DEVICE
        prefix = next((prefix for prefix in self._prefixes if name.startswith(prefix)), None)
        if prefix is None:
            device_class = self._served.get(name)
            return None if device_class is None else Meaning(unit=Unit.CLAIM, device_class=device_class)
        own = self._resources.get(prefix)
        return _DEVICE if own is None else _from_site(own, None)


def _from_site(said: models.Resource, known: Meaning | None) -> Meaning:
    """The meaning from usher.yaml; vendor and divided resource stay as known if usher.yaml does not set them."""
    unit = Unit(said.unit)
    if known is None:
        return Meaning(unit=unit, vendor=said.vendor or "", size=said.size, per_device=said.per_device)
    size = said.size if said.size is not None or unit is not known.unit else known.size
    vendor = said.vendor or known.vendor
    return replace(known, unit=unit, vendor=vendor, size=size, device_class=None, per_device=said.per_device)
