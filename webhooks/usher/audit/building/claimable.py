"""Devices that drivers offer for claims, by node, from ResourceSlices."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from usher import paths
from usher.accelerators import vocabulary
from usher.audit.building import fields
from usher.audit.building.wanted import Wanted
from usher.check.devices import Amount, Devices
from usher.kinds.kind import Key, keeping

SLICE: Final[Key] = ("resource.k8s.io", "ResourceSlice")

WANTED: Final = Wanted(
    group=SLICE[0],
    versions=("v1", "v1beta2", "v1beta1"),
    plural="resourceslices",
    kind=SLICE[1],
    keep=keeping("/spec/driver", "/spec/nodeName", "/spec/pool/name", "/spec/devices"),
)


class Claimable:
    """Counts whole devices. A driver that divides a device offers its parts in addition to the whole."""

    def __init__(self) -> None:
        self._names: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        """Names of devices by node and device class; a pool may have several slices."""

    def add(self, value: paths.Object) -> None:
        spec = fields.mapping(value.get("spec"))
        driver, node = paths.text(spec.get("driver")), paths.text(spec.get("nodeName"))
        name = vocabulary.class_of_driver(driver)
        if name and node:
            pool = paths.text(fields.mapping(spec.get("pool")).get("name"))
            self._names[node][name].update(f"{pool}/{device}" for device in _whole(spec.get("devices")))

    def of(self, node: str) -> Devices:
        """The devices of a node, by device class; empty if no driver offers any."""
        found: Mapping[str, set[str]] = self._names.get(node, {})
        return {name: Amount(number=len(devices)) for name, devices in sorted(found.items()) if devices}

    def __bool__(self) -> bool:
        return bool(self._names)


def _whole(devices: paths.Json) -> Iterator[str]:
    for each in fields.mappings(devices):
        # v1beta1 has the attributes below `basic`.
        about = fields.mapping(each.get("basic")) or each
        kind = fields.mapping(fields.mapping(about.get("attributes")).get("type")).get("string", "gpu")
        if kind == "gpu":
            yield paths.text(each.get("name"))
