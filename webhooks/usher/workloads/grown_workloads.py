"""The workload after the growth that other objects allow. Pure, never raises."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.kinds import registry
from usher.kinds.kubeflow_pipelines import group_version_kind
from usher.kinds.reading import values
from usher.kinds.reading.counts import Growth, with_number_at
from usher.kinds.reading.values import Reading
from usher.workloads import pod_sets as workloads_pod_sets


def is_target(growth: Growth, value: paths.Object, *, namespace: str = "") -> bool:
    """Whether an object is the target; `namespace` is the namespace of an object without one."""
    metadata = value.get("metadata")
    fields: Mapping[str, paths.Json] = metadata if isinstance(metadata, dict) else {}
    api_version = value.get("apiVersion")
    target = growth.target
    return bool(
        target.kind
        and target.name
        and isinstance(api_version, str)
        and api_version.rpartition("/")[0] == target.group
        and value.get("kind") == target.kind
        and fields.get("name") == target.name
        and (fields.get("namespace") or namespace) == target.namespace
    )


def with_replicas(value: paths.Object, growth: Growth, *, replicas: int) -> paths.Object:
    """The target with another number of replicas, for the normaliser to count its pods.

    It shares all equal parts with the target, so callers must not change either. It is the target itself if the growth
    cannot change it: if the target has no field for the number, or while its number is held.
    """
    if growth.held:
        return value
    if growth.role:
        return _with_role(value, growth.role, replicas)
    return with_number_at(value, registry.SCALES.get((growth.target.group, growth.target.kind), ""), replicas)


def pass_on_growth(growth: Growth, through: Growth) -> Growth:
    """The growth of the object behind the target, if the target only passes on its number.

    An autoscaler of a role of a DisaggregatedSet targets a DisaggregatedSetRoleScaler, which has no pods itself, and
    one of a component of a DynamoGraphDeployment its scaling adapter.

    Args:
        through: the growth that the target allows.
    """
    return replace(growth, target=through.target, role=through.role, held=growth.held or through.held)


def growths_of_makers(growth: Growth) -> Iterator[Growth]:
    """The growths of objects whose operator may make the target for one of their roles, called OBJECT-role.

    The operator of Dynamo writes the role in small letters (generateAdapterName in its operator).
    """
    group, kind = registry.MADE_FOR.get((growth.target.group, growth.target.kind), ("", ""))
    words = growth.target.name.split("-") if kind else []
    for number in range(1, len(words)):
        target = replace(growth.target, group=group, kind=kind, name="-".join(words[:number]))
        yield replace(growth, target=target, role="-".join(words[number:]))


def _with_role(value: paths.Object, name: str, replicas: int) -> paths.Object:
    """The object with another number of replicas for one role."""
    return _with_role_of_set(_with_component(value, name, replicas), name, replicas)


def _with_component(value: paths.Object, name: str, replicas: int) -> paths.Object:
    """A DynamoGraphDeployment in which a component has a number instead of a scaling adapter."""
    spec = paths.mapping(value.get("spec"))
    services, components = spec.get("services"), spec.get("components")
    if isinstance(services, dict):
        found = {key: _fixed(each, replicas) if key.lower() == name.lower() else each for key, each in services.items()}
        return {**value, "spec": {**spec, "services": found}} if found != services else value
    if isinstance(components, list):
        changed = [
            _fixed(each, replicas) if paths.text(paths.mapping(each).get("name")).lower() == name.lower() else each
            for each in components
        ]
        return {**value, "spec": {**spec, "components": changed}} if changed != components else value
    return value


def _fixed(component: paths.Json, replicas: int) -> paths.Json:
    if not isinstance(component, dict) or "scalingAdapter" not in component:
        return component
    return {**{key: field for key, field in component.items() if key != "scalingAdapter"}, "replicas": replicas}


def _with_role_of_set(value: paths.Object, name: str, replicas: int) -> paths.Object:
    """A DisaggregatedSet in which a role has its own number of replicas.

    The controller ignores the number of a role with external scaling and reads that of the scaler, and it keeps no
    scaler for other roles (LWS 0.10, disaggregatedset/executor.go and scaler_manager.go).
    """
    spec = value.get("spec")
    roles = spec.get("roles") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(roles, list):
        return value
    changed = [_static(role, replicas) if _is_external(role, name) else role for role in roles]
    if all(after is before for after, before in zip(changed, roles, strict=True)):
        return value
    return {**value, "spec": {**spec, "roles": changed}}


def _is_external(role: paths.Json, name: str) -> bool:
    if not isinstance(role, dict) or role.get("name") != name:
        return False
    scaling = role.get("scaling")
    return isinstance(scaling, dict) and scaling.get("mode") == "External"


def _static(role: paths.Json, replicas: int) -> paths.Json:
    if not isinstance(role, dict) or not isinstance(role.get("spec", {}), dict):
        return role
    without_scaling = {key: field for key, field in role.items() if key != "scaling"}
    return with_number_at({"spec": {}, **without_scaling}, "/spec/replicas", replicas)


Normalise = Callable[[paths.Object], model.Workload | None]

_NONE = model.Count(minimum=0, maximum=0)

_Counts = Mapping[str, model.Count]
"""Numbers of pods by the path of their template."""


class _Extent(Struct, frozen=True, kw_only=True):
    """The target at the smallest and the largest size that one growth allows."""

    least: _Counts
    most: _Counts
    reason: str
    gang_wanted: bool
    unbounded: bool = False
    """Whether `most` is only one replica more than `least`: then any number that differs is unbounded."""

    def count(self, path: str) -> model.Count:
        """The number of pods of the template at a path."""
        least, most = self.least.get(path, _NONE), self.most.get(path, _NONE)
        unbounded = self.unbounded and least.maximum != most.maximum
        return model.Count(
            minimum=least.minimum,
            maximum=None if unbounded else most.maximum,
            reason=most.reason,
            grown=0 if self.unbounded else most.minimum,
        )


def grown(
    value: paths.Object, growths: Iterable[Growth], *, normalise: Normalise, namespace: str = ""
) -> model.Workload | None:
    """The workload of an object, with the pods, the totals and the wish for a gang that growths cause.

    All other fields follow the object. The widest of several growths counts, because any autoscaler may win.

    Args:
        growths: growths of any objects; it ignores those of other objects.
        normalise: makes the workload of an object.
        namespace: the namespace of an object without one.
    """
    workload = normalise(value)
    if workload is None or not workload.pod_sets:
        return workload
    extents = [
        _extent(value, each, own=workload, normalise=normalise)
        for each in growths
        if is_target(each, value, namespace=namespace)
    ]
    if not extents:
        return workload
    pod_sets = tuple(_widened(pod_set, extents) for pod_set in workload.pod_sets)
    wanted = any(extent.gang_wanted for extent in extents)
    return replace(
        workload,
        pod_sets=pod_sets,
        totals=workloads_pod_sets.totals_of_pod_sets(pod_sets),
        gang=dataclasses.replace(workload.gang, wanted=wanted),
    )


def with_room(
    value: paths.Object, growths: Iterable[Growth], *, normalise: Normalise, namespace: str = ""
) -> model.Workload | None:
    """As `grown`, but with at least the pods that the object itself requests, because it has them until a
    scaler acts.
    """
    workload = grown(value, growths, normalise=normalise, namespace=namespace)
    own = normalise(value)
    if workload is None or own is None:
        return workload
    most = _counts(own)
    pod_sets = tuple(_with_most(pod_set, most.get(pod_set.path, _NONE)) for pod_set in workload.pod_sets)
    wanted = workload.gang.wanted or own.gang.wanted
    return replace(
        workload,
        pod_sets=pod_sets,
        totals=workloads_pod_sets.totals_of_pod_sets(pod_sets),
        gang=dataclasses.replace(workload.gang, wanted=wanted),
    )


def _with_most(pod_set: model.PodSet, own: model.Count) -> model.PodSet:
    maximum = pod_set.count.maximum
    if maximum is None or (own.maximum is not None and own.maximum <= maximum):
        return pod_set
    reasons = f"{pod_set.count.reason}; the object itself asks for more".removeprefix("; ")
    return replace(pod_set, count=replace(pod_set.count, maximum=own.maximum, reason=reasons))


def _extent(value: paths.Object, each: Growth, *, own: model.Workload, normalise: Normalise) -> _Extent:
    smallest = with_replicas(value, each, replicas=each.minimum)
    least = normalise(smallest)
    if smallest is value or least is None:
        return _Extent(least=_counts(own), most=_counts(own), reason="", gang_wanted=own.gang.wanted)
    largest = each.minimum + 1 if each.maximum is None else each.maximum
    most = normalise(with_replicas(value, each, replicas=largest)) or own
    return _Extent(
        least=_counts(least),
        most=_counts(most),
        reason=_growth_reason(each),
        gang_wanted=most.gang.wanted,
        unbounded=each.maximum is None,
    )


def _counts(workload: model.Workload) -> _Counts:
    return {pod_set.path: pod_set.count for pod_set in workload.pod_sets}


def _growth_reason(each: Growth) -> str:
    source = f"{each.source.kind} {each.source.name}"
    if each.maximum is None:
        return f"{source}: {each.reason}"
    because = f" ({each.reason})" if each.reason else ""
    return f"{source} allows {each.maximum:,} {'replica' if each.maximum == 1 else 'replicas'}{because}"


def _widened(pod_set: model.PodSet, extents: Sequence[_Extent]) -> model.PodSet:
    """The pod set with as many pods as all extents together allow; unchanged if the extents do not affect it."""
    counts = [extent.count(pod_set.path) for extent in extents]
    widest = max(range(len(counts)), key=lambda index: _rank(counts[index]))
    minimum, maximum = min(count.minimum for count in counts), counts[widest].maximum
    if (minimum, maximum) == (pod_set.count.minimum, pod_set.count.maximum):
        return pod_set
    reason = "; ".join(filter(None, (extents[widest].reason, counts[widest].reason)))
    grown = counts[widest].grown if minimum != maximum else 0
    return replace(pod_set, count=model.Count(minimum=minimum, maximum=maximum, reason=reason, grown=grown))


def _rank(count: model.Count) -> tuple[bool, int]:
    return count.maximum is None, count.maximum or 0


def growth_of(value: paths.Object, *, namespace: str = "") -> Growth | None:
    """The growth that an object allows; None for a kind that does not scale others.

    Args:
        value: the object as JSON, with `apiVersion` and `kind`.
        namespace: the namespace of an object without one.
    """
    group, version, kind = group_version_kind(value)
    known = registry.BY_KEY.get((group, kind))
    if known is None or known.autoscaler is None:
        return None
    reading = Reading()
    metadata = reading.mapping(value.get("metadata"), "/metadata")
    name = reading.text(metadata.get("name"), "/metadata/name")
    prefix = reading.text(metadata.get("generateName"), "/metadata/generateName")
    within = reading.text(metadata.get("namespace"), "/metadata/namespace") or namespace
    growth = Growth(
        source=values.Reference(group=group, kind=kind, name=name or (prefix and f"{prefix}*"), namespace=within),
        version=version,
        target=values.Reference(group="", kind="", name="", namespace=within),
        minimum=0,
        maximum=None,
        reason="its maximum could not be read",
    )
    if version in known.versions:
        growth = known.autoscaler(value, growth, reading)
    else:
        here = f"in {version}" if version else "without a version"
        reading.unknown("/apiVersion", f"{kind} is known in {' and '.join(known.versions)}, not {here}: not judged")
    return replace(growth, unknowns=reading.found())
