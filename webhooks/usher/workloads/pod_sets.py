"""From a template to a pod set: the fields of its pod spec, the requests of one pod, and the totals of all pods.

The rules are those of PodRequests in k8s.io/component-helpers resource, applied after the defaulting of Pods in
k8s.io/kubernetes pkg/apis/core/v1; templates inside custom resources are not defaulted yet.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from usher import model, paths, quantities
from usher.accelerators.names import GKE_DEVICES, MIB, Unit
from usher.accelerators.vocabulary import Vocabulary
from usher.kinds.reading import environment, shapes
from usher.kinds.reading.pod_templates import listed_containers
from usher.kinds.reading.templates import DEFAULT_SCHEDULER, LISTS, TERMS, ClaimPlace, ContainerPlace, Place, Template
from usher.kinds.reading.values import Reading
from usher.model import placement
from usher.workloads import claims, containers
from usher.workloads.claims import DevicePart, accelerators_like

_OVERCOMMITTED: Final = frozenset({"cpu", "memory"})
_HUGE_PAGES: Final = "hugepages-"

_Nanos = dict[str, int]
"""Amounts by resource, in nanos. Sums of plain numbers are fast."""


def requests_of_pod(
    containers: Iterable[model.Container],
    *,
    overhead: model.Resources,
    pod_requests: model.Resources,
    pod_limits: model.Resources,
    only: Collection[str] | None = None,
) -> dict[str, quantities.Quantity]:
    """Effective request of one pod for every resource that it names, even if the amount is 0.

    It is the larger of two amounts: the sum of all containers that run together, and the peak of an init container
    with the sidecars started before it. A pod-level request replaces this amount. Then the overhead is added. The API
    server rounds every amount up to a thousandth.

    Args:
        containers: the containers of one pod, init containers first and in their order.
        overhead: `spec.overhead`.
        pod_requests: `spec.resources.requests`; they only count for cpu, memory and huge pages.
        pod_limits: `spec.resources.limits`, which replace missing `pod_requests`.
        only: names of the resources to count; None for all.
    """
    containers = tuple(containers)
    totals = _summed(_requests_by_container(containers, only=only, unit=quantities.MILLI))
    if pod_requests or pod_limits:
        totals |= _nanos(pod_level_requests(containers, pod_requests, pod_limits), only=only)
    for name, nanos in _nanos(overhead, only=only).items():
        totals[name] = totals.get(name, 0) + nanos
    return _quantities(totals)


def _summed(amounts: Iterable[tuple[model.ContainerType, _Nanos]]) -> _Nanos:
    """The peak of a pod's requests. It takes one pass, because a manifest may hold many names and containers."""
    together: _Nanos = {}
    sidecars: _Nanos = {}
    peaks: _Nanos = {}
    for kind, asked in amounts:
        if kind is model.ContainerType.EPHEMERAL:
            continue
        for name, nanos in asked.items():
            if kind is model.ContainerType.INIT:
                peaks[name] = max(peaks.get(name, 0), nanos + sidecars.get(name, 0))
                continue
            together[name] = together.get(name, 0) + nanos
            if kind is model.ContainerType.SIDECAR:
                sidecars[name] = sidecars.get(name, 0) + nanos
    for name, nanos in peaks.items():
        together[name] = max(together.get(name, 0), nanos)
    return together


def _requests_by_container(
    containers: Iterable[model.Container], *, only: Collection[str] | None, unit: int
) -> Iterator[tuple[model.ContainerType, _Nanos]]:
    """Requests of each container, or else its limits (docs/domain/principles.md#requests-from-limits)."""
    for container in containers:
        if container.requests or container.limits:
            yield container.type, _nanos({**container.limits, **container.requests}, only=only, unit=unit)


def pod_level_requests(
    containers: Iterable[model.Container], pod_requests: model.Resources, pod_limits: model.Resources
) -> model.Resources:
    """Pod-level requests, which replace the sums over containers, after the API server's defaulting.

    If the pod has pod-level limits, a missing pod-level request becomes the sum of the requests of the containers, or
    the limit if no container requests the resource. Huge pages cannot be overcommitted: their request is the limit,
    given or summed.
    """
    given = {name: quantity for name, quantity in pod_requests.items() if _counts_for_pod(name)}
    limits = _quantities(_summed((container.type, _huge_pages(container.limits)) for container in containers))
    limits = {name: quantity for name, quantity in limits.items() if name not in given}
    limits |= {name: quantity for name, quantity in pod_limits.items() if _counts_for_pod(name)}
    if not limits and not pod_limits:
        return given
    # It only rounds the final result.
    asked = _quantities(_summed(_requests_by_container(containers, only=_OVERCOMMITTED, unit=1)))
    return {**limits, **asked, **given}


def _counts_for_pod(name: str) -> bool:
    return name in _OVERCOMMITTED or name.startswith(_HUGE_PAGES)


def _huge_pages(resources: model.Resources) -> _Nanos:
    return {name: quantity.nanos for name, quantity in resources.items() if name.startswith(_HUGE_PAGES)}


def _nanos(resources: model.Resources, *, only: Collection[str] | None, unit: int = quantities.MILLI) -> _Nanos:
    return {
        name: -(-quantity.nanos // unit) * unit for name, quantity in resources.items() if only is None or name in only
    }


def _quantities(nanos: _Nanos) -> dict[str, quantities.Quantity]:
    return {name: quantities.Quantity(amount) for name, amount in nanos.items()}


_ROUTES: Final = {
    Unit.DEVICE: model.Route.RESOURCE,
    Unit.PARTITION: model.Route.PARTITION,
    Unit.CLAIM: model.Route.CLAIM,
    Unit.MONITORING: model.Route.ACCESS,
}


def accelerators_of_pod(
    containers: Iterable[model.Container], *, overhead: model.Resources, vocabulary: Vocabulary
) -> Mapping[str, quantities.Quantity]:
    """Effective accelerator request of one pod by resource, without resources whose request is 0."""
    naming = [container for container in containers if container.accelerators]
    names = {name for container in naming for name in container.accelerators}
    names.update(name for name in overhead if vocabulary.contains(name))
    if not names:
        return {}
    totals = requests_of_pod(naming, overhead=overhead, pod_requests={}, pod_limits={}, only=names)
    return {name: totals[name] for name in sorted(totals) if totals[name]}


def accelerator_requests(
    of_one_pod: model.Resources,
    containers: Iterable[model.Container],
    *,
    overhead_path: str,
    reading: Reading,
    vocabulary: Vocabulary,
) -> Iterator[model.AcceleratorRequest]:
    """The accelerator requests of one pod by name, each with the first place that names it.

    A resource that devices of a DeviceClass serve counts only as the resource, because the scheduler makes the claim
    behind it. A resource for an undescribed class is looked up, and recorded as unknown if that fails.
    """
    if not of_one_pod:
        return
    naming = tuple(container for container in containers if container.accelerators)
    divided = _divided_resources(naming, vocabulary)
    first = {name: container for container in reversed(naming) for name in container.accelerators}
    for name, quantity in of_one_pod.items():
        meaning = vocabulary.meaning(name)
        route = model.Route.RESOURCE if meaning is None else _ROUTES.get(meaning.unit, model.Route.SHARE)
        path = first[name].first_path(name) if name in first else paths.join(overhead_path, name)
        like = ""
        if meaning is not None and meaning.device_class is not None:
            found = accelerators_like(meaning.device_class, path=path, reading=reading, vocabulary=vocabulary)
            if found is None:
                continue
            like = "" if found == meaning.device_class else found
        if route is model.Route.RESOURCE and name in divided:
            route = model.Route.SHARE
        asked = quantities.ZERO if route is model.Route.ACCESS else quantity
        yield model.AcceleratorRequest(route=route, name=name, minimum=asked, maximum=asked, path=path, like=like)


def _divided_resources(containers: Sequence[model.Container], vocabulary: Vocabulary) -> set[str]:
    """Resources that give every container only parts of devices, because each also requests memory or cores.

    HAMi and Volcano give whole devices to a container that requests no memory and no cores (GenerateResourceRequests in
    HAMi's pkg/device/nvidia/device.go).
    """
    if all(len(container.accelerators) == 1 for container in containers):
        return set()
    parts: set[str] = set()
    undivided: set[str] = set()
    for container in containers:
        asked = [name for name in container.accelerators if container.effective(name)]
        meanings = map(vocabulary.meaning, asked)
        divided = {meaning.divides for meaning in meanings if meaning is not None}
        for name in asked:
            (parts if name in divided else undivided).add(name)
    return parts - undivided


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
        return listed_containers(lists, self._reading)

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
        for key in ("nodeAffinity", placement.REQUIRED):
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
        if not shapes.POD_SPEC_FIELDS.isdisjoint(self._spec):
            found = shapes.read_shape(shapes.POD_SPEC, self._spec, self._spec_path, self._reading.unknown_once)
        if not self._elsewhere:
            return found
        moved = {name: place for name, place in self._elsewhere.items() if name in shapes.POD_SPEC_FIELDS}
        if not moved:
            return found
        result = {name: value for name, value in found.items() if name not in moved}
        for name, place in moved.items():
            result |= shapes.read_shape(
                shapes.POD_SPEC, {name: place.value}, paths.ROOT, self._told_at(name, place.path)
            )
        return result

    def _told_at(self, field: str, path: str) -> Callable[[str, str], None]:
        """Records the unknown parts of a field at the place of that field."""
        return lambda found, reason: self._reading.unknown_once(path + found.removeprefix(f"/{field}"), reason)

    def _moved(self, field: str) -> object:
        return self._elsewhere[field].value if field in self._elsewhere else self._spec.get(field)


def group_of_workload(reference: Mapping[str, paths.Json]) -> str:
    """The group of `workloadRef` of a pod of Kubernetes 1.35, as WORKLOAD/GROUP or WORKLOAD/GROUP/REPLICA, because
    the policy of the group applies to each replica; empty without one (API:core/v1/types.go of v0.35.0).
    """
    names = [reference.get(key) for key in ("name", "podGroup", "podGroupReplicaKey")]
    texts = [each for each in names if isinstance(each, str) and each]
    return "/".join(texts) if names[0] and names[1] and len(texts) > 1 else ""


def read_pod_set(
    template: Template, *, reading: Reading, vocabulary: Vocabulary, known_claims: claims.Claims
) -> model.PodSet:
    """The normalised pod set of one template. It adds the device claims that the template names to the known ones."""
    spec = PodSpec(template, reading)
    metadata_path = template.metadata.path
    metadata = reading.mapping(template.metadata.value, metadata_path)
    annotations = reading.strings(metadata.get("annotations"), metadata_path + "/annotations")
    group_path = spec.path("schedulingGroup") + "/podGroupName"
    by_workload = group_of_workload(spec.mapping("workloadRef"))
    group = by_workload or reading.text(spec.mapping("schedulingGroup").get("podGroupName"), group_path)
    entries = tuple(spec.items("resourceClaims"))
    claimed = claims.NO_CLAIMS
    if entries:
        claimed = claims.claims_of_pod(
            entries,
            group="" if by_workload else group,
            group_path=group_path,
            reading=reading,
            vocabulary=vocabulary,
            known=known_claims,
        )
    devices = _devices_of_pod(spec, template, annotations, claimed, reading=reading, vocabulary=vocabulary)
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
        later=template.later,
        groups=template.groups,
        together=template.together,
        unit=template.unit,
        serves_as=template.serves_as,
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
        claims=claimed.claims,
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
        written=template.written,
        changeable=template.traits.changeable,
        overrides=template.overrides,
        fully_known=template.traits.fully_known,
    )


class _Devices(NamedTuple):
    """The accelerators of one pod, by all routes."""

    containers: tuple[model.Container, ...]
    overhead: model.Resources
    of_one_pod: Mapping[str, quantities.Quantity]
    requests: tuple[model.AcceleratorRequest, ...]
    unclear: tuple[model.UnclearDevices, ...]


def _devices_of_pod(  # noqa: PLR0913 - all ways to give a pod an accelerator
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
        containers.read_container(place, template, reading=reading, vocabulary=vocabulary, giving=claimed.giving)
        for place in places
    )
    by_annotation = environment.NOTHING
    if any("gpu" in key or key.startswith(GKE_DEVICES) for key in annotations):
        by_annotation = environment.of_pod(
            annotations, template.metadata.path + "/annotations", reading, scheduler=spec.text("schedulerName")
        )
    made = [_claimed_by_operator(place, reading, vocabulary) for place in template.claims]
    for otherwise in (by_annotation, *made):
        if otherwise.requests:
            found = tuple(
                containers.give_accelerators(found, otherwise.containers, template, first=otherwise.first_container)
            )
    overhead = spec.resources("overhead")
    of_one_pod = accelerators_of_pod(found, overhead=overhead, vocabulary=vocabulary)
    before = len(reading.unknowns)
    by_resource = accelerator_requests(
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
        *(claims.unclear_since(before, reading) if len(reading.unknowns) > before else ()),
    )
    return _Devices(found, overhead, of_one_pod, asked, unclear)


def _claimed_by_operator(place: ClaimPlace, reading: Reading, vocabulary: Vocabulary) -> environment.Annotated:
    """The requests of a claim that no template names."""
    inner = Reading()
    before = len(reading.unknowns)
    found = claims.read_claim_spec(
        Place(place.spec, paths.ROOT), inner, reading=reading, vocabulary=vocabulary, path=place.path
    )
    for unknown in inner.found():
        reading.unknown(place.path, unknown.reason)
    return environment.Annotated(
        requests=tuple(claims.requests_of_claim(found, path=place.path)),
        containers=frozenset(filter(None, [place.container])),
        first_container=not place.container,
        unclear=claims.unclear_since(before, reading),
    )


def _scheduler(named: str, template: Template) -> model.Scheduler:
    return model.Scheduler(name=named) if named else template.traits.scheduler or DEFAULT_SCHEDULER


MEMORY_OF: Final = "MiB of "
"""Before the name of a device class: the memory that claims take of its devices."""


def _by_parts(request: model.AcceleratorRequest) -> Iterator[model.AcceleratorRequest]:
    """A request under the name of the MIG profile that it selects, and the memory of shares."""
    yield replace(request, name=request.selects) if request.selects else request
    if request.is_share and request.memory:
        each = -(-request.memory // MIB)
        most = None if request.maximum is None else request.maximum * each
        yield replace(request, name=f"{MEMORY_OF}{request.name}", minimum=request.minimum * each, maximum=most)


def totals_of_pod_sets(pod_sets: Iterable[model.PodSet], *, by_parts: bool = False) -> tuple[model.Total, ...]:
    """One total for each name and route, in the order of the names. A claim that pods share counts once.

    Args:
        by_parts: whether claims for parts of devices count by their MIG profiles and their memory.
    """
    own: defaultdict[tuple[str, model.Route], list[model.Total]] = defaultdict(list)
    shared: defaultdict[tuple[str, str, model.Route, DevicePart], list[model.Total]] = defaultdict(list)
    for pod_set in pod_sets:
        requests = pod_set.requests
        for request in chain.from_iterable(map(_by_parts, requests)) if by_parts else requests:
            route = _route(request)
            if request.claim:
                part = DevicePart(request.selects, request.memory)
                shared[request.claim, request.name, route, part].append(_total_of_shared_claim(request, pod_set.count))
            else:
                own[request.name, route].append(_total_of_request(request, pod_set.count))
    for (_, name, route, _), amounts in shared.items():
        own[name, route].append(_join_totals(amounts, max))
    totals = (_join_totals(own[key], _sum) for key in sorted(own))
    return tuple(total for total in totals if total.maximum != quantities.ZERO)


def _route(request: model.AcceleratorRequest) -> model.Route:
    """The route under which a request counts: a claim for a part of a device is a share."""
    return model.Route.SHARE if request.is_share else request.route


def _total_of_request(request: model.AcceleratorRequest, count: model.Count) -> model.Total:
    minimum = request.minimum * count.minimum
    maximum = total_amount(request.maximum, count.maximum)
    reason = f"{request.reason}; {count.reason}" if maximum is None or minimum.nanos != maximum.nanos else ""
    return model.Total(route=_route(request), name=request.name, minimum=minimum, maximum=maximum, reason=reason)


def _total_of_shared_claim(request: model.AcceleratorRequest, count: model.Count) -> model.Total:
    """The total of a shared claim, which takes its devices as soon as any of the pods exists."""
    minimum = request.minimum if count.minimum else quantities.ZERO
    maximum = quantities.ZERO if count.maximum == 0 else request.maximum
    reason = f"{request.reason}; {'' if count.minimum else count.reason}" if minimum != maximum else ""
    return model.Total(route=_route(request), name=request.name, minimum=minimum, maximum=maximum, reason=reason)


def total_amount(each: quantities.Quantity | None, pods: int | None) -> quantities.Quantity | None:
    """The sum for that many pods; None if there is no upper bound."""
    if each is not None and pods is not None:
        return each * pods
    return quantities.ZERO if pods == 0 or (each is not None and not each) else None


def _sum(amounts: Iterable[quantities.Quantity]) -> quantities.Quantity:
    return quantities.Quantity(sum(amount.nanos for amount in amounts))


def _join_totals(
    amounts: Sequence[model.Total], join: Callable[[Iterable[quantities.Quantity]], quantities.Quantity]
) -> model.Total:
    """The joined total. Its reasons explain why minimum and maximum differ, each once."""
    if len(amounts) == 1 and not amounts[0].reason:
        return amounts[0]
    maxima = [amount.maximum for amount in amounts if amount.maximum is not None]
    minimum = join(amount.minimum for amount in amounts)
    maximum = join(maxima) if len(maxima) == len(amounts) else None
    reasons = dict.fromkeys(part for amount in amounts for part in _parts(amount.reason))
    reason = "" if minimum == maximum else "; ".join(reasons)
    return replace(amounts[0], minimum=minimum, maximum=maximum, reason=reason)


def _parts(reason: str) -> Iterable[str]:
    return filter(None, reason.split("; ")) if reason else ()
