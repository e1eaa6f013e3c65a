"""Queues of Kueue and of Volcano, with what they rest on, one function a kind."""

from collections.abc import Mapping, Sequence

from builders.objects import GPU, JsonValue, Metadata, custom
from usher import paths

Limits = tuple[str | int | None, str | int | None]
"""borrowingLimit and lendingLimit."""

NAMESPACE = "research"


def quota(
    nominal: paths.Json, *, borrowing: paths.Json = None, lending: paths.Json = None, resource: str = GPU
) -> paths.Object:
    """The quota of one resource; limits of None are left out."""
    found: paths.Object = {"name": resource, "nominalQuota": nominal}
    if borrowing is not None:
        found["borrowingLimit"] = borrowing
    if lending is not None:
        found["lendingLimit"] = lending
    return found


def group(*flavors: tuple[str, Sequence[paths.Object]]) -> paths.Object:
    """A resource group with flavors, which cover the resources of the first of them."""
    first = flavors[0][1] if flavors else ()
    return {
        "coveredResources": [each["name"] for each in first],
        "flavors": [{"name": name, "resources": list(quotas)} for name, quotas in flavors],
    }


def gpu_group(
    nominal: paths.Json, *, flavor: str = "a100", borrowing: paths.Json = None, lending: paths.Json = None
) -> paths.Object:
    """A resource group of GPUs of one flavor."""
    return group((flavor, [quota(nominal, borrowing=borrowing, lending=lending)]))


def cluster_queue(
    name: str, *groups: paths.Object, version: str = "v1beta2", cohort: str | None = None, **spec: paths.Json
) -> paths.Object:
    """A ClusterQueue that selects all namespaces, unless `namespaceSelector` says otherwise."""
    fields: paths.Object = {"namespaceSelector": {}, "resourceGroups": list(groups), **spec}
    if cohort is not None:
        fields["cohort" if version == "v1beta1" else "cohortName"] = cohort
    return {
        "apiVersion": f"kueue.x-k8s.io/{version}",
        "kind": "ClusterQueue",
        "metadata": {"name": name},
        "spec": fields,
    }


def local_queue(
    name: str, cluster_queue: str | None = None, *, namespace: str = NAMESPACE, **spec: paths.Json
) -> paths.Object:
    """A LocalQueue of the ClusterQueue that has its name, unless another is given."""
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterQueue": cluster_queue or name, **spec},
    }


def cohort(name: str, *groups: paths.Object, parent: str | None = None) -> paths.Object:
    spec: paths.Object = {"resourceGroups": list(groups)}
    if parent is not None:
        spec["parentName"] = parent
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": name}, "spec": spec}


def flavor(name: str, *, labels: Mapping[str, str] | None = None, **spec: paths.Json) -> paths.Object:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": name},
        "spec": {"nodeLabels": dict(labels or {}), **spec},
    }


def topology(name: str, *levels: str) -> paths.Object:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Topology",
        "metadata": {"name": name},
        "spec": {"levels": [{"nodeLabel": level} for level in levels]},
    }


def configuration(text: str) -> paths.Object:
    """The ConfigMap that Kueue reads."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "kueue-manager-config", "namespace": "kueue-system"},
        "data": {"controller_manager_config.yaml": text},
    }


def volcano_queue(
    name: str = "research",
    *,
    parent: str = "",
    state: str = "Open",
    labels: Mapping[str, str] | None = None,
    **capability: JsonValue,
) -> paths.Object:
    """A Queue of Volcano; `gpu` in its capability is nvidia.com/gpu. Without a state it has no status."""
    bounds = {GPU if key == "gpu" else key: value for key, value in capability.items()}
    spec: dict[str, JsonValue] = {"weight": 1, "capability": bounds}
    if parent:
        spec["parent"] = parent
    metadata = Metadata(name=name, namespace=None)
    if labels is not None:
        metadata["labels"] = labels
    value = custom("scheduling.volcano.sh/v1beta1", "Queue", spec, **metadata)
    return {**value, "status": {"state": state}} if state else value
