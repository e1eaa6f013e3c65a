"""Whether devices of a class are accelerators, by its name or object (docs/domain/device-claims.md#nvidia-classes)."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.workloads.lookup import Reference
from usher.workloads.reading import Reading

GROUP: Final = "resource.k8s.io"

# DeviceSelectorsMaxSize and CELSelectorExpressionMaxLength of k8s.io/api resource/v1/types.go.
_MAX_SELECTORS: Final = 32
_MAX_EXPRESSION: Final = 10_240

_DRIVER: Final = re.compile(r"""device\.driver\s*==\s*["']([a-z0-9.-]{1,253})["']""", re.ASCII)


def gives_accelerators(name: str, *, path: str, reading: Reading, vocabulary: Vocabulary) -> bool:
    """False and recorded where nobody says it.

    What is said of the class by its name decides; or else its object, by the extended resource that its devices serve
    and by the drivers that its expressions ask for.

    Args:
        name: the device class.
        path: where the object that is normalised asks for its devices.
        reading: looks the class up.
        vocabulary: which names are accelerators.
    """
    meaning = vocabulary.device_class(name)
    if meaning is not None:
        return meaning
    reference = Reference(group=GROUP, kind="DeviceClass", name=name)
    remedy = "usher.yaml can name it under accelerators.deviceClasses"
    want = f"whether its devices are accelerators is not known; {remedy}"
    found = reading.referenced(reference, path, for_want=want)
    if found is None:
        return False
    inner = Reading()
    spec = inner.mapping(found.get("spec"), "/spec")
    if vocabulary.contains(inner.text(spec.get("extendedResourceName"), "/spec/extendedResourceName")):
        return True
    drivers = [vocabulary.driver(driver) for driver in _drivers(spec, inner)]
    if any(drivers):
        return True
    if not drivers or None in drivers:
        reading.unknown(path, f"{reference}: {want}")
    return False


def _drivers(spec: Mapping[str, paths.Json], inner: Reading) -> Iterator[str]:
    """The drivers that a class selects, as far as its expressions compare the driver with a text."""
    for path, selector in islice(inner.items(spec.get("selectors"), "/spec/selectors"), _MAX_SELECTORS):
        cel = inner.mapping(selector.get("cel"), path + "/cel")
        yield from _DRIVER.findall(inner.text(cel.get("expression"), path + "/cel/expression")[:_MAX_EXPRESSION])
