"""Which device claims (DRA) a pod has, and what they ask for (docs/domain/device-claims.md).

A claim reserves its devices even if no container names it.

To name the devices without a node, usher reads comparisons joined by `&&`; any other expression can only narrow the
selection or make it unknown (docs/domain/device-claims.md#selectors). `authorities.nodes.devices` evaluates selectors.

The capacity of a request only selects devices with that much, unless a device allows several allocations. Then the
request takes that much of it, rounded up by its driver's rules (k8s.io/api resource/v1 `CapacityRequirements`).

The rules are those of k8s.io/api resource/v1 and of what k8s.io/kubernetes pkg/apis/resource validates and defaults.
Constraints and configuration take no devices.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from usher import memo, model, paths, quantities
from usher.accelerators import mig
from usher.accelerators.vocabulary import Vocabulary, class_of_driver
from usher.kinds.reading.templates import Place
from usher.kinds.reading.values import Context, Reading, Reference

_TEXT: Final = r"""["']([A-Za-z0-9.+-]{1,253})["']"""
_DRIVERS: Final = (
    memo.pattern(r"device\.driver\s*==\s*" + _TEXT, re.ASCII),
    memo.pattern(_TEXT + r"\s*==\s*device\.driver\b", re.ASCII),
    memo.pattern(r"device\.driver\s+in\s*\[\s*" + _TEXT + r"\s*\]", re.ASCII),
    # An attribute without a domain of its own has the driver's name as its domain.
    memo.pattern(r"device\.(?:attributes|capacity)\[\s*" + _TEXT + r"\s*\]", re.ASCII),
)
_ATTRIBUTE: Final = memo.pattern(
    r"""\(*\s*device\.attributes\[\s*["']gpu\.nvidia\.com["']\s*\]\.(type|profile)\s*==\s*"""
    + _TEXT
    + r"""(?:\.lowerAscii\(\))?\s*\)*""",
    re.ASCII,
)
# Operators that join comparisons in other ways than `&&`.
_OTHER: Final = memo.pattern(r"\|\||\?|!(?!=)")

# A comparison of one attribute with one value. Users write the selectors of claims: a comparison inside a text, a
# comment, brackets or a call of a function may select nothing, so no part may hold any of them.
_VALUE: Final = r"""(?:"[^"'&\\\n]{0,253}"|'[^"'&\\\n]{0,253}'|[0-9]{1,19}|true|false)"""
_PLAIN: Final = memo.pattern(
    r"""device\.(?:driver|(?:attributes|capacity)\[\s*["'][A-Za-z0-9.-]{1,253}["']\s*\]\.[A-Za-z0-9_]{1,63})"""
    r"(?:\.lowerAscii\(\))?\s*"
    rf"(?:(?:==|!=|<=|>=|<|>)\s*{_VALUE}|\.[A-Za-z]{{1,30}}\(\s*(?:{_VALUE}|quantity\({_VALUE}\))\s*\))",
    re.ASCII,
)

_TYPES: Final = {"gpu": "gpu.nvidia.com", "mig": "mig.nvidia.com", "vfio": "vfio.gpu.nvidia.com"}
_NVIDIA: Final = "gpu.nvidia.com"


class SelectedDevices(NamedTuple):
    """The devices that the selectors of a class select."""

    drivers: tuple[str, ...]
    """The drivers whose devices they may select; empty if they do not name any."""
    like: str
    """The NVIDIA class, or the resource of a MIG profile, that they select; empty if they do not name one."""


def is_plain_expression(expression: str) -> bool:
    """Whether an expression only joins comparisons by `&&`, so that each of them holds for its devices."""
    return all(_PLAIN.fullmatch(part.strip()) for part in expression.split("&&"))


def selected_devices(expressions: Sequence[str]) -> SelectedDevices:
    """The devices that all of the expressions select together. Kubernetes joins the selectors of a class by "and"."""
    drivers = tuple(
        dict.fromkeys(name for text in expressions for pattern in _DRIVERS for name in pattern.findall(text))
    )
    attributes: dict[str, str] = {}
    for text in expressions:
        if _OTHER.search(text) is None:
            for part in text.split("&&"):
                found = _ATTRIBUTE.fullmatch(part.strip())
                if found is not None:
                    attributes[found[1]] = found[2]
    return SelectedDevices(drivers, _class_like(attributes) if drivers == (_NVIDIA,) else "")


def _class_like(attributes: dict[str, str]) -> str:
    profile = mig.parse_profile(attributes["profile"]) if "profile" in attributes else None
    if profile is not None and attributes.get("type", "mig") == "mig":
        return profile.resource
    return _TYPES.get("mig" if "profile" in attributes else attributes.get("type", ""), "")


# DeviceSelectorsMaxSize and CELSelectorExpressionMaxLength of k8s.io/api resource/v1/types.go.
_MAX_SELECTORS: Final = 32
_MAX_EXPRESSION: Final = 10_240


class DevicePart(NamedTuple):
    """The part of each device that a request asks for."""

    selects: str = ""
    """The resource of the MIG profile that its selectors choose; empty if they do not name one."""
    memory: int | None = None
    """Bytes of device memory; None if the request does not give them."""


WHOLE_DEVICE: Final = DevicePart()


def selector_expressions(value: paths.Json, path: str, inner: Reading) -> list[str]:
    """The CEL expressions of a list of selectors, without those that are too long for Kubernetes."""
    found: list[str] = []
    for selector_path, selector in islice(inner.items(value, path), _MAX_SELECTORS):
        cel = inner.mapping(selector.get("cel"), selector_path + "/cel")
        found.append(inner.text(cel.get("expression"), selector_path + "/cel/expression")[:_MAX_EXPRESSION])
    return found


def part_of_request(request: Mapping[str, paths.Json], path: str, inner: Reading) -> DevicePart:
    """The part that one request, or one of its alternatives, asks for."""
    texts = filter(is_plain_expression, selector_expressions(request.get("selectors"), path + "/selectors", inner))
    like = selected_devices([*texts]).like
    capacity = inner.mapping(request.get("capacity"), path + "/capacity")
    amounts = inner.resources(capacity.get("requests"), path + "/capacity/requests")
    # A name without a domain has the domain of the driver.
    memory = [amount.value for name, amount in amounts.items() if name.rpartition("/")[2] == "memory"]
    return DevicePart(like if "/" in like else "", max(memory, default=None))


def covering_part(parts: Iterable[DevicePart]) -> DevicePart:
    """The part that covers all alternatives of one device class; the whole device if they differ too much."""
    several = list(parts)
    memory = [part.memory for part in several if part.memory is not None]
    profiles = {part.selects for part in several}
    return DevicePart(
        selects=profiles.pop() if len(profiles) == 1 else "",
        memory=max(memory, default=None) if len(memory) == len(several) else None,
    )


CLAIM_GROUP: Final = "resource.k8s.io"


def accelerators_like(name: str, *, path: str, reading: Reading, vocabulary: Vocabulary) -> str | None:
    """The known class or resource with the devices of a class; None for other devices and for unknown ones.

    If the vocabulary has the name of the class, the answer is this name. Otherwise the object of the class decides, by
    the extended resource that its devices serve and by the devices that its expressions select. The answer is empty for
    accelerators without a known name. It records unknown classes.

    Args:
        path: the path where the normalised object requests its devices.
        reading: looks the class up.
    """
    meaning = vocabulary.device_class(name)
    if meaning is not None:
        return name if meaning else None
    reference = Reference(group=CLAIM_GROUP, kind="DeviceClass", name=name)
    remedy = "usher.yaml can name it under accelerators.deviceClasses"
    want = f"whether its devices are accelerators is not known; {remedy}"
    found = reading.look_up(reference, path, consequence=want)
    if found is None:
        return None
    inner = Reading()
    spec = inner.mapping(found.get("spec"), "/spec")
    resource = inner.text(spec.get("extendedResourceName"), "/spec/extendedResourceName")
    selected = selected_devices(selector_expressions(spec.get("selectors"), "/spec/selectors", inner))
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


def mark_accelerators(view: Mapping[str, Any], *, context: Context, vocabulary: Vocabulary) -> None:
    """Says in the shape of a claim, or of its template, which requests are for accelerators.

    The vocabulary or the object of the device class decides. Requests of an unknown class get no answer.
    """

    @cache
    def accelerators(name: str) -> bool | None:
        reading = Reading(context)
        found = accelerators_like(name, path=paths.ROOT, reading=reading, vocabulary=vocabulary)
        return True if found is not None else None if reading.unknowns else False

    spec = view.get("resourceClaim", view.get("resourceClaimTemplate", {}).get("spec", {})).get("spec", {})
    for request in spec.get("devices", {}).get("requests", ()):
        for asked in (request, request.get("exactly", {}), *request.get("firstAvailable", ())):
            if asked.get("deviceClassName"):
                known = accelerators(asked["deviceClassName"])
                asked.pop("accelerator", None)
                if known is not None:
                    asked["accelerator"] = known


def unclear_since(before: int, reading: Reading) -> tuple[model.UnclearDevices, ...]:
    """The problems after the first `before`, as reasons for unclear devices."""
    return tuple(model.UnclearDevices(each.path, each.reason) for each in reading.unknowns[before:])


# DeviceRequestsMaxSize and FirstAvailableDeviceRequestMaxSize of k8s.io/api resource/v1/types.go.
MAX_REQUESTS: Final = 32
MAX_ALTERNATIVES: Final = 8

_FORMS: Final = ("exactly", "firstAvailable", "deviceClassName")
_ONE: Final = quantities.parse(1)

Entry = tuple[str, Mapping[str, paths.Json]]


class ClassRequest(NamedTuple):
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
    part: DevicePart = WHOLE_DEVICE
    is_share: bool = False


class Claim(NamedTuple):
    """The accelerator requests of a claim: each device class once, and once for each part of its devices."""

    asked: tuple[ClassRequest, ...] = ()
    giving: frozenset[str] = frozenset()
    """Names of the requests for them, and the empty text for the whole claim."""
    unclear: tuple[model.UnclearDevices, ...] = ()
    written: model.DeviceClaim | None = None
    """None for a claim that is not known."""


def read_claim_spec(spec: Place, inner: Reading, *, reading: Reading, vocabulary: Vocabulary, path: str) -> Claim:
    """The accelerators that a ResourceClaimSpec requests.

    Args:
        spec: the spec, with its place in the claim or its template.
        inner: records the problems of the spec.
        reading: looks device classes up, and records unknown ones.
        path: the path where the normalised object names the claim.
    """
    # It looks each class up, and reports it, once per claim.
    like = cache(partial(accelerators_like, path=path, reading=reading, vocabulary=vocabulary))
    value = inner.mapping(*spec)
    devices_path = spec.path + "/devices"
    devices = inner.mapping(value.get("devices"), devices_path)
    together: defaultdict[tuple[str, model.Route, DevicePart], list[ClassRequest]] = defaultdict(list)
    giving = set()
    for request_path, request in entries_at_most(
        MAX_REQUESTS, devices.get("requests"), devices_path + "/requests", inner
    ):
        name = inner.text(request.get("name"), request_path + "/name")
        for each in _asked_by_request(request_path, request, inner, like):
            meaning = vocabulary.device_class_meaning(each.device_class)
            memory = each.part.memory or meaning.memory_default
            asked = each._replace(is_share=meaning.memory_step is not None and memory is not None)
            together[asked.device_class, asked.route, asked.part].append(asked)
            giving |= {"", name}
    if value.get("resourceClassName") is not None:
        inner.unknown(spec.path + "/resourceClassName", "claims of resource.k8s.io/v1alpha2 are not read")
    return Claim(asked=tuple(map(_sum_of_asked, together.values())), giving=frozenset(giving))


def requests_of_claim(claim: Claim, *, path: str, shared_by: str = "") -> Iterator[model.AcceleratorRequest]:
    """The claim as requests of one pod.

    Args:
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
            is_share=asked.is_share,
        )


def _sum_of_asked(requests: Sequence[ClassRequest]) -> ClassRequest:
    """The sum of several requests for the same part of one device class."""
    maxima = [asked.maximum for asked in requests if asked.maximum is not None]
    return requests[0]._replace(
        minimum=sum(asked.minimum for asked in requests),
        maximum=sum(maxima) if len(maxima) == len(requests) else None,
        reason="; ".join(dict.fromkeys(asked.reason for asked in requests if asked.reason)),
        instead=()
        if any(asked.minimum for asked in requests)
        else tuple(dict.fromkeys(chain.from_iterable(asked.instead for asked in requests))),
    )


def _asked_by_request(
    path: str, request: Mapping[str, paths.Json], inner: Reading, like: Callable[[str], str | None]
) -> Iterator[ClassRequest]:
    """The most that any alternative takes, by device class, because it is unknown which alternative a pod gets.

    Admin access takes no devices: it uses the devices of other pods.
    """
    alternatives = tuple(_alternatives(path, request, inner))
    # Alternatives lack this field in the API.
    administers = not request.get("firstAvailable") and any(
        inner.flag(exactly.get("adminAccess"), exactly_path + "/adminAccess") for exactly_path, exactly in alternatives
    )
    spans: defaultdict[str, list[tuple[int, int | None]]] = defaultdict(list)
    parts: defaultdict[str, list[DevicePart]] = defaultdict(list)
    classes: dict[str, str] = {}
    for alternative_path, alternative in alternatives:
        device_class = _device_class(alternative, alternative_path, inner)
        found_like = like(device_class) if device_class else None
        classes[device_class] = found_like or device_class
        if found_like is not None:
            spans[device_class].append((0, 0) if administers else _device_counts(alternative, alternative_path, inner))
            parts[device_class].append(part_of_request(alternative, alternative_path, inner))
    for device_class, found in spans.items():
        highest = [high for _, high in found if high is not None]
        bounded = len(highest) == len(found)
        always = len(found) == len(alternatives)
        reasons = [] if bounded else ["allocationMode All takes every device of a node that fits"]
        if len(alternatives) > 1:
            reasons.append(f"one of {len(alternatives)} alternatives")
        yield ClassRequest(
            device_class=device_class,
            route=model.Route.ACCESS if administers else model.Route.CLAIM,
            minimum=min(low for low, _ in found) if always else 0,
            maximum=max(highest) if bounded else None,
            reason="; ".join(reasons),
            like=classes[device_class] if classes[device_class] != device_class else "",
            instead=() if always else tuple(name for other, name in classes.items() if other != device_class),
            part=covering_part(parts[device_class]),
        )


def _alternatives(path: str, request: Mapping[str, paths.Json], inner: Reading) -> Iterator[Entry]:
    """The devices of a request, or its alternatives. The pod gets the first available alternative.

    Version v1beta1 wrote the fields of `exactly` into the request.
    """
    forms = [form for form in _FORMS if request.get(form) not in (None, "", [])]
    if len(forms) > 1:
        inner.unknown(path, f"it has {' and '.join(forms)}, but Kubernetes allows only one of them")
    elif forms == ["firstAvailable"]:
        yield from entries_at_most(MAX_ALTERNATIVES, request["firstAvailable"], path + "/firstAvailable", inner)
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


def _device_counts(request: Mapping[str, paths.Json], path: str, inner: Reading) -> tuple[int, int | None]:
    """The fewest and the most devices. A missing count and a count of 0 become 1, as in API defaulting.

    All takes at least one device (k8s.io/dynamic-resource-allocation structured/internal/stable).
    """
    mode = inner.text(request.get("allocationMode"), path + "/allocationMode") or "ExactCount"
    number = inner.count(request.get("count"), path + "/count", default=1, of="devices") or 1
    if mode not in ("ExactCount", "All"):
        inner.unknown(path + "/allocationMode", "Kubernetes has no mode with this name; it has ExactCount and All")
    return (1, None) if mode == "All" else (number, number)


def entries_at_most(most: int, value: paths.Json, path: str, reading: Reading) -> Iterator[Entry]:
    """The entries of a list with a limit in Kubernetes. It records a longer list and does not read it."""
    if isinstance(value, list) and len(value) > most:
        reading.unknown(path, f"it has {len(value)} entries, but Kubernetes allows at most {most}")
        return
    yield from reading.items(value, path)


POD_GROUPS: Final = "scheduling.k8s.io"

# maxItems of spec.resourceClaims of PodGroup in k8s.io/api scheduling/v1beta1/types.go.
MAX_CLAIMS_OF_GROUP: Final = 4

_KINDS: Final = {"resourceClaimName": "ResourceClaim", "resourceClaimTemplateName": "ResourceClaimTemplate"}


class Claimed(Struct, frozen=True, kw_only=True):
    requests: tuple[model.AcceleratorRequest, ...] = ()
    giving: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The `resources.claims` by which a container gets accelerators: `name`, and `request` or the empty text."""
    unclear: tuple[model.UnclearDevices, ...] = ()
    claims: tuple[model.DeviceClaim, ...] = ()


NO_CLAIMS: Final = Claimed()

Claims = dict[Reference, Claim]
"""The requests of the device claims read so far. Many templates of one object may name the same claim."""


def claims_of_pod(  # noqa: PLR0913 - the claims and their readers
    entries: Sequence[Entry],
    *,
    group: str,
    group_path: str,
    reading: Reading,
    vocabulary: Vocabulary,
    known: Claims,
) -> Claimed:
    """The requests of the entries of `spec.resourceClaims`.

    Args:
        entries: the entries with their paths.
        group: the in-tree PodGroup of the pods, which may own claims that they all share.
        group_path: the path where the object names it.
        reading: looks the claims up, and records unknown ones.
        known: the claims of other pods of the object; the claims of this pod are added.
    """
    named = [found for path, entry in entries if (found := _read_named(path, entry, reading)) is not None]
    shared = _claims_of_group(group, group_path, named, reading) if group else frozenset()
    requests: list[model.AcceleratorRequest] = []
    giving: dict[str, frozenset[str]] = {}
    counted: set[str] = set()
    unclear: dict[model.UnclearDevices, None] = {}
    written: list[model.DeviceClaim] = []
    for entry in named:
        claim = _read_claim(entry, reading, vocabulary, known)
        unclear.update(dict.fromkeys(claim.unclear))
        giving[entry.name] = claim.giving
        shared_by = ""
        if entry.reference.kind == "ResourceClaim":
            shared_by = str(entry.reference)
        elif (entry.name, entry.reference.name) in shared:
            shared_by = f"claim {entry.name} of PodGroup {reading.context.namespace}/{group}"
        if not shared_by or shared_by not in counted:
            requests += requests_of_claim(claim, path=entry.path, shared_by=shared_by)
            counted.add(shared_by)
        if claim.written is not None:
            written.append(replace(claim.written, shared=shared_by))
    return Claimed(requests=tuple(requests), giving=giving, unclear=tuple(unclear), claims=tuple(written))


class _Named(NamedTuple):
    """A parsed entry of `spec.resourceClaims`."""

    name: str
    reference: Reference
    path: str
    name_path: str
    """The path where the entry names the claim or its template."""


def _read_named(path: str, entry: Mapping[str, paths.Json], reading: Reading) -> _Named | None:
    """A parsed entry; None, with a record, if it names no claim or two. Up to Kubernetes 1.30 the names were in
    `source`.
    """
    name = reading.text(entry.get("name"), path + "/name")
    holder, holder_path = entry, path
    if entry.get("source") is not None and all(entry.get(field) is None for field in _KINDS):
        holder_path = path + "/source"
        holder = reading.mapping(entry["source"], holder_path)
    texts = {field: reading.text(holder.get(field), f"{holder_path}/{field}") for field in _KINDS}
    given = [field for field, text in texts.items() if text]
    if len(given) == 1:
        (field,) = given
        reference = Reference(
            group=CLAIM_GROUP, kind=_KINDS[field], name=texts[field], namespace=reading.context.namespace
        )
        return _Named(name=name, reference=reference, path=path, name_path=f"{holder_path}/{field}")
    # A name of a wrong type is already recorded.
    if given or all(holder.get(field) in (None, "") for field in _KINDS):
        reading.unknown(path, "it has to name either a resourceClaimName or a resourceClaimTemplateName")
    return None


def _claims_of_group(group: str, path: str, named: Sequence[_Named], reading: Reading) -> frozenset[tuple[str, str]]:
    """Name and template of the claims that the PodGroup has once for all its pods.

    All pods must name them in the same way. Only claims from templates can belong to the group: pods always share
    claims with a name. A PodGroup holds claims only with the feature gate DRAWorkloadResourceClaims, because the API
    server drops them without it.
    """
    if all(claim.reference.kind == "ResourceClaim" for claim in named):
        return frozenset()
    reference = Reference(group=POD_GROUPS, kind="PodGroup", name=group, namespace=reading.context.namespace)
    found = reading.look_up(reference, path, consequence="whether its pods share their device claims is not known")
    if found is None:
        return frozenset()
    inner = Reading()
    spec = inner.mapping(found.get("spec"), "/spec")
    of_group = frozenset(
        (
            inner.text(entry.get("name"), entry_path + "/name"),
            inner.text(entry.get("resourceClaimTemplateName"), entry_path + "/resourceClaimTemplateName"),
        )
        for entry_path, entry in entries_at_most(
            MAX_CLAIMS_OF_GROUP, spec.get("resourceClaims"), "/spec/resourceClaims", inner
        )
    )
    _record_problems(inner, reference, path, reading)
    return of_group


def _read_claim(entry: _Named, reading: Reading, vocabulary: Vocabulary, known: Claims) -> Claim:
    """The requests of a claim. Several entries may name it; its faults are recorded at the first."""
    reference, path = entry.reference, entry.name_path
    if reference in known:
        return known[reference]
    before = len(reading.unknowns)
    found = reading.look_up(reference, path, consequence="which devices the pod gets is not known")
    if found is None:
        return Claim(unclear=unclear_since(before, reading))
    inner = Reading()
    spec = Place(found.get("spec"), "/spec")
    if reference.kind == "ResourceClaimTemplate":
        spec = Place(inner.mapping(*spec).get("spec"), "/spec/spec")
    claim = read_claim_spec(spec, inner, reading=reading, vocabulary=vocabulary, path=path)
    _record_problems(inner, reference, path, reading)
    allocation = paths.mapping(paths.mapping(found.get("status")).get("allocation"))
    written = model.DeviceClaim(
        title=str(reference),
        spec=dict(inner.mapping(*spec)),
        allocated=bool(allocation),
        node_selector=allocation.get("nodeSelector"),
    )
    known[reference] = claim._replace(unclear=unclear_since(before, reading), written=written)
    return known[reference]


def _record_problems(inner: Reading, reference: Reference, path: str, reading: Reading) -> None:
    """Records the faults of another object at the path that names the object."""
    for unknown in inner.found():
        reading.unknown(path, f"{reference}, {paths.readable(unknown.path)}: {unknown.reason}")
