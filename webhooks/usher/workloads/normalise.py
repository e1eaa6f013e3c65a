"""Any object -> Workload. Pure, never raises on what a manifest holds, never changes it."""

from collections.abc import Mapping

from usher import model, paths
from usher.workloads import accelerators, search
from usher.workloads.kinds import Kind
from usher.workloads.reading import Reading
from usher.workloads.registry import BY_GROUP_AND_KIND
from usher.workloads.templates import pod_set

ROLE_LABEL = "gpu-usher.io/role"


def normalise(
    value: paths.Object, *, vocabulary: accelerators.Vocabulary, namespace: str = ""
) -> model.Workload | None:
    """The workload that an object is; None for one that makes no pods.

    Args:
        value: the object as JSON, with `apiVersion` and `kind`.
        vocabulary: which resources are accelerators.
        namespace: the namespace to assume where the object names none (admission knows it, a file may not).
    """
    group, version = _group_version(value)
    kind_name = _string(value.get("kind"))
    known = BY_GROUP_AND_KIND.get((group, kind_name))
    if known is None or version not in known.versions:
        return _unrecognised(value, known=known, namespace=namespace)
    reading = Reading()
    metadata = reading.mapping(value.get("metadata"), "/metadata")
    labels = reading.strings(metadata.get("labels"), "/metadata/labels")
    pod_sets = tuple(
        pod_set(template, reading=reading, vocabulary=vocabulary) for template in known.templates(value, reading)
    )
    return model.Workload(
        group=group,
        version=version,
        kind=kind_name,
        namespace=_string(metadata.get("namespace")) or namespace,
        name=_string(metadata.get("name")) or _generated(metadata),
        labels=labels,
        annotations=reading.strings(metadata.get("annotations"), "/metadata/annotations"),
        role=_role(labels, known),
        owner_kind=_owner_kind(metadata, reading),
        deleting=metadata.get("deletionTimestamp") is not None,
        suspended=_suspended(value, known),
        pod_sets=pod_sets,
        unknowns=tuple(dict.fromkeys(reading.unknowns)),
        queue_label_path=known.queue_label_path,
        gang_policy_path=known.gang_policy_path,
        gang_native=known.gang_native,
    )


def _group_version(value: Mapping[str, paths.Json]) -> tuple[str, str]:
    group, _, version = _string(value.get("apiVersion")).rpartition("/")
    return group, version


def _unrecognised(value: paths.Object, *, known: Kind | None, namespace: str) -> model.Workload | None:
    """An unknown kind is judged by nobody, so one that holds pod templates is named instead of passed."""
    group, version = _group_version(value)
    kind = _string(value.get("kind"))
    found = search.pod_specs(value)
    if not found:
        return None
    full_name = f"{kind or 'object without kind'} ({'/'.join(filter(None, (group, version))) or 'no apiVersion'})"
    reason = f"unrecognised kind {full_name} holds a pod spec, which is not judged"
    if known is not None:
        reason = f"{kind} is known in {'/'.join(known.versions)}, not in {version or 'no version'}: not judged"
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return model.Workload(
        group=group,
        version=version,
        kind=kind,
        namespace=_string(metadata.get("namespace")) or namespace,
        name=_string(metadata.get("name")) or _generated(metadata),
        labels={},
        annotations={},
        role=model.Role.UNKNOWN,
        owner_kind="",
        deleting=metadata.get("deletionTimestamp") is not None,
        suspended=False,
        pod_sets=(),
        unknowns=tuple(model.Unknown(path=path, reason=reason) for path in found),
    )


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _generated(metadata: Mapping[str, paths.Json]) -> str:
    """At CREATE an object may have only the prefix of its name to be."""
    prefix = _string(metadata.get("generateName"))
    return f"{prefix}*" if prefix else ""


def _role(labels: Mapping[str, str], kind: Kind) -> model.Role:
    try:
        return model.Role(labels[ROLE_LABEL])
    except (KeyError, ValueError):
        return kind.role


def _owner_kind(metadata: Mapping[str, paths.Json], reading: Reading) -> str:
    for _, owner in reading.items(metadata.get("ownerReferences"), "/metadata/ownerReferences"):
        if owner.get("controller") is True:
            return _string(owner.get("kind"))
    return ""


def _suspended(value: paths.Json, kind: Kind) -> bool:
    if kind.suspend_path is None:
        return False
    try:
        return paths.resolve(value, kind.suspend_path) is True
    except LookupError:
        return False
