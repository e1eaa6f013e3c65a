"""Kinds that hold capacity: queues of Kueue, GPUQuotas, AppWrappers, which hold whole objects, and pools of nodes.

`usher.cluster.facts.autoscaled_pools` says what pools of Karpenter, GKE and Cluster API mean.

Sources: https://github.com/kubernetes-sigs/karpenter/tree/main/pkg/apis (v1/nodepool.go, v1/nodeclaim.go,
v1alpha1/nodeoverlay.go), https://github.com/kubernetes/autoscaler/tree/master/cluster-autoscaler/apis/capacitybuffer,
https://docs.cloud.google.com/kubernetes-engine/docs/reference/crds/computeclass, NodeClasses of
aws/karpenter-provider-aws, Azure/karpenter-provider-azure and cloudpilot-ai/karpenter-provider-gcp (pkg/apis), and
https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/clusterapi/README.md
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec.structs import replace
from pydantic import BeforeValidator

from usher import errors, model, paths, quantities
from usher.accelerators import boards, mig
from usher.config.pools import QuotaSpec
from usher.kinds.kind import Code
from usher.kinds.reading import pod_templates
from usher.kinds.reading.pod_templates import pod_template
from usher.kinds.reading.shapes import amount_of
from usher.kinds.reading.templates import Place, Template
from usher.kinds.reading.values import Reading

_UNITS = ("gpus", "slices", "memoryGiB")
_PROFILES = "profiles."


def _units(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {unit: _with_amount(_unit(unit), amount) for unit, amount in value.items() if isinstance(unit, str)}


def _with_amount(unit: dict[str, Any], amount: object) -> dict[str, Any]:
    try:
        return {**unit, "amount": amount_of(quantities.parse(amount))}
    except errors.QuantityError:
        return unit


def _unit(unit: str) -> dict[str, Any]:
    profile = mig.parse_profile(unit.removeprefix(_PROFILES)) if unit.startswith(_PROFILES) else None
    if profile is not None:
        name = f"{_PROFILES}{profile}"
        if name != unit:
            return {"known": False, "meant": name}
        return {"known": True, "boards": [board.name for board in boards.boards_with(profile)]}
    if unit in _UNITS:
        return {"known": True}
    resource = mig.profile_of_resource(unit)
    if resource is not None:
        return {"known": False, "meant": f"{_PROFILES}{resource.profile}"}
    like = [each for each in _UNITS if each.lower().rstrip("s") == unit.lower().rstrip("s")]
    if unit.rpartition("/")[2] == "gpu":
        like = ["gpus"]
    return {"known": False, "meant": like[0]} if like else {"known": False}


def _with_problems(spec: object) -> object:
    if not isinstance(spec, dict):
        return spec
    found = boards.read_quota_spec(spec)
    problems = [] if isinstance(found, QuotaSpec) else [each._asdict() for each in found]
    return {**spec, "problems": problems}


Object = Mapping[str, paths.Json]

# AW:pkg/utils/utils.go, getValueAtPath.
_PATH: Final = re.compile(r"template((?:\.[^.\[\]]+|\[[0-9]{1,9}\])*)", re.ASCII)
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[([0-9]+)\]", re.ASCII)

_NO_PODS: Final = model.Count(minimum=0, maximum=0, reason="a template for others to refer to")


class _PodSet(NamedTuple):
    """A pod set that a component declares: the path of a pod template in its object, and its number of pods."""

    replicas: int
    path: str
    place: str
    """Path of the field that holds `path`."""


def _app_wrapper(app_wrapper: Object, reading: Reading) -> Iterator[Template]:
    """The templates of the objects, with the numbers of pods that the objects themselves set.

    Kueue counts what the components declare. AW:pkg/utils/utils.go keeps that in step with the object for a few kinds
    only. For an object of an unknown kind usher reads the declarations.
    """
    spec = reading.mapping(app_wrapper.get("spec"), "/spec")
    for path, component in reading.items(spec.get("components"), "/spec/components"):
        place = Place(component.get("template"), path + "/template")
        value = reading.mapping(*place)
        declared = list(_declared(component, path, reading))
        if reading.context.is_too_deep:
            reading.unknown(place.path, "it stands too deep in other objects to be judged")
        elif value:
            yield from _of_object(value, place.path, declared, reading)


def _declared(component: Object, path: str, reading: Reading) -> Iterator[_PodSet]:
    for pod_set_path, pod_set in reading.items(component.get("podSets"), path + "/podSets"):
        yield _PodSet(
            replicas=reading.count(pod_set.get("replicas"), pod_set_path + "/replicas", default=1),
            path=reading.text(pod_set.get("path"), pod_set_path + "/path"),
            place=f"{pod_set_path}/path" if "path" in pod_set else pod_set_path,
        )


def _of_object(value: Object, path: str, declared: list[_PodSet], reading: Reading) -> Iterator[Template]:
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    prefix = name if isinstance(name, str) else ""
    inner = pod_templates.read_embedded(value, path, reading)
    if inner is None or inner.templates is None:
        found = _of_unknown_kind(value, path, declared, () if inner is None else inner.versions, reading)
    else:
        found = inner.templates
    for template in found:
        count = _NO_PODS if inner is not None and inner.is_template else template.count
        named = "-".join(filter(None, (prefix, template.name)))
        yield replace(
            template,
            name=named,
            count=count,
            inner_kind=template.inner_kind or _group_and_kind(value),
            inner_path=path + template.inner_path,
        )


def _group_and_kind(value: Object) -> tuple[str, str]:
    api_version, kind = (each if isinstance(each, str) else "" for each in (value.get("apiVersion"), value.get("kind")))
    return api_version.rpartition("/")[0], kind


def _of_unknown_kind(
    value: Object, path: str, declared: list[_PodSet], versions: tuple[str, ...], reading: Reading
) -> tuple[Template, ...]:
    """The templates that the component declares; `versions` are the known versions of its kind."""
    templates: dict[str, Template] = {}
    for pod_set in declared:
        pointer = _pointer(pod_set.path)
        target = None if pointer is None else _resolved(value, pointer)
        if pointer is None or not isinstance(target, dict):
            reading.unknown(pod_set.place, "it leads to no pod template of the object, as in template.spec.template")
        elif pointer in templates:
            reading.unknown(pod_set.place, "another pod set of the component has the same path")
        else:
            count = model.Count(minimum=pod_set.replicas, maximum=pod_set.replicas)
            templates[pointer] = pod_template(Place(target, path + pointer), reading, count=count)
    _tell_of_others(value, path, [template.path for template in templates.values()], versions, reading)
    return tuple(templates.values())


def _pointer(path: str) -> str | None:
    """The JSON Pointer into the object for a path as components write it; None for a malformed path."""
    matched = _PATH.fullmatch(path)
    if matched is None:
        return None
    return paths.join(paths.ROOT, *(step[1] or int(step[2]) for step in _STEP.finditer(matched[1])))


def _resolved(value: Object, pointer: str) -> paths.Json:
    try:
        return paths.resolve(dict(value), pointer)
    except LookupError:
        return None


def _tell_of_others(value: Object, path: str, known: list[str], versions: tuple[str, ...], reading: Reading) -> None:
    """Records the pod specs that no declared pod set leads to."""
    kind, api_version = (each if isinstance(each, str) else "" for each in (value.get("kind"), value.get("apiVersion")))
    full_name = f"{kind or 'object without kind'} ({api_version or 'no apiVersion'})"
    reason = f"unrecognised kind {full_name} holds a pod spec, which is not judged"
    if versions:
        reason = f"{kind} is known in {' and '.join(versions)}, not as {api_version}: its pod spec is not judged"
    found = pod_templates.find_pod_specs(dict(value))
    if found is None:
        reading.unknown(path, f"{full_name} is too large to be searched for pod specs: not judged")
    for pointer in found or ():
        if f"{path}{pointer}".removesuffix("/spec") not in known:
            reading.unknown(path + pointer, reason)


CODE: Final[Mapping[str, Code]] = {
    "AppWrapper.workload.codeflare.dev": {"templates": _app_wrapper},
}

SHAPE_PARTS: Final[Mapping[str, Any]] = {
    "units": BeforeValidator(_units),
    "with_problems": BeforeValidator(_with_problems),
}
