"""Kueue's objects for tests, one function a kind. Nothing is set that a test does not say."""

from collections.abc import Mapping, Sequence

from builders import GPU
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
