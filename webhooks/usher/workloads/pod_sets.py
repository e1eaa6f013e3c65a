"""Makes a pod set from a template, reading each field of the pod spec at its place."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from usher import model, paths, quantities
from usher.accelerators.names import GKE_DEVICES
from usher.accelerators.vocabulary import Vocabulary
from usher.reading import annotated_requests, pod_shapes
from usher.reading import shapes as reading_shapes
from usher.reading.pod_templates import listed
from usher.reading.templates import DEFAULT_SCHEDULER, LISTS, TERMS, ClaimPlace, ContainerPlace, Place, Template
from usher.reading.values import Reading
from usher.workloads import claim_specs, claims, containers, requests

_OF_TOLERATION: Final = frozenset({"key", "operator", "value", "effect"})
_EMPTY: Final[Mapping[str, paths.Json]] = MappingProxyType({})


class PodSpec:
    """Reads the spec of one template. Most fields are missing in most pods, and a missing field costs
    almost nothing.
    """

    __slots__ = ("_elsewhere", "_reading", "_spec", "_spec_path", "_value")

    def __init__(self, template: Template, reading: Reading) -> None:
        self._reading = reading
        self._spec_path = template.spec.path
        self._spec = reading.mapping(template.spec.value, template.spec.path)
        self._elsewhere = template.fields
        self._value: Callable[[str], object] = self._moved if template.fields else self._spec.get

    def path(self, field: str) -> str:
        return self._elsewhere[field].path if field in self._elsewhere else f"{self._spec_path}/{field}"

    def text(self, field: str) -> str:
        value = self._value(field)
        return "" if value is None else self._reading.text(value, self.path(field))

    def strings(self, field: str) -> Mapping[str, str]:
        value = self._value(field)
        return {} if value is None else self._reading.strings(value, self.path(field))

    def resources(self, field: str, path: str = "") -> model.Resources:
        """The quantities of a field, or of one inside it."""
        value = self._value(field)
        if value is None:
            return {}
        if path:
            inner = self._reading.mapping(value, self.path(field)).get(path)
            return self._reading.resources(inner, f"{self.path(field)}/{path}")
        return self._reading.resources(value, self.path(field))

    def mapping(self, field: str) -> Mapping[str, paths.Json]:
        value = self._value(field)
        return _EMPTY if value is None else self._reading.mapping(value, self.path(field))

    def items(self, field: str) -> Iterator[tuple[str, Mapping[str, paths.Json]]]:
        value = self._value(field)
        if value is not None:
            yield from self._reading.items(value, self.path(field))

    def containers(self) -> Iterator[ContainerPlace]:
        lists = {name: Place(value, self.path(name)) for name, _ in LISTS if (value := self._value(name)) is not None}
        return listed(lists, self._reading)

    def tolerations(self) -> Iterator[Mapping[str, paths.Json]]:
        for path, toleration in self.items("tolerations"):
            for field, value in toleration.items():
                if not isinstance(value, str) and field in _OF_TOLERATION:
                    self._reading.text(value, f"{path}/{field}")
            yield toleration

    def required_terms(self) -> tuple[Mapping[str, paths.Json], ...] | None:
        """The terms; None without required node affinity. An affinity without terms is different: it
        matches no node.
        """
        place = self._elsewhere.get(TERMS) or self._terms()
        if place is None:
            return None
        terms = tuple(self._reading.items(*place))
        for term_path, term in terms:
            for field in ("matchExpressions", "matchFields"):
                for path, expression in self._reading.items(term.get(field), f"{term_path}/{field}"):
                    self._reading.text(expression.get("key"), path + "/key")
                    self._reading.text(expression.get("operator"), path + "/operator")
                    self._reading.texts(expression.get("values"), path + "/values")
        return tuple(term for _, term in terms)

    def _terms(self) -> Place | None:
        value = self._value("affinity")
        if value is None:
            return None
        path = self.path("affinity")
        for key in ("nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"):
            if value is None:
                return None
            value = self._reading.mapping(value, path).get(key)
            path = f"{path}/{key}"
        if value is None:
            return None
        return Place(self._reading.mapping(value, path).get(TERMS), f"{path}/{TERMS}")

    def fields(self) -> Mapping[str, Any]:
        """The other fields that rules read, as written."""
        found: Mapping[str, Any] = _EMPTY
        if not pod_shapes.POD_SPEC_FIELDS.isdisjoint(self._spec):
            found = reading_shapes.read(pod_shapes.POD_SPEC, self._spec, self._spec_path, self._reading.unknown_once)
        if not self._elsewhere:
            return found
        moved = {name: place for name, place in self._elsewhere.items() if name in pod_shapes.POD_SPEC_FIELDS}
        if not moved:
            return found
        result = {name: value for name, value in found.items() if name not in moved}
        for name, place in moved.items():
            result |= reading_shapes.read(
                pod_shapes.POD_SPEC, {name: place.value}, paths.ROOT, self._told_at(name, place.path)
            )
        return result

    def _told_at(self, field: str, path: str) -> Callable[[str, str], None]:
        """Records the unknown parts of a field at the place of that field."""
        return lambda found, reason: self._reading.unknown_once(path + found.removeprefix(f"/{field}"), reason)

    def _moved(self, field: str) -> object:
        return self._elsewhere[field].value if field in self._elsewhere else self._spec.get(field)


def pod_set(
    template: Template, *, reading: Reading, vocabulary: Vocabulary, known_claims: claims.Claims
) -> model.PodSet:
    """The normalised pod set of one template. It adds the device claims that the template names to the known ones."""
    spec = PodSpec(template, reading)
    metadata_path = template.metadata.path
    metadata = reading.mapping(template.metadata.value, metadata_path)
    annotations = reading.strings(metadata.get("annotations"), metadata_path + "/annotations")
    group_path = spec.path("schedulingGroup") + "/podGroupName"
    group = reading.text(spec.mapping("schedulingGroup").get("podGroupName"), group_path)
    entries = tuple(spec.items("resourceClaims"))
    claimed = claims.NOTHING
    if entries:
        claimed = claims.of_pod(
            entries, group=group, group_path=group_path, reading=reading, vocabulary=vocabulary, known=known_claims
        )
    devices = _devices(spec, template, annotations, claimed, reading=reading, vocabulary=vocabulary)
    scheduler_name = spec.text("schedulerName")
    terms = spec.required_terms()
    return model.PodSet(
        name=template.name,
        path=template.path,
        metadata_path=metadata_path,
        spec_path=template.spec.path,
        own_metadata_path=template.own_metadata_path,
        count=template.count,
        in_turns=template.in_turns,
        labels=reading.strings(metadata.get("labels"), metadata_path + "/labels"),
        annotations=annotations,
        containers=devices.containers,
        tolerations=tuple(spec.tolerations()),
        node_selector=spec.strings("nodeSelector"),
        required_terms=terms or (),
        has_required_affinity=terms is not None,
        scheduler_name=scheduler_name,
        scheduler=_scheduler(scheduler_name, template),
        priority_class_name=spec.text("priorityClassName"),
        runtime_class_name=spec.text("runtimeClassName"),
        node_name=spec.text("nodeName"),
        placed=template.placed,
        scheduling_gates=tuple(
            reading.text(gate.get("name"), path + "/name") for path, gate in spec.items("schedulingGates")
        ),
        scheduling_group=group,
        pod_group=template.traits.pod_group,
        device_claims=len(entries),
        accelerators=devices.of_one_pod,
        requests=devices.requests,
        unclear_devices=devices.unclear,
        overhead=devices.overhead,
        pod_requests=spec.resources("resources", "requests"),
        pod_limits=spec.resources("resources", "limits"),
        operator_environment=template.traits.operator_environment,
        ranks_inherit_environment=template.traits.ranks_inherit_environment,
        fields=spec.fields(),
        places={field: place.path for field, place in template.fields.items()},
        changeable=template.traits.changeable,
        overrides=template.overrides,
        whole=template.traits.whole,
    )


class _Devices(NamedTuple):
    """The accelerators of one pod, by all routes."""

    containers: tuple[model.Container, ...]
    overhead: model.Resources
    of_one_pod: Mapping[str, quantities.Quantity]
    requests: tuple[model.AcceleratorRequest, ...]
    unclear: tuple[model.UnclearDevices, ...]


def _devices(  # noqa: PLR0913 - all ways to give a pod an accelerator
    spec: PodSpec,
    template: Template,
    annotations: Mapping[str, str],
    claimed: claims.Claimed,
    *,
    reading: Reading,
    vocabulary: Vocabulary,
) -> _Devices:
    places = spec.containers() if template.containers is None else template.containers
    found = tuple(
        containers.read(place, template, reading=reading, vocabulary=vocabulary, giving=claimed.giving)
        for place in places
    )
    by_annotation = annotated_requests.NOTHING
    if any("gpu" in key or key.startswith(GKE_DEVICES) for key in annotations):
        by_annotation = annotated_requests.of_pod(annotations, template.metadata.path + "/annotations", reading)
    made = [_made(place, reading, vocabulary) for place in template.claims]
    for otherwise in (by_annotation, *made):
        if otherwise.requests:
            found = tuple(containers.giving_to(found, otherwise.containers, template, first=otherwise.first_container))
    overhead = spec.resources("overhead")
    of_one_pod = requests.accelerators_of_pod(found, overhead=overhead, vocabulary=vocabulary)
    before = len(reading.unknowns)
    by_resource = requests.requests(
        of_one_pod, found, overhead_path=spec.path("overhead"), reading=reading, vocabulary=vocabulary
    )
    asked = (
        *by_resource,
        *claimed.requests,
        *by_annotation.requests,
        *(request for claim in made for request in claim.requests),
        *template.requests,
    )
    unclear = (
        *claimed.unclear,
        *(each for other in made for each in other.unclear),
        *(claim_specs.unclear_since(before, reading) if len(reading.unknowns) > before else ()),
    )
    return _Devices(found, overhead, of_one_pod, asked, unclear)


def _made(place: ClaimPlace, reading: Reading, vocabulary: Vocabulary) -> annotated_requests.Annotated:
    """The requests of a claim that no template names."""
    inner = Reading()
    before = len(reading.unknowns)
    found = claim_specs.read(
        Place(place.spec, paths.ROOT), inner, reading=reading, vocabulary=vocabulary, path=place.path
    )
    for unknown in inner.found():
        reading.unknown(place.path, unknown.reason)
    return annotated_requests.Annotated(
        requests=tuple(claim_specs.requests(found, path=place.path)),
        containers=frozenset(filter(None, [place.container])),
        first_container=not place.container,
        unclear=claim_specs.unclear_since(before, reading),
    )


def _scheduler(named: str, template: Template) -> model.Scheduler:
    return model.Scheduler(name=named) if named else template.traits.scheduler or DEFAULT_SCHEDULER
