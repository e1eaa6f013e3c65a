"""Judges pods by the LimitRanges of their namespace.

LimitRanges in files lack the defaults that the API server sets (k8s.io/kubernetes pkg/apis/core/v1/defaults.go), so
this module sets them.

The rules are those of the LimitRanger plugin (k8s.io/kubernetes plugin/pkg/admission/limitranger).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, NotRequired

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import TypedDict  # pydantic reads the standard one only from Python 3.12 on

from usher import model, paths, quantities
from usher.authorities import authority, verdict
from usher.authorities.authority import Case, Section
from usher.authorities.knowledge import Knowledge
from usher.authorities.verdict import Amounts, Answer, Unreadable
from usher.cluster.facts.store import Store
from usher.kinds.reading.shapes import Amount, amount_of
from usher.kinds.reading.values import Absence
from usher.workloads import pod_sets

LIMIT_RANGE: Final = ("", "LimitRange")


class Rule(StrEnum):
    DEFAULT = "default"
    """The limit of containers without one: ValidateResourceRequirements refuses a request above it."""
    MINIMUM = "min"
    MAXIMUM = "max"
    RATIO = "maxLimitRequestRatio"


class Bound(Struct, frozen=True, kw_only=True):
    of: str
    """The name of the LimitRange."""
    of_pod: bool
    """Whether the bound is for the whole pod; else for each container."""
    rule: Rule
    resource: str
    amount: quantities.Quantity


class LimitRanges(Struct, frozen=True, kw_only=True):
    """All LimitRanges of a namespace."""

    default_requests: Amounts
    default_limits: Amounts
    ambiguous: frozenset[str]
    """Resources for which several LimitRanges set different defaults: their order decides which one counts."""
    bounds: tuple[Bound, ...]
    unreadable: tuple[Unreadable, ...]


NO_RANGES: Final = LimitRanges(default_requests={}, default_limits={}, ambiguous=frozenset(), bounds=(), unreadable=())


def ranges_of_namespace(namespace: str, facts: Store) -> LimitRanges | None:
    """The LimitRanges of a namespace; None where they are unknown.

    Returns the same value until a LimitRange changes.
    """
    objects = facts.objects(*LIMIT_RANGE, namespace)
    if isinstance(objects, Absence):
        return None
    kept: dict[str, LimitRanges] = facts.derived("limit ranges", [LIMIT_RANGE], dict)
    found = kept.get(namespace)
    if found is None:
        found = read_ranges(objects)
        if objects:
            kept[namespace] = found
    return found


def read_ranges(objects: Mapping[str, paths.Object]) -> LimitRanges:
    """The LimitRanges of one namespace, by name."""
    if not objects:
        return NO_RANGES
    defaults: tuple[dict[str, quantities.Quantity], dict[str, quantities.Quantity]] = {}, {}
    ambiguous: set[str] = set()
    bounds: list[Bound] = []
    known, unreadable = verdict.first_objects(objects, "LimitRange")
    for name, value in known.items():
        source = verdict.SourceObject(f"LimitRange {name}", value)
        for kind, own in zip(defaults, _read_range(source, name, bounds), strict=True):
            ambiguous.update(each for each, amount in own.items() if kind.get(each, amount) != amount)
            kind.update(own)
        unreadable += source.unreadable
    if len(bounds) > verdict.MOST_OBJECTS:
        reason = f"sets bounds beyond the first {verdict.MOST_OBJECTS} of its namespace; usher reads only these"
        unreadable.append(
            Unreadable(of=f"LimitRange {bounds[verdict.MOST_OBJECTS].of}", field="spec.limits", reason=reason)
        )
    return LimitRanges(
        default_requests=defaults[0],
        default_limits=defaults[1],
        ambiguous=frozenset(ambiguous),
        bounds=tuple(bounds[: verdict.MOST_OBJECTS]),
        unreadable=tuple(unreadable),
    )


def _read_range(source: verdict.SourceObject, name: str, bounds: list[Bound]) -> tuple[Amounts, Amounts]:
    """Adds the bounds of one LimitRange, and gives its default requests and limits."""
    default_requests: Amounts = {}
    default_limits: Amounts = {}
    for place in source.items("/spec/limits"):
        kind = source.text(f"{place}/type")
        if kind not in {"Container", "Pod"}:
            continue
        found = {rule: source.amounts(f"{place}/{rule.value}") for rule in Rule}
        bounds += [
            Bound(of=name, of_pod=kind == "Pod", rule=rule, resource=resource, amount=amount)
            for rule, amounts in found.items()
            for resource, amount in sorted(amounts.items())
        ]
        if kind == "Container":
            limits = {**found[Rule.MAXIMUM], **found[Rule.DEFAULT]}
            default_limits = {**default_limits, **limits}
            requests = {**found[Rule.MINIMUM], **limits, **source.amounts(f"{place}/defaultRequest")}
            default_requests = {**default_requests, **requests}
    return default_requests, default_limits


def with_defaults(containers: Iterable[model.Container], ranges: LimitRanges) -> tuple[model.Container, ...]:
    """Containers with the defaults of the API server and LimitRanger; debug containers are left out.

    The API server sets a missing request to the limit before LimitRanger sets defaults.
    """
    return tuple(
        _with_defaults(container, ranges)
        for container in containers
        if container.type is not model.ContainerType.EPHEMERAL
    )


def _with_defaults(container: model.Container, ranges: LimitRanges) -> model.Container:
    requested = {**ranges.default_requests, **container.limits, **container.requests}
    limits = {**ranges.default_limits, **container.limits}
    if len(requested) == len(container.requests) and len(limits) == len(container.limits):
        return container  # Most Pods that the API server sends have all defaults.
    return replace(container, requests=requested, limits=limits)


def as_admitted(workload: model.Workload, facts: Store) -> model.Workload:
    """The workload with what the API server adds to its pods before any scheduler sees them.

    These are the overhead and the node selector of the RuntimeClass, and the defaults of LimitRanges. The same value
    comes back where nothing is added. Pods with requests or limits of their own as a whole get no defaults here.

    Sources: k/k:plugin/pkg/admission/runtimeclass/admission.go setOverhead and setScheduling, limitranger/admission.go.
    """
    ranges = ranges_of_namespace(workload.namespace, facts)
    defaults = ranges is not None and bool(ranges.default_requests or ranges.default_limits)
    if not defaults and not any(pod_set.runtime_class_name for pod_set in workload.pod_sets):
        return workload
    classes = facts.objects("node.k8s.io", "RuntimeClass")
    found = []
    for pod_set in authority.with_overhead(workload, classes).pod_sets:
        each = _with_selector(pod_set, classes)
        if defaults and ranges is not None and not (pod_set.pod_requests or pod_set.pod_limits):
            each = replace(each, containers=with_defaults(pod_set.containers, ranges))
        found.append(each)
    return replace(workload, pod_sets=tuple(found))


def _with_selector(pod_set: model.PodSet, classes: Mapping[str, paths.Object] | Absence) -> model.PodSet:
    found = None if isinstance(classes, Absence) else classes.get(pod_set.runtime_class_name)
    if found is None:
        return pod_set
    given = verdict.SourceObject(f"RuntimeClass {pod_set.runtime_class_name}", found).mapping(
        "/scheduling/nodeSelector"
    )
    texts = {key: value for key, value in given.items() if isinstance(value, str)}
    return replace(pod_set, node_selector={**texts, **pod_set.node_selector}) if texts else pod_set


def requests_of_pod(pod_set: model.PodSet, containers: Sequence[model.Container], *, overhead: Amounts) -> Amounts:
    """The requests of one whole pod, by resource.

    Pod-level requests follow from the containers in the manifest, because LimitRanger runs later.

    Args:
        pod_set: the pod as in the manifest.
        containers: the containers of the pod, with all defaults.
        overhead: what to add to the containers.
    """
    requests = pod_set.pod_requests
    if requests or pod_set.pod_limits:
        requests = pod_sets.pod_level_requests(pod_set.containers, requests, pod_set.pod_limits)
    of_pod: Amounts = pod_sets.requests_of_pod(containers, overhead=overhead, pod_requests=requests, pod_limits={})
    return of_pod


def limits_of_pod(pod_set: model.PodSet, containers: Sequence[model.Container]) -> Amounts:
    """The limits of one whole pod, by resource."""
    limited = [replace(container, requests={}) for container in containers]
    of_pod: Amounts = pod_sets.requests_of_pod(limited, overhead={}, pod_requests=pod_set.pod_limits, pod_limits={})
    return of_pod


_Maybe = quantities.Quantity | None


class Violating(StrEnum):
    """The amount that violates a bound."""

    REQUEST = "request"
    LIMIT = "limit"
    RATIO = "ratio"


class LimitViolation(Struct, frozen=True, kw_only=True):
    """A bound that a pod violates, so that the API server refuses it."""

    bound: Bound
    path: str
    """The path of the container's resource, of the container, or of the pod spec."""
    container: str
    """The name of the container; empty for the whole pod."""
    violating: Violating
    amount: quantities.Quantity | None
    """The request or the limit; None where it is missing, or 0 for a ratio."""
    request: quantities.Quantity | None = None
    """For a ratio: the request that the limit is compared with."""


def find_violations(workload: model.Workload, ranges: LimitRanges) -> list[LimitViolation]:
    """The bounds that pods of a workload violate, at most 256."""
    found = [each for pod_set in workload.pod_sets for each in violations_of_pod_set(pod_set, ranges)]
    return found[: verdict.MOST_OBJECTS]


def violations_of_pod_set(pod_set: model.PodSet, ranges: LimitRanges) -> tuple[LimitViolation, ...]:
    """The bounds that the pods of a pod set violate.

    Resources with ambiguous defaults are skipped. Where a LimitRange cannot be read, only the amounts that a container
    itself states are compared.
    """
    if not ranges.bounds:
        return ()
    of_pod = [bound for bound in ranges.bounds if bound.of_pod and bound.resource not in ranges.ambiguous]
    of_containers = [bound for bound in ranges.bounds if not bound.of_pod and bound.resource not in ranges.ambiguous]
    written = [each for each in pod_set.containers if each.type is not model.ContainerType.EPHEMERAL]
    filled = with_defaults(written, ranges)
    found = [
        _first_violation(bound, amounts.requests, amounts.limits, container=container)
        for container, amounts in zip(written, filled, strict=True)
        for bound in of_containers
        if not ranges.unreadable or bound.resource in container.limits
    ]
    if of_pod and not ranges.unreadable:
        requested = requests_of_pod(pod_set, filled, overhead={})
        limits = limits_of_pod(pod_set, filled)
        found += [_first_violation(bound, requested, limits, path=pod_set.spec_path) for bound in of_pod]
    return tuple(each for each in found if each is not None)


def _first_violation(
    bound: Bound, requested: Amounts, limits: Amounts, *, container: model.Container | None = None, path: str = ""
) -> LimitViolation | None:
    """The first violation that LimitRanger reports."""
    for violating, amount in _violating(bound, requested.get(bound.resource), limits.get(bound.resource)):
        return LimitViolation(
            bound=bound,
            path=path if container is None else _place(container, bound.resource, violating),
            container="" if container is None else container.name,
            violating=violating,
            amount=amount,
            request=requested.get(bound.resource) if violating is Violating.RATIO else None,
        )
    return None


def _place(container: model.Container, resource: str, violating: Violating) -> str:
    """The path of the amount in the container; the container itself where the amount is a default."""
    if violating is Violating.REQUEST and resource in container.requests:
        return container.resource_path("requests", resource)
    return container.resource_path("limits", resource) if resource in container.limits else container.path


def _violating(bound: Bound, requested: _Maybe, limit: _Maybe) -> Iterator[tuple[Violating, _Maybe]]:
    match bound.rule:
        case Rule.DEFAULT:
            if requested is not None and limit is not None and requested.milli > limit.milli == bound.amount.milli:
                yield Violating.REQUEST, requested
        case Rule.MINIMUM:
            if requested is None or requested.milli < bound.amount.milli:
                yield Violating.REQUEST, requested
            if limit is not None and limit.milli < bound.amount.milli:
                yield Violating.LIMIT, limit
        case Rule.MAXIMUM:
            if limit is None or limit.milli > bound.amount.milli:
                yield Violating.LIMIT, limit
            if requested is not None and requested.milli > bound.amount.milli:
                yield Violating.REQUEST, requested
        case Rule.RATIO:
            yield from _violating_ratio(bound, requested, limit)


def _violating_ratio(bound: Bound, requested: _Maybe, limit: _Maybe) -> Iterator[tuple[Violating, _Maybe]]:
    if not requested:
        yield Violating.REQUEST, None
    elif not limit:
        yield Violating.LIMIT, None
    elif limit.milli * 1000 > bound.amount.milli * requested.milli:
        yield Violating.RATIO, limit


class LimitViolationInput(TypedDict):
    """A bound of a LimitRange that a container violates, or the whole pod (then `container` is absent)."""

    limitRange: str
    container: NotRequired[str]
    path: str
    rule: str
    resource: str
    bound: Amount
    said: str
    amount: NotRequired[Amount]
    """The request or the limit; absent where it is missing."""
    request: NotRequired[Amount]
    """The request that the limit is compared with, where `said` is `ratio`."""


def violations_input(violations: Iterable[LimitViolation]) -> list[LimitViolationInput]:
    return [_violation_input(each) for each in violations]


def _violation_input(violation: LimitViolation) -> LimitViolationInput:
    result: LimitViolationInput = {
        "limitRange": violation.bound.of,
        "path": violation.path,
        "rule": violation.bound.rule.value,
        "resource": violation.bound.resource,
        "bound": amount_of(violation.bound.amount),
        "said": violation.violating.value,
    }
    if not violation.bound.of_pod:
        result["container"] = violation.container
    if violation.amount is not None:
        result["amount"] = amount_of(violation.amount)
    if violation.request is not None:
        result["request"] = amount_of(violation.request)
    return result


def outlook_sections(case: Case, known: Knowledge) -> Iterator[Section]:
    """A section where a LimitRange refuses pods."""
    workload = case.workload
    ranges = ranges_of_namespace(workload.namespace, known.facts) if workload.namespace else None
    violations = [] if ranges is None else find_violations(workload, ranges)
    if violations:
        yield Section(
            authority="LimitRange",
            way=tuple(dict.fromkeys(f"LimitRange {each.bound.of}" for each in violations)),
            answer=Answer.NEVER,
            reasons=tuple(dict.fromkeys(map(_violation_text, violations))),
        )


def _violation_text(violation: LimitViolation) -> str:
    bound, resource = violation.bound, violation.bound.resource
    who = f"container {violation.container}" if violation.container else "the whole pod"
    if violation.amount is None:
        says = f"has no {violation.violating} for {resource}"
    elif violation.request is None:
        says = f"has a {violation.violating} of {quantities.named(resource, violation.amount)}"
    else:
        limit, request = quantities.named(resource, violation.amount), quantities.text(resource, violation.request)
        says = f"has a limit of {limit} for a request of {request}"
    if bound.rule is Rule.RATIO:
        return f"{who} {says}, and a limit of at most {bound.amount} times the request is allowed"
    if bound.rule is Rule.DEFAULT:
        return f"{who} {says} and no limit, and the default limit is {quantities.text(resource, bound.amount)}"
    least = "at least" if bound.rule is Rule.MINIMUM else "at most"
    return f"{who} {says}, and {least} {quantities.text(resource, bound.amount)} is allowed"
