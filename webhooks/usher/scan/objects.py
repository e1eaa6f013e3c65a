"""Finds the Kubernetes objects in a document: expands Lists and recognises values that are not objects."""

from collections.abc import Iterator

from usher import paths
from usher.config import models
from usher.kinds import registry
from usher.kinds.kubeflow_pipelines import compiled as kubeflow_pipelines_compiled
from usher.kinds.reading import pod_templates

_OWN_GROUP = models.API_VERSION.partition("/")[0]


def flatten(value: paths.Json, *, prefix: str = paths.ROOT) -> Iterator[tuple[str, paths.Json]]:
    """The value itself, or the items if it is a List, with their pointers in the document.

    Items of a typed list (PodList) may lack kind and apiVersion, as in lists of the API server. They take them from the
    list.
    """
    if not isinstance(value, dict) or not is_list(value):
        yield prefix, value
        return
    kind, version = str(value["kind"]), value.get("apiVersion")
    items = value["items"]
    for index, item in enumerate(items if isinstance(items, list) else []):
        if isinstance(item, dict) and kind != "List" and "kind" not in item:
            item = {"apiVersion": version, "kind": kind.removesuffix("List"), **item}  # noqa: PLW2901 - the same item, complete
        yield from flatten(item, prefix=f"{prefix}/items/{index}")


def completed(before: paths.Object, value: paths.Json) -> paths.Object | None:
    """The object before a document, completed by it: the settings of a compiled pipeline are in the next document."""
    if not (
        isinstance(value, dict)
        and kubeflow_pipelines_compiled.is_platforms(value)
        and kubeflow_pipelines_compiled.is_pipeline(before)
    ):
        return None
    return kubeflow_pipelines_compiled.with_platforms(before, value)


def exists(value: paths.Object) -> bool:
    """Whether an object comes from a cluster: only the API server gives a uid."""
    return bool(paths.text(paths.metadata(value).get("uid")))


def is_list(value: paths.Object) -> bool:
    """Whether `kubectl` reads a value as a list: by the name of its kind, and `items` at the top."""
    kind = value.get("kind")
    return isinstance(kind, str) and kind.endswith("List") and isinstance(value.get("items"), list)


def why_not_object(value: paths.Json) -> str:
    """Why a value is not a Kubernetes object; empty for an object, and for a compiled pipeline."""
    if kubeflow_pipelines_compiled.is_pipeline(value):
        return ""
    if not isinstance(value, dict):
        return "not a Kubernetes object: no mapping with apiVersion and kind"
    missing = [key for key in ("apiVersion", "kind") if not isinstance(value.get(key), str) or not value[key]]
    return f"not a Kubernetes object: no {' and no '.join(missing)}" if missing else ""


def is_own(value: paths.Object) -> bool:
    """Whether it is a file of gpu-usher (usher.yaml, a report) and not an object of a cluster like a GPUQuota."""
    group, _, kind = kubeflow_pipelines_compiled.group_version_kind(value)
    return group == _OWN_GROUP and (group, kind) not in registry.SHAPES


def meant_as_workload(value: paths.Json) -> bool:
    """Whether a value that is not a Kubernetes object was probably meant to be one: it has a kind and a pod spec."""
    return isinstance(value, dict) and bool(value.get("kind")) and bool(pod_templates.find_pod_specs(value))
