"""workload.codeflare.dev: AppWrapper, which holds whole objects of any kind."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from usher import model, paths
from usher.kinds import kind as kinds_kind
from usher.kinds.kind import Kind, Kueue, KueueUnit, Pods, Starts, api, scheduled
from usher.kinds.reading import pod_templates
from usher.kinds.reading.pod_templates import pod_template
from usher.kinds.reading.templates import Place, Template
from usher.kinds.reading.values import Reading

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


KINDS: list[Kind] = [
    Kind(
        **api("workload.codeflare.dev", "AppWrapper", "appwrappers", "v1beta2"),
        owns_any_kind=True,
        finished=kinds_kind.finished_by_field("/phase", "Succeeded", "Failed"),
        pods=Pods(
            templates=_app_wrapper,
            template_paths=("those of the objects at spec.components[].template", "spec.components[].podSets[].path"),
            counted="as the objects themselves count; `podSets[].replicas` (1 if missing) for objects of unknown kinds",
            source="AW:api/v1beta2/appwrapper_types.go, AW:pkg/utils/utils.go",
            **scheduled(KueueUnit.WHOLE, Starts.TOGETHER, shrinks=True, minimum_from=""),
            role=model.Role.BATCH,
            runs_any_program=True,
            suspend_path="/spec/suspend",
            kueue=Kueue.DEFAULT,
            queue_label_path="/metadata",
            lifecycle_places=model.LifecyclePlaces(managed_by="/spec/managedBy"),
            volcano="what makes a gang of the object inside",
            changes="the pod templates of the objects inside",
        ),
    ),
]
