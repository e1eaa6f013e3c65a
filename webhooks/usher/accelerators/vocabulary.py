"""What names mean on this cluster: the known ones, and those that usher.yaml adds (accelerators:)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from usher.accelerators import device_classes, lookalikes, meanings, names
from usher.accelerators.device_classes import DeviceClassMeaning
from usher.accelerators.names import Meaning, Unit
from usher.config import models

KNOWN_TAINTS: Final = {"nvidia.com/": "nvidia.com/gpu", "google.com/tpu": "google.com/tpu", "amd.com/": "amd.com/gpu"}
"""The taint of these nodes if nothing better is known; GKE and KServe use the keys (docs/domain/nodes.md#taints)."""

_REMEMBERED: Final = 1024
_DEVICE: Final = Meaning(unit=Unit.DEVICE)


class Vocabulary:
    """Answers what a name means, from the known names and those that usher.yaml adds.

    What a site says of a whole name decides before what is known of it, and that before the prefixes of the site.

    What a total may do with a resource depends on its unit:

    - DEVICE: whole devices, which may be added up across names. In a container that also asks for a resource that
      `divides` it, they are shares; and time slices and MIG may hide behind them, unless usher.yaml says so.
    - PARTITION, SHARE: counted by name. What part of a device one is, only the board or the side resources tell.
    - MEMORY, MEMORY_FRACTION, CORES: never a number of devices. `size` makes bytes, or a fraction of a device, of them.
    - MONITORING: access to every device of the node, of which it takes none: nothing to add up.
    - CLAIM: devices of the class that the name holds; count it as the class says, and not at all where that is unknown.
    - FABRIC, SETTING: no accelerator.
    """

    def __init__(self, section: models.Accelerators) -> None:
        self._resources: Mapping[str, models.Resource] = section.resources
        self._names = frozenset(section.names)
        self._prefixes = tuple(sorted(section.prefixes, key=len, reverse=True))
        self._ignored = frozenset(section.ignored)
        self._classes: Mapping[str, models.DeviceClass] = section.device_classes
        self._taints = {**KNOWN_TAINTS, **section.taints}
        self._meaning = lru_cache(maxsize=_REMEMBERED)(self._work_out)
        self._likeness = lru_cache(maxsize=_REMEMBERED)(lookalikes.looks_like_accelerator)

    def contains(self, name: str) -> bool:
        """Whether a positive amount of the resource gives a pod an accelerator, or a part of one, or access to some.

        Side resources do so too: a pod that asks for nothing but `aliyun.com/gpu-mem` gets a share of a GPU, and HAMi
        adds `nvidia.com/gpu` to a container that asks for `nvidia.com/gpumem` alone. How many devices it gets is for
        `meaning` to say. A claim for a device class counts unless the class is known to be something else.
        """
        found = self.meaning(name)
        if found is None or found.unit not in names.GIVING:
            return False
        return found.device_class is None or self.device_class(found.device_class) is not False

    def meaning(self, name: str) -> Meaning | None:
        """What one of the resource is; None for cpu, memory and all else that nobody has called an accelerator."""
        return self._meaning(name) if len(name) <= names.LONGEST else self._work_out(name)

    def looks_like(self, name: str) -> bool:
        """Whether a name without a meaning would be taken for an accelerator; see lookalikes.looks_like_accelerator."""
        if name in self._ignored or self.meaning(name) is not None:
            return False
        return self._likeness(name) if len(name) <= names.LONGEST else lookalikes.looks_like_accelerator(name)

    def device_class(self, name: str) -> bool | None:
        """Whether the devices of a class are accelerators; None where nobody has said so, which is never a guess."""
        return self.device_class_meaning(name).accelerator

    def device_class_meaning(self, name: str) -> DeviceClassMeaning:
        """What the devices of a class are; of a class that usher.yaml describes, its resource tells unit and vendor."""
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
        )

    def driver(self, name: str) -> bool | None:
        """Whether the devices of a DRA driver are accelerators; None where that is not known."""
        return device_classes.driver(name)

    @property
    def taint_keys(self) -> list[str]:
        """Keys of all taints that such nodes usually carry, each once."""
        return sorted(set(self._taints.values()))

    def taint_key(self, name: str) -> str | None:
        """Key of the taint that nodes with this resource, or with devices of this class, usually carry.

        The longest prefix that fits knows best. A class without a resource of its own counts as the one of its driver.
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
        said = self._resources.get(name)
        if said is not None:
            return _said(said, known)
        if known is not None and (known.unit in names.GIVING or name not in self._names):
            return known
        if name in self._names:
            return _DEVICE
        prefix = next((prefix for prefix in self._prefixes if name.startswith(prefix)), None)
        if prefix is None:
            return None
        said = self._resources.get(prefix)
        return _DEVICE if said is None else _said(said, None)


def _said(said: models.Resource, known: Meaning | None) -> Meaning:
    """What usher.yaml says of a resource; who makes it, and what it divides, stays known where it says nothing."""
    unit = Unit(said.unit)
    if known is None:
        return Meaning(unit=unit, vendor=said.vendor or "", size=said.size, per_device=said.per_device)
    size = said.size if said.size is not None or unit is not known.unit else known.size
    vendor = said.vendor or known.vendor
    return replace(known, unit=unit, vendor=vendor, size=size, device_class=None, per_device=said.per_device)
