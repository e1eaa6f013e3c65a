"""Custom resource definitions of the workload kinds: the published ones, or stand-ins that take any object."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from e2e.cluster import Cluster, Object, condition, wait_until

PUBLISHED = Path(__file__).parents[3] / "shared" / "crds"
"""`<group>/<plural>.yaml`, beside the checkout; not part of the project."""

needs_published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="the published CRDs are not in ../shared/crds beside the checkout"
)

_API_VERSION = "apiextensions.k8s.io/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """What a permissive definition of a kind needs; all kinds here are namespaced."""

    kind: str
    version: str


STAND_INS: Mapping[str, StandIn] = {
    "batch.volcano.sh/jobs": StandIn(kind="Job", version="v1alpha1"),
    "jobset.x-k8s.io/jobsets": StandIn(kind="JobSet", version="v1alpha2"),
    "kueue.x-k8s.io/localqueues": StandIn(kind="LocalQueue", version="v1beta2"),
    "kubeflow.org/jaxjobs": StandIn(kind="JAXJob", version="v1"),
    "kubeflow.org/mpijobs": StandIn(kind="MPIJob", version="v2beta1"),
    "kubeflow.org/paddlejobs": StandIn(kind="PaddleJob", version="v1"),
    "kubeflow.org/pytorchjobs": StandIn(kind="PyTorchJob", version="v1"),
    "kubeflow.org/tfjobs": StandIn(kind="TFJob", version="v1"),
    "kubeflow.org/xgboostjobs": StandIn(kind="XGBoostJob", version="v1"),
    "leaderworkerset.x-k8s.io/leaderworkersets": StandIn(kind="LeaderWorkerSet", version="v1"),
    "ray.io/rayclusters": StandIn(kind="RayCluster", version="v1"),
    "ray.io/raycronjobs": StandIn(kind="RayCronJob", version="v1"),
    "ray.io/rayjobs": StandIn(kind="RayJob", version="v1"),
    "ray.io/rayservices": StandIn(kind="RayService", version="v1"),
}
"""By `group/plural`, at the version that the published definition stores."""


def install(cluster: Cluster, names: Iterable[str], *, published: Path = PUBLISHED, version: str = "") -> None:
    """Defines the kinds `names` (`group/plural`) and waits until objects of them can be created.

    A name that is installed already is left as it is. With `version` the kinds have that one alone.

    Raises:
        KeyError: neither is there a file in `published` nor an entry in `STAND_INS`.
    """
    new = [name for name in names if not _is_defined(cluster, name)]
    for name in new:
        _create(cluster, name, published=published, version=version)
    for name in new:
        wait_until_served(cluster, name)


def _create(cluster: Cluster, name: str, *, published: Path, version: str) -> None:
    file = published / f"{name}.yaml"
    # Create, not apply: the largest do not fit into kubectl's annotation, and nobody needs their fields tracked.
    definition = file.read_text() if file.is_file() else json.dumps(_stand_in(name))
    if version:
        parsed = yaml.safe_load(definition)
        only = next(each for each in parsed["spec"]["versions"] if each["name"] == version)
        parsed["spec"]["versions"] = [{**only, "served": True, "storage": True}]
        definition = json.dumps(parsed)
    cluster.request("POST", f"/apis/{_API_VERSION}/customresourcedefinitions", body=definition, content="yaml")


def _is_defined(cluster: Cluster, name: str) -> bool:
    return cluster.exists("CustomResourceDefinition", _object_name(name), api_version=_API_VERSION)


def wait_until_served(cluster: Cluster, name: str) -> None:
    """Waits until objects of the kind `name` (`group/plural`), which is defined, can be created."""
    definition = wait_until(lambda: _established(cluster, name), description=f"{name} is Established")
    group, _, plural = name.partition("/")
    version = next(each["name"] for each in definition["spec"]["versions"] if each["storage"])
    # The server lists the kind for clients a moment after it has established it.
    wait_until(
        lambda: plural in _served(cluster, f"{group}/{version}"), description=f"{name} is served in {group}/{version}"
    )


def _established(cluster: Cluster, name: str) -> Object | None:
    definition = cluster.get("CustomResourceDefinition", _object_name(name), api_version=_API_VERSION)
    return definition if condition(definition, "Established").get("status") == "True" else None


def _object_name(name: str) -> str:
    group, _, plural = name.partition("/")
    return f"{plural}.{group}"


def _served(cluster: Cluster, api_version: str) -> set[str]:
    return {resource["name"] for resource in cluster.request("GET", f"/apis/{api_version}").body["resources"]}


def _stand_in(name: str) -> Object:
    if name not in STAND_INS:
        raise KeyError(f"no published definition of {name}, and no stand-in: add one to STAND_INS in {__file__}")
    group, _, plural = name.partition("/")
    kind, version = STAND_INS[name].kind, STAND_INS[name].version
    anything = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": _API_VERSION,
        "kind": "CustomResourceDefinition",
        "metadata": {"name": _object_name(name)},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
            "versions": [{"name": version, "served": True, "storage": True, "schema": anything}],
        },
    }
