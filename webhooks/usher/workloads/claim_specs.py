"""Reads the requests in the spec of a device claim (DRA, docs/domain/device-claims.md#the-api).

The rules are those of k8s.io/api resource/v1 and of what k8s.io/kubernetes pkg/apis/resource validates and defaults.
Constraints and configuration take no devices.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import Final, NamedTuple

from usher import model, paths, quantities
from usher.accelerators.vocabulary import Vocabulary, class_of_driver
from usher.reading.lookup import Reference
from usher.reading.templates import Place
from usher.reading.values import Reading
from usher.workloads import claimed_parts, class_selectors
from usher.workloads.claimed_parts import Part

GROUP: Final = "resource.k8s.io"


def accelerators_like(name: str, *, path: str, reading: Reading, vocabulary: Vocabulary) -> str | None:
    """The known class or resource with the devices of a class; None for other devices and for unknown ones.

    If the vocabulary has the name of the class, the answer is this name. Otherwise the object of the class decides, by
    the extended resource that its devices serve and by the devices that its expressions select. The answer is empty for
    accelerators without a known name. It records unknown classes.

    Args:
        name: the device class.
        path: the path where the normalised object requests its devices.
        reading: looks the class up.
        vocabulary: which names are accelerators.
    """
    meaning = vocabulary.device_class(name)
    if meaning is not None:
        return name if meaning else None
    reference = Reference(group=GROUP, kind="DeviceClass", name=name)
    remedy = "usher.yaml can name it under accelerators.deviceClasses"
    want = f"whether its devices are accelerators is not known; {remedy}"
    found = reading.look_up(reference, path, consequence=want)
    if found is None:
        return None
    inner = Reading()
    spec = inner.mapping(found.get("spec"), "/spec")
    resource = inner.text(spec.get("extendedResourceName"), "/spec/extendedResourceName")
    selected = class_selectors.selected(claimed_parts.expressions(spec.get("selectors"), "/spec/selectors", inner))
    accelerators = [vocabulary.driver(driver) for driver in selected.drivers]
    known = [driver for driver in selected.drivers if vocabulary.driver(driver)]
    served = vocabulary.meaning(resource)
    # A resource without a meaning of its own means this class.
    if served is not None and served.device_class is None and vocabulary.contains(resource):
        return resource
    if known:
        # Devices of several drivers are not like any known devices.
        return selected.like or (class_of_driver(known[0]) if len(selected.drivers) == 1 else "")
    if not accelerators or None in accelerators:
        reading.unknown(path, f"{reference}: {want}")
    return None


def unclear_since(before: int, reading: Reading) -> tuple[model.UnclearDevices, ...]:
    """The problems after the first `before`, as reasons for unclear devices."""
    return tuple(model.UnclearDevices(each.path, each.reason) for each in reading.unknowns[before:])


# DeviceRequestsMaxSize and FirstAvailableDeviceRequestMaxSize of k8s.io/api resource/v1/types.go.
MAX_REQUESTS: Final = 32
MAX_ALTERNATIVES: Final = 8

_FORMS: Final = ("exactly", "firstAvailable", "deviceClassName")
_ONE: Final = quantities.parse(1)

Entry = tuple[str, Mapping[str, paths.Json]]


class Asked(NamedTuple):
    """The request of a claim, or of one request in it, to one device class."""

    device_class: str
    route: model.Route
    minimum: int
    maximum: int | None
    reason: str
    like: str = ""
    """The known class or resource with the same devices, if the name of the class is unknown."""
    instead: tuple[str, ...] = ()
    """Alternatives that the pod may get instead: other classes, or known names for them."""
    part: Part = claimed_parts.WHOLE


class Claim(NamedTuple):
    """The accelerator requests of a claim: each device class once, and once for each part of its devices."""

    asked: tuple[Asked, ...] = ()
    giving: frozenset[str] = frozenset()
    """Names of the requests for them, and the empty text for the whole claim."""
    unclear: tuple[model.UnclearDevices, ...] = ()


def read(spec: Place, inner: Reading, *, reading: Reading, vocabulary: Vocabulary, path: str) -> Claim:
    """The accelerators that a ResourceClaimSpec requests.

    Args:
        spec: the spec, with its place in the claim or its template.
        inner: records the problems of the spec.
        reading: looks device classes up, and records unknown ones.
        vocabulary: which device classes are accelerators.
        path: the path where the normalised object names the claim.
    """
    # It looks each class up, and reports it, once per claim.
    like = cache(partial(accelerators_like, path=path, reading=reading, vocabulary=vocabulary))
    value = inner.mapping(*spec)
    devices_path = spec.path + "/devices"
    devices = inner.mapping(value.get("devices"), devices_path)
    together: defaultdict[tuple[str, model.Route, Part], list[Asked]] = defaultdict(list)
    giving = set()
    for request_path, request in at_most(MAX_REQUESTS, devices.get("requests"), devices_path + "/requests", inner):
        name = inner.text(request.get("name"), request_path + "/name")
        for asked in _of_request(request_path, request, inner, like):
            together[asked.device_class, asked.route, asked.part].append(asked)
            giving |= {"", name}
    if value.get("resourceClassName") is not None:
        inner.unknown(spec.path + "/resourceClassName", "claims of resource.k8s.io/v1alpha2 are not read")
    return Claim(asked=tuple(map(_sum, together.values())), giving=frozenset(giving))


def requests(claim: Claim, *, path: str, shared_by: str = "") -> Iterator[model.AcceleratorRequest]:
    """The claim as requests of one pod.

    Args:
        claim: the requests of the claim.
        path: the path where the normalised object names the claim.
        shared_by: the reason why pods share it; empty if each has its own.
    """
    for asked in claim.asked:
        yield model.AcceleratorRequest(
            route=asked.route,
            name=asked.device_class,
            minimum=_ONE * asked.minimum,
            maximum=None if asked.maximum is None else _ONE * asked.maximum,
            path=path,
            reason=asked.reason,
            claim=shared_by,
            like=asked.like,
            instead=asked.instead,
            selects=asked.part.selects,
            memory=asked.part.memory,
        )


def _sum(requests: Sequence[Asked]) -> Asked:
    """The sum of several requests for the same part of one device class."""
    maxima = [asked.maximum for asked in requests if asked.maximum is not None]
    return requests[0]._replace(
        minimum=sum(asked.minimum for asked in requests),
        maximum=sum(maxima) if len(maxima) == len(requests) else None,
        reason="; ".join(dict.fromkeys(asked.reason for asked in requests if asked.reason)),
        instead=() if any(asked.minimum for asked in requests) else _union(asked.instead for asked in requests),
    )


def _union(several: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(several)))


def _of_request(
    path: str, request: Mapping[str, paths.Json], inner: Reading, like: Callable[[str], str | None]
) -> Iterator[Asked]:
    """The most that any alternative takes, by device class, because it is unknown which alternative a pod gets.

    Admin access takes no devices: it uses the devices of other pods.
    """
    alternatives = tuple(_alternatives(path, request, inner))
    # Alternatives lack this field in the API.
    administers = not request.get("firstAvailable") and any(
        inner.flag(exactly.get("adminAccess"), exactly_path + "/adminAccess") for exactly_path, exactly in alternatives
    )
    spans: defaultdict[str, list[tuple[int, int | None]]] = defaultdict(list)
    parts: defaultdict[str, list[Part]] = defaultdict(list)
    classes: dict[str, str] = {}
    for alternative_path, alternative in alternatives:
        device_class = _device_class(alternative, alternative_path, inner)
        found_like = like(device_class) if device_class else None
        classes[device_class] = found_like or device_class
        if found_like is not None:
            spans[device_class].append((0, 0) if administers else _span(alternative, alternative_path, inner))
            parts[device_class].append(claimed_parts.of_request(alternative, alternative_path, inner))
    for device_class, found in spans.items():
        highest = [high for _, high in found if high is not None]
        bounded = len(highest) == len(found)
        always = len(found) == len(alternatives)
        reasons = [] if bounded else ["allocationMode All takes every device of a node that fits"]
        if len(alternatives) > 1:
            reasons.append(f"one of {len(alternatives)} alternatives")
        yield Asked(
            device_class=device_class,
            route=model.Route.ACCESS if administers else model.Route.CLAIM,
            minimum=min(low for low, _ in found) if always else 0,
            maximum=max(highest) if bounded else None,
            reason="; ".join(reasons),
            like=classes[device_class] if classes[device_class] != device_class else "",
            instead=() if always else tuple(name for other, name in classes.items() if other != device_class),
            part=claimed_parts.worst(parts[device_class]),
        )


def _alternatives(path: str, request: Mapping[str, paths.Json], inner: Reading) -> Iterator[Entry]:
    """The devices of a request, or its alternatives. The pod gets the first available alternative.

    Version v1beta1 wrote the fields of `exactly` into the request.
    """
    forms = [form for form in _FORMS if request.get(form) not in (None, "", [])]
    if len(forms) > 1:
        inner.unknown(path, f"it has {' and '.join(forms)}, but Kubernetes allows only one of them")
    elif forms == ["firstAvailable"]:
        yield from at_most(MAX_ALTERNATIVES, request["firstAvailable"], path + "/firstAvailable", inner)
    elif forms == ["exactly"]:
        exactly = inner.mapping(request["exactly"], path + "/exactly")
        if exactly is request["exactly"]:
            yield path + "/exactly", exactly
    else:
        yield path, request


def _device_class(request: Mapping[str, paths.Json], path: str, inner: Reading) -> str:
    path += "/deviceClassName"
    name = request.get("deviceClassName")
    if name in (None, ""):
        inner.unknown(path, "a request has to name a device class")
    return inner.text(name, path)


def _span(request: Mapping[str, paths.Json], path: str, inner: Reading) -> tuple[int, int | None]:
    """The fewest and the most devices. A missing count and a count of 0 become 1, as in API defaulting.

    All takes at least one device (k8s.io/dynamic-resource-allocation structured/internal/stable).
    """
    mode = inner.text(request.get("allocationMode"), path + "/allocationMode") or "ExactCount"
    number = inner.count(request.get("count"), path + "/count", default=1, of="devices") or 1
    if mode not in ("ExactCount", "All"):
        inner.unknown(path + "/allocationMode", "Kubernetes has no mode with this name; it has ExactCount and All")
    return (1, None) if mode == "All" else (number, number)


def at_most(most: int, value: paths.Json, path: str, reading: Reading) -> Iterator[Entry]:
    """The entries of a list with a limit in Kubernetes. It records a longer list and does not read it."""
    if isinstance(value, list) and len(value) > most:
        reading.unknown(path, f"it has {len(value)} entries, but Kubernetes allows at most {most}")
        return
    yield from reading.items(value, path)
