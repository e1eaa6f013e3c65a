"""What the spec of a device claim asks for (DRA, docs/domain/device-claims.md#the-api).

The rules are those of k8s.io/api resource/v1 and of what k8s.io/kubernetes pkg/apis/resource validates and defaults.
Constraints, configuration and the selectors of a request take no devices.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from typing import Final, NamedTuple

from usher import model, paths, quantities
from usher.accelerators.vocabulary import Vocabulary
from usher.reading.lookup import Reference
from usher.reading.templates import Place
from usher.reading.values import Reading

GROUP: Final = "resource.k8s.io"

# DeviceSelectorsMaxSize and CELSelectorExpressionMaxLength of k8s.io/api resource/v1/types.go.
_MAX_SELECTORS: Final = 32
_MAX_EXPRESSION: Final = 10_240

_DRIVER: Final = re.compile(r"""device\.driver\s*==\s*["']([a-z0-9.-]{1,253})["']""", re.ASCII)


def gives_accelerators(name: str, *, path: str, reading: Reading, vocabulary: Vocabulary) -> bool:
    """Whether the devices of a class are accelerators; false and recorded where that is unknown.

    The vocabulary decides if it has the name of the class. Otherwise the object of the class decides, by the extended
    resource that its devices serve and by the drivers that its expressions ask for.

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
    found = reading.look_up(reference, path, consequence=want)
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


# DeviceRequestsMaxSize and FirstAvailableDeviceRequestMaxSize of k8s.io/api resource/v1/types.go.
MAX_REQUESTS: Final = 32
MAX_ALTERNATIVES: Final = 8

_FORMS: Final = ("exactly", "firstAvailable", "deviceClassName")
_ONE: Final = quantities.parse(1)

Entry = tuple[str, Mapping[str, paths.Json]]


class Asked(NamedTuple):
    """What a claim, or one request of it, asks of one device class."""

    device_class: str
    route: model.Route
    minimum: int
    maximum: int | None
    reason: str


class Claim(NamedTuple):
    """What a claim asks of accelerators, each device class once."""

    asked: tuple[Asked, ...] = ()
    giving: frozenset[str] = frozenset()
    """Names of the requests by which it asks for them, and the empty text for all of it."""


def read(spec: Place, inner: Reading, *, reading: Reading, vocabulary: Vocabulary, path: str) -> Claim:
    """The accelerators that a ResourceClaimSpec asks for.

    Args:
        spec: the spec, with its place in the claim, or in the template of claims.
        inner: records the problems of the spec.
        reading: looks device classes up, and records unknown ones.
        vocabulary: which device classes are accelerators.
        path: where the object that is normalised names the claim.
    """
    # Each claim looks a class up, and reports it, once.
    accelerates = cache(partial(gives_accelerators, path=path, reading=reading, vocabulary=vocabulary))
    value = inner.mapping(*spec)
    devices_path = spec.path + "/devices"
    devices = inner.mapping(value.get("devices"), devices_path)
    together: defaultdict[tuple[str, model.Route], list[Asked]] = defaultdict(list)
    giving = set()
    for request_path, request in at_most(MAX_REQUESTS, devices.get("requests"), devices_path + "/requests", inner):
        name = inner.text(request.get("name"), request_path + "/name")
        for asked in _of_request(request_path, request, inner, accelerates):
            together[asked.device_class, asked.route].append(asked)
            giving |= {"", name}
    if value.get("resourceClassName") is not None:
        inner.unknown(spec.path + "/resourceClassName", "claims of resource.k8s.io/v1alpha2 are not read")
    return Claim(asked=tuple(map(_sum, together.values())), giving=frozenset(giving))


def requests(claim: Claim, *, path: str, shared_by: str = "") -> Iterator[model.AcceleratorRequest]:
    """The claim as requests of one pod.

    Args:
        claim: what the claim asks for.
        path: where the object that is normalised names the claim.
        shared_by: what pods share it by; empty where each has its own.
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
        )


def _sum(requests: Sequence[Asked]) -> Asked:
    """What several requests ask of one device class."""
    maxima = [asked.maximum for asked in requests if asked.maximum is not None]
    return requests[0]._replace(
        minimum=sum(asked.minimum for asked in requests),
        maximum=sum(maxima) if len(maxima) == len(requests) else None,
        reason="; ".join(dict.fromkeys(asked.reason for asked in requests if asked.reason)),
    )


def _of_request(
    path: str, request: Mapping[str, paths.Json], inner: Reading, accelerates: Callable[[str], bool]
) -> Iterator[Asked]:
    """By device class the most that any alternative takes: it is unknown which alternative a pod gets.

    Admin access takes no devices: it uses those that other pods have.
    """
    alternatives = tuple(_alternatives(path, request, inner))
    # Alternatives do not have this field in the API.
    administers = not request.get("firstAvailable") and any(
        inner.flag(exactly.get("adminAccess"), exactly_path + "/adminAccess") for exactly_path, exactly in alternatives
    )
    spans: defaultdict[str, list[tuple[int, int | None]]] = defaultdict(list)
    for alternative_path, alternative in alternatives:
        device_class = _device_class(alternative, alternative_path, inner)
        if device_class and accelerates(device_class):
            spans[device_class].append((0, 0) if administers else _span(alternative, alternative_path, inner))
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
        )


def _alternatives(path: str, request: Mapping[str, paths.Json], inner: Reading) -> Iterator[Entry]:
    """The devices that a request asks for, or its alternatives: it gets the first available one.

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
    """The least and the most devices. A missing count and a count of 0 become 1, as in API defaulting.

    All takes at least one device (k8s.io/dynamic-resource-allocation structured/internal/stable).
    """
    mode = inner.text(request.get("allocationMode"), path + "/allocationMode") or "ExactCount"
    number = inner.count(request.get("count"), path + "/count", default=1, of="devices") or 1
    if mode not in ("ExactCount", "All"):
        inner.unknown(path + "/allocationMode", "Kubernetes has no mode with this name; it has ExactCount and All")
    return (1, None) if mode == "All" else (number, number)


def at_most(most: int, value: paths.Json, path: str, reading: Reading) -> Iterator[Entry]:
    """The entries of a list that Kubernetes bounds; a longer list is recorded and not read."""
    if isinstance(value, list) and len(value) > most:
        reading.unknown(path, f"it has {len(value)} entries, but Kubernetes allows at most {most}")
        return
    yield from reading.items(value, path)
