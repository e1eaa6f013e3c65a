"""The identity of an object, as it names it itself: group, version, kind, name, controlling owner."""

from collections.abc import Mapping

from usher import model, paths
from usher.kinds import kubeflow_pipelines
from usher.kinds.reading.values import Reading


def group_version_kind(value: paths.Object) -> tuple[str, str, str]:
    """The group, version and kind of an object; empty if missing. For a compiled pipeline, they follow from
    its form.
    """
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if api_version is None and kind is None:
        return kubeflow_pipelines.group_version_kind(value)
    group, _, version = (api_version if isinstance(api_version, str) else "").rpartition("/")
    return group, version, kind if isinstance(kind, str) else ""


def without_pods(value: paths.Object, *, namespace: str, name: str) -> model.Workload:
    """A workload with the identity of an object and no pods."""
    group, version, kind = group_version_kind(value)
    return model.Workload(
        group=group,
        version=version,
        kind=kind,
        namespace=namespace,
        name=name,
        labels={},
        annotations={},
        role=model.Role.UNKNOWN,
        owner=None,
        deleting=False,
        suspended=False,
        pod_sets=(),
        gang=model.Gang(wanted=False),
    )


def controlling_owner(metadata: Mapping[str, paths.Json], reading: Reading) -> model.Owner | None:
    """The controlling owner that an object names. Any user can write one, so callers decide whether it counts."""
    found = None
    for path, reference in reading.items(metadata.get("ownerReferences"), "/metadata/ownerReferences"):
        kind = reading.text(reference.get("kind"), path + "/kind")
        if reading.flag(reference.get("controller"), path + "/controller") and found is None:
            group = reading.text(reference.get("apiVersion"), path + "/apiVersion").rpartition("/")[0]
            found = model.Owner(group=group, kind=kind, name=reading.text(reference.get("name"), path + "/name"))
    return found


def object_name(metadata: Mapping[str, paths.Json], reading: Reading, value: paths.Object) -> str:
    """The name of an object with these metadata; a compiled pipeline has its name elsewhere.

    A name with a template variable is unknown. At CREATE an object may only have a prefix of its future name; then the
        name is the prefix and a `*`.
    """
    name = reading.text(metadata.get("name"), "/metadata/name")
    prefix = reading.text(metadata.get("generateName"), "/metadata/generateName")
    for field, text in (("name", name), ("generateName", prefix)):
        if "${" in text or "{{" in text:
            reading.unknown(f"/metadata/{field}", "the name has a variable of a template; render the template first")
    return name or (f"{prefix}*" if prefix else kubeflow_pipelines.name(value))
