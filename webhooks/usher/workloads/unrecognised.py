"""Objects of unknown kinds, and of known kinds in unknown versions: usher names their pod specs and does not judge
them.
"""

from collections.abc import Mapping
from typing import Final

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.kinds.kind import Kind
from usher.reading import search
from usher.reading.values import Reading
from usher.workloads import identity

_CHARTS: Final = frozenset({
    ("argoproj.io", "Application"),
    ("argoproj.io", "ApplicationSet"),
    ("helm.toolkit.fluxcd.io", "HelmRelease"),
})  # fmt: skip
"""Kinds that hold the values of a Helm chart. A controller renders the chart, and usher can only judge the result."""

_GPUS: Final = frozenset({"gpu", "gpus"})
"""Words for GPUs in kinds of operators that choose the resource themselves (DynamoGraphDeployment v1alpha1,
VLLMRuntime).
"""

_MACHINES: Final[Mapping[tuple[str, str], str]] = {
    ("kaito.sh", "InferenceSet"): "/spec/template/resource",
    ("kaito.sh", "RAGEngine"): "/spec/compute",
    ("kaito.sh", "Workspace"): "/resource",
}
"""Kinds whose pods get the accelerators of a machine type, each with the field for it (KAITO: api/v1beta1)."""


def read(value: paths.Object, *, known: Kind | None, namespace: str, vocabulary: Vocabulary) -> model.Workload | None:
    """A workload for an unknown kind that holds pod templates or requests accelerators; rules do not judge it.

    A known kind in an unknown version is treated in the same way: it makes pods, wherever this version has its
    templates.
    """
    group, version, kind = identity.group_version_kind(value)
    found = search.pod_specs(value)
    full_name = f"{kind or 'object without kind'} ({'/'.join(filter(None, (group, version))) or 'no apiVersion'})"
    reason = f"unrecognised kind {full_name} holds a pod spec, which is not judged"
    if found == [] and known is None:
        found = search.resource_requests(value, lambda name: name in _GPUS or vocabulary.contains(name))
        reason = f"unrecognised kind {full_name} asks for accelerators, which is not judged"
    if found and (group, kind) in _CHARTS:
        reason = (
            f"{full_name} has values for a chart that asks for accelerators: render the chart, "
            "e.g. helm template | usher check -"
        )
    machines = _MACHINES.get((group, kind), "")
    if found == [] and machines and _holds(value, machines):
        found = [machines]
        reason = f"unrecognised kind {full_name} gets the accelerators of its machines, which is not judged"
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
        name=identity.name(metadata, reading, value),
        labels={},
        annotations={},
        role=model.Role.UNKNOWN,
        owner=None,
        deleting=bool(reading.text(metadata.get("deletionTimestamp"), "/metadata/deletionTimestamp")),
        suspended=False,
        pod_sets=(),
        gang=model.Gang(wanted=False),
        exists=bool(paths.metadata(value).get("uid")),
        unknowns=reading.found(),
    )


def _holds(value: paths.Object, pointer: str) -> bool:
    try:
        return paths.resolve(value, pointer) is not None
    except LookupError:
        return False
