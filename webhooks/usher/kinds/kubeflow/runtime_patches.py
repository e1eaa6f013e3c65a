"""Changes that a TrainJob makes to the pod templates of its runtime.

The field has had three names: `podSpecOverrides` (2.0), `podTemplateOverrides` (2.1) and `runtimePatches` (since 2.2).
The operator merges each of them as kubectl merges patches, one after the other:
TR:pkg/runtime/core/trainingruntime.go, mergeRuntimePatches.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from usher import model, paths
from usher.dataclass import dataclass
from usher.reading.templates import ContainerPlace, Place, Template
from usher.reading.values import Reading

Object = Mapping[str, paths.Json]

MAX_PATCHES: Final = 64
"""The most patches that usher applies to one pod template; the API server takes 16."""

OURS: Final = "gpu-usher.io/usher"
"""The manager of usher's patch; Kueue and others have their own."""

_MOST_OF_MANAGERS: Final = 16
"""Patches that the API server accepts in one TrainJob."""

_DEPTH_OF_AFFINITY: Final = 3
"""Objects in objects; below them are lists, which a patch replaces as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A patch of one pod template."""

    metadata: Place
    spec: Place


def of_train_job(spec: Object, reading: Reading) -> dict[str, list[Patch]]:
    """The patches in a TrainJobSpec, in the order in which they apply, by the name of the replicated job."""
    found: dict[str, list[Patch]] = {}
    for job, patch in (*_overrides(spec, reading), *_runtime_patches(spec, reading)):
        patches = found.setdefault(job, [])
        if len(patches) < MAX_PATCHES:
            patches.append(patch)
        elif len(patches) == MAX_PATCHES:
            patches.append(patch)
            reading.unknown(patch.spec.path.rpartition("/")[0], f"more than {MAX_PATCHES} patches of one job: not read")
    return {job: patches[:MAX_PATCHES] for job, patches in found.items()}


def _overrides(spec: Object, reading: Reading) -> Iterator[tuple[str, Patch]]:
    for path, override in reading.items(spec.get("podSpecOverrides"), "/spec/podSpecOverrides"):
        patch = Patch(metadata=Place(None, path + "/metadata"), spec=Place(override, path))
        yield from ((job, patch) for job in _target_jobs(override, path, reading))
    for path, override in reading.items(spec.get("podTemplateOverrides"), "/spec/podTemplateOverrides"):
        patch = Patch(
            metadata=Place(override.get("metadata"), path + "/metadata"),
            spec=Place(override.get("spec"), path + "/spec"),
        )
        yield from ((job, patch) for job in _target_jobs(override, path, reading))


def _target_jobs(override: Object, path: str, reading: Reading) -> Iterator[str]:
    targets = reading.items(override.get("targetJobs"), path + "/targetJobs")
    yield from dict.fromkeys(reading.text(target.get("name"), target_path + "/name") for target_path, target in targets)


def _runtime_patches(spec: Object, reading: Reading) -> Iterator[tuple[str, Patch]]:
    for patch_path, patch in reading.items(spec.get("runtimePatches"), "/spec/runtimePatches"):
        job_set, path = _descend(patch, patch_path, reading, "trainingRuntimeSpec", "template", "spec")
        for job_path, job in reading.items(job_set.get("replicatedJobs"), path + "/replicatedJobs"):
            template, path_of_template = _descend(job, job_path, reading, "template", "spec", "template")
            yield (
                reading.text(job.get("name"), job_path + "/name"),
                Patch(
                    metadata=Place(template.get("metadata"), path_of_template + "/metadata"),
                    spec=Place(template.get("spec"), path_of_template + "/spec"),
                ),
            )


def _descend(value: Object, path: str, reading: Reading, *keys: str) -> tuple[Object, str]:
    for key in keys:
        path = f"{path}/{key}"
        value = reading.mapping(value.get(key), path)
    return value, path


def way(spec: Object, job: str) -> model.Way | None:
    """The way to the pod spec in usher's patch of a job; None if the TrainJob has no room for the patch.

    A TrainJob with fields of an earlier version runs on that version, which drops this patch without an error.
    """
    patches = spec.get("runtimePatches")
    if not job or spec.get("podSpecOverrides") is not None or spec.get("podTemplateOverrides") is not None:
        return None
    if isinstance(patches, list) and len(patches) >= _MOST_OF_MANAGERS:
        managers = [patch.get("manager") for patch in patches if isinstance(patch, dict)]
        if OURS not in managers:
            return None
    job_sets = ("spec", "runtimePatches", model.Keyed("manager", OURS), "trainingRuntimeSpec", "template", "spec")
    return (*job_sets, "replicatedJobs", model.Keyed("name", job), "template", "spec", "template", "spec")


def applied(template: Template, patches: list[Patch], reading: Reading) -> Template:
    """The template with the patches applied. Each field has the path of the last patch that sets it."""
    if not patches:
        return template
    spec = reading.mapping(*template.spec)
    metadata = template.metadata
    fields = dict(template.fields)

    for patch in patches:
        own, path = reading.mapping(*patch.spec), patch.spec.path
        metadata = _metadata(metadata, patch.metadata, reading)
        for field in ("nodeSelector", "affinity", "tolerations", "schedulingGates", "terminationGracePeriodSeconds"):
            if own.get(field) is not None:
                before = fields[field].value if field in fields else spec.get(field)
                merged = _added(before, own[field]) if field == "schedulingGates" else _merged(before, own[field])
                fields[field] = Place(merged, f"{path}/{field}")
    return replace(
        template,
        metadata=metadata,
        fields={**fields, **_volumes(Place(spec.get("volumes"), f"{template.spec.path}/volumes"), patches, reading)},
        containers=tuple(_containers(template.containers or (), patches, reading)),
    )


def _metadata(before: Place, patch: Place, reading: Reading) -> Place:
    """The merged labels and annotations, key by key."""
    own = reading.mapping(*patch)
    changes = {field: own[field] for field in ("labels", "annotations") if own.get(field) is not None}
    return Place(_merged(before.value, changes), patch.path) if changes else before


def _merged(before: object, own: object, depth: int = _DEPTH_OF_AFFINITY) -> object:
    """The merged value: objects merge by key, and a list replaces another."""
    if not isinstance(before, dict) or not depth:
        return own
    if isinstance(own, dict):
        return {**before, **{key: _merged(before.get(key), value, depth - 1) for key, value in own.items()}}
    return before if own is None else own


def _added(before: object, own: object) -> object:
    """The merged scheduling gates: they merge by name and have no other field."""
    return [*own, *before] if isinstance(own, list) and isinstance(before, list) else own


def _volumes(before: Place, patches: list[Patch], reading: Reading) -> dict[str, Place]:
    """The volumes, and the place of each by its number; empty if no patch has volumes. They merge by name."""
    lists = [(reading.mapping(*patch.spec).get("volumes"), f"{patch.spec.path}/volumes") for patch in patches]
    merged: dict[str, Place] = {}
    if all(value is None for value, _ in lists):
        return merged
    for value, path in ((before.value, before.path), *lists):
        for index, volume in enumerate(reading.sequence(value, path)):
            name = volume.get("name") if isinstance(volume, dict) else None
            key = name if isinstance(name, str) else f"{path}/{index}"
            merged[key] = Place(volume, f"{path}/{index}")
    volumes = list(merged.values())
    whole = Place([volume.value for volume in volumes], lists[-1][1])
    return {"volumes": whole, **{f"volumes/{number}": volume for number, volume in enumerate(volumes)}}


def _containers(
    containers: tuple[ContainerPlace, ...], patches: list[Patch], reading: Reading
) -> Iterator[ContainerPlace]:
    own: dict[str, list[Place]] = {}
    for patch in patches:
        spec = reading.mapping(*patch.spec)
        for field in ("initContainers", "containers"):
            for path, value in reading.items(spec.get(field), f"{patch.spec.path}/{field}"):
                own.setdefault(reading.text(value.get("name"), path + "/name"), []).append(Place(value, path))
    for container in containers:
        name = container.name or container.value.get("name")
        # No two containers of a pod have the same name.
        added = own.pop(name, []) if isinstance(name, str) else []
        patched = container
        for place in added:
            patched = _patched(patched, place, reading)
        yield patched


def _patched(container: ContainerPlace, patch: Place, reading: Reading) -> ContainerPlace:
    """The patched container: variables merge by name, mounts by path, and entries of the patch come later."""
    own, path = reading.mapping(*patch), patch.path
    if own.get("env") is not None:
        container = with_variables(container, [Place(own["env"], path + "/env")])
    value: dict[str, Any] = dict(container.value)
    places = dict(container.field_places)
    if own.get("securityContext") is not None:
        value["securityContext"] = _merged(value.get("securityContext"), own["securityContext"])
        changed = reading.mapping(own["securityContext"], path + "/securityContext")
        places |= {f"securityContext/{field}": f"{path}/securityContext/{field}" for field in changed}
    added = reading.sequence(own.get("volumeMounts"), path + "/volumeMounts")
    if added:
        mounts = value.get("volumeMounts")
        before = mounts if isinstance(mounts, list) else []
        value["volumeMounts"] = [*before, *added]
        places |= {
            f"volumeMounts/{len(before) + number}": f"{path}/volumeMounts/{number}" for number in range(len(added))
        }
    return container._replace(value=value, field_places=places)


def with_variables(container: ContainerPlace, added: list[Place]) -> ContainerPlace:
    """The container with more lists of variables."""
    before = container.environment
    if before is None:
        before = (Place(container.value.get("env"), container.path + "/env"),)
    return container._replace(environment=(*before, *added))
