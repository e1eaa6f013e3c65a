"""Device claims that KServe adds to the pods of an LLMInferenceService because of annotations of the object.

KS:pkg/validation/managed_dra.go and KS:pkg/controller/v1alpha2/llmisvc/managed_dra.go; experimental as of v0.20.
"""

import re
from collections.abc import Mapping
from typing import Final

from usher import paths
from usher.reading.templates import ClaimPlace, Place
from usher.reading.values import Reading

_PREFIX: Final = "serving.kserve.io/exp-dra-"
_CLASS: Final = _PREFIX + "device-class"
_COUNT: Final = _PREFIX + "device-count"
_CONTAINER: Final = _PREFIX + "container-name"

_NAME: Final = "managed-device"
"""Name of the claim that KServe adds to a pod. KServe adds no claim if the pod already has one of this name."""

_NUMBER: Final = re.compile(r"\+?0*[1-9][0-9]{0,8}", re.ASCII)


def claims(annotations: Mapping[str, str], reading: Reading) -> tuple[ClaimPlace, ...]:
    """The claim that the annotations request for each pod. Selectors are left out: they do not change the count."""
    device_class = annotations.get(_CLASS, "").strip()
    if not device_class:
        return ()
    path = paths.join("/metadata/annotations", _CLASS)
    text = annotations.get(_COUNT, "").strip() or "1"
    number = 1
    if _NUMBER.fullmatch(text):
        number = int(text)
    else:
        reading.unknown(paths.join("/metadata/annotations", _COUNT), "expected a whole number of devices")
    exactly: paths.Object = {"deviceClassName": device_class, "count": number}
    spec: paths.Object = {"devices": {"requests": [{"name": "device", "exactly": exactly}]}}
    return (ClaimPlace(spec=spec, path=path, container=annotations.get(_CONTAINER, "").strip()),)


def is_claimed(place: Place | None) -> bool:
    """Whether the pod spec already has the claim that KServe would add."""
    entries = place.value if place is not None and isinstance(place.value, list) else []
    return any(isinstance(entry, dict) and entry.get("name") == _NAME for entry in entries)
