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
    pod_sets = tuple(
        pod_set(template, reading=reading, vocabulary=vocabulary) for template in known.templates(value, reading)
    )
    if pod_sets and pod_sets[0].path == paths.ROOT:
        # A Pod is its own template, whose metadata have been read.
        labels, annotations = pod_sets[0].labels, pod_sets[0].annotations
    else:
        labels = reading.strings(metadata.get("labels"), "/metadata/labels")
        annotations = reading.strings(metadata.get("annotations"), "/metadata/annotations")
    queue_labels = _queue_labels(value, labels, known, reading)
    return model.Workload(
        group=group,
        version=version,
        kind=kind_name,
        namespace=reading.text(metadata.get("namespace"), "/metadata/namespace") or namespace,
        name=_name(metadata, reading),
        labels=labels,
        annotations=annotations,
        role=_role(labels, known, reading),
        owner_kind=_owner_kind(metadata, reading),
        deleting=bool(reading.text(metadata.get("deletionTimestamp"), "/metadata/deletionTimestamp")),
        suspended=_suspended(value, known, reading),
        pod_sets=pod_sets,
        unknowns=reading.found(),
        queue_label_path=known.queue_label_path,
        queue_labels=queue_labels,
        gang_policy_path=known.gang_policy_path,
        gang_native=known.gang_native,
    )


def _group_version(value: Mapping[str, paths.Json]) -> tuple[str, str]:
    group, _, version = _string(value.get("apiVersion")).rpartition("/")
    return group, version


def _unrecognised(value: paths.Object, *, known: Kind | None, namespace: str) -> model.Workload | None:
    """An unknown kind is judged by nobody, so one that holds pod templates is named instead of passed.

    So is a known kind in a version that is not: it makes pods, wherever that version keeps their templates.
    """
    group, version = _group_version(value)
    kind = _string(value.get("kind"))
    found = search.pod_specs(value)
    full_name = f"{kind or 'object without kind'} ({'/'.join(filter(None, (group, version))) or 'no apiVersion'})"
    reason = f"unrecognised kind {full_name} holds a pod spec, which is not judged"
    if found is None:
        found, reason = [paths.ROOT], f"{full_name} is too large to be searched for pod specs: not judged"
    if known is not None:
        found = found or ["/apiVersion" if "apiVersion" in value else paths.ROOT]
        here = f"in {version}" if version else "without a version"
        reason = f"{kind} is known in {' and '.join(known.versions)}, not {here}: not judged"
    if not found:
        return None
    reading = Reading()
    for path in found:
        reading.unknown(path, reason)
    metadata = reading.mapping(value.get("metadata"), "/metadata")
    return model.Workload(
        group=group,
        version=version,
        kind=kind,
        namespace=reading.text(metadata.get("namespace"), "/metadata/namespace") or namespace,
        name=_name(metadata, reading),
        labels={},
        annotations={},
        role=model.Role.UNKNOWN,
        owner_kind="",
        deleting=bool(reading.text(metadata.get("deletionTimestamp"), "/metadata/deletionTimestamp")),
        suspended=False,
        pod_sets=(),
        unknowns=reading.found(),
    )


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _name(metadata: Mapping[str, paths.Json], reading: Reading) -> str:
    """At CREATE an object may have only the prefix of its name to be, which is shown with a `*` behind it."""
    name = reading.text(metadata.get("name"), "/metadata/name")
    prefix = reading.text(metadata.get("generateName"), "/metadata/generateName")
    return name or (f"{prefix}*" if prefix else "")


def _role(labels: Mapping[str, str], kind: Kind, reading: Reading) -> model.Role:
    label = labels.get(ROLE_LABEL)
    if not label:
        return kind.role
    try:
        return model.Role(label)
    except ValueError:
        roles = ", ".join(model.Role)
        reading.unknown(paths.join("/metadata/labels", ROLE_LABEL), f"no such role; the roles are {roles}")
        return kind.role


def _owner_kind(metadata: Mapping[str, paths.Json], reading: Reading) -> str:
    controllers = [
        reading.text(owner.get("kind"), path + "/kind")
        for path, owner in reading.items(metadata.get("ownerReferences"), "/metadata/ownerReferences")
        if reading.flag(owner.get("controller"), path + "/controller")
    ]
    return controllers[0] if controllers else ""


def _queue_labels(value: paths.Object, labels: Mapping[str, str], kind: Kind, reading: Reading) -> Mapping[str, str]:
    path = kind.queue_label_path
    if path is None:
        return {}
    if path == "/metadata":
        return labels
    metadata = _descend(value, path, reading)
    return reading.strings(metadata.get("labels"), path + "/labels")


def _suspended(value: paths.Object, kind: Kind, reading: Reading) -> bool:
    if kind.suspend_path is None:
        return False
    parent, _, field = kind.suspend_path.rpartition("/")
    return reading.flag(_descend(value, parent, reading).get(field), kind.suspend_path)


def _descend(value: Mapping[str, paths.Json], pointer: str, reading: Reading) -> Mapping[str, paths.Json]:
    """The object at a pointer, empty where there is none."""
    path = paths.ROOT
    for key in paths.split(pointer):
        path = paths.join(path, key)
        value = reading.mapping(value.get(key), path)
    return value
