"""The input document of the policies: what Rego sees of a workload and of usher.yaml.

It holds what rules need and nothing else. No name of the object, so that a thousand pods of one job give the same
document; no environment variables, labels and annotations but the few that rules read, because others may hold secrets;
of the configuration only the slice that applies to this namespace. Field names are written as in manifests.

`policies/schemas/input.json` is generated from these types, and `opa check` holds every rule to it.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NotRequired  # pydantic reads the standard one only from Python 3.12 on

import orjson
from typing_extensions import TypedDict

from usher import model, quantities
from usher.accelerators.vocabulary import Vocabulary
from usher.config import models
from usher.policy import nodes, site
from usher.policy.nodes import Nodes

# The families of labels and annotations that rules read. All others differ from pod to pod of one job, or hold what is
# nobody's business: kubectl keeps whole manifests in one.
READ_KEYS = ("kueue.x-k8s.io/", "scheduling.k8s.io/", "scheduling.volcano.sh/", "volcano.sh/")


class Quantity(TypedDict):
    """`text` is canonical, so equal quantities have equal texts; `value` is rounded up."""

    text: str
    value: int
    whole: bool


class Resource(TypedDict):
    """What a container says of one accelerator resource."""

    requests: NotRequired[Quantity]
    limits: NotRequired[Quantity]
    places: NotRequired[dict[str, str]]
    """Paths of these two, in kinds that keep them elsewhere than in `resources` of a container."""


class Variable(TypedDict):
    """`value` is absent when it comes from elsewhere."""

    path: str
    value: NotRequired[str]


class Container(TypedDict):
    name: str
    path: str
    type: str
    asksAccelerators: bool
    accelerators: dict[str, Resource]
    """Also those that it asks 0 of, or of which it gets none because requests and limits contradict each other."""
    lookalikes: NotRequired[dict[str, str]]
    """Resources that are in no vocabulary but look like accelerators, with the path of each."""
    environment: dict[str, Variable]
    """Of several entries of one name the last, which is the one that counts."""


class Pods(TypedDict):
    """`maximum` is absent when nothing bounds it."""

    minimum: int
    maximum: NotRequired[int]


class PodSet(Nodes):
    name: str
    path: str
    metadataPath: str
    specPath: str
    pods: Pods
    labels: dict[str, str]
    annotations: dict[str, str]
    schedulerName: str
    priorityClassName: str
    runtimeClassName: str
    nodeName: str
    asksAccelerators: bool
    accelerators: dict[str, int]
    deviceClaims: int
    ranksInheritEnvironment: bool
    containers: list[Container]


class Workload(TypedDict):
    group: str
    kind: str
    namespace: str
    role: str
    owned: bool
    suspended: bool
    labels: dict[str, str]
    annotations: dict[str, str]
    asksAccelerators: bool
    pods: Pods
    gangNative: bool
    queueLabelPath: NotRequired[str]
    queueLabels: NotRequired[dict[str, str]]
    """The labels at that place, where it is another than the object's own metadata."""
    gangPolicyPath: NotRequired[str]


class Input(TypedDict):
    workload: Workload
    podSets: list[PodSet]
    site: site.Site


class Documents:
    """Builds the input documents for one configuration."""

    def __init__(self, config: models.Config, vocabulary: Vocabulary) -> None:
        self._sites = site.Sites(config)
        self._all_nodes = nodes.AllNodes(config, vocabulary)

    def build(self, workload: model.Workload) -> bytes:
        """The input document as JSON."""
        document: Input = {
            "workload": _workload(workload),
            "podSets": [self._pod_set(pod_set) for pod_set in workload.pod_sets],
            "site": self._sites.of(workload.namespace, workload.kind),
        }
        return orjson.dumps(document)

    def _pod_set(self, pod_set: model.PodSet) -> PodSet:
        return {
            **self._all_nodes.of(pod_set),
            "name": pod_set.name,
            "path": pod_set.path,
            "metadataPath": pod_set.metadata_path,
            "specPath": pod_set.spec_path,
            "pods": _pods(pod_set.count),
            "labels": _read(pod_set.labels),
            "annotations": _read(pod_set.annotations),
            "schedulerName": pod_set.scheduler_name,
            "priorityClassName": pod_set.priority_class_name,
            "runtimeClassName": pod_set.runtime_class_name,
            "nodeName": pod_set.node_name,
            "asksAccelerators": pod_set.asks_accelerators,
            "accelerators": {name: quantity.value for name, quantity in pod_set.accelerators.items()},
            "deviceClaims": pod_set.device_claims,
            "ranksInheritEnvironment": pod_set.ranks_inherit_environment,
            "containers": [_container(container) for container in pod_set.containers],
        }


def _workload(workload: model.Workload) -> Workload:
    result: Workload = {
        "group": workload.group,
        "kind": workload.kind,
        "namespace": workload.namespace,
        "role": workload.role.value,
        "owned": workload.owner is not None,
        "suspended": workload.suspended,
        "labels": _read(workload.labels),
        "annotations": _read(workload.annotations),
        "asksAccelerators": workload.asks_accelerators,
        "pods": _pods(workload.pods),
        "gangNative": workload.gang_native,
    }
    if workload.queue_label_path is not None:
        result["queueLabelPath"] = workload.queue_label_path
        if workload.queue_label_path != "/metadata":
            result["queueLabels"] = _read(workload.queue_labels)
    if workload.gang_policy_path is not None:
        result["gangPolicyPath"] = workload.gang_policy_path
    return result


def _container(container: model.Container) -> Container:
    result: Container = {
        "name": container.name,
        "path": container.path,
        "type": container.type.value,
        "asksAccelerators": container.asks_accelerators,
        "accelerators": {name: _resource(container, name) for name in container.accelerators},
        "environment": {variable.name: _variable(variable) for variable in container.environment},
    }
    if container.lookalikes:
        result["lookalikes"] = {name: container.first_path(name) for name in container.lookalikes}
    return result


def _resource(container: model.Container, name: str) -> Resource:
    result: Resource = {}
    if name in container.requests:
        result["requests"] = _quantity(container.requests[name])
    if name in container.limits:
        result["limits"] = _quantity(container.limits[name])
    if container.places:
        result["places"] = {
            name_of_list: container.resource_path(name_of_list, name) for name_of_list in container.places
        }
    return result


@lru_cache(maxsize=1024)
def _quantity(quantity: quantities.Quantity) -> Quantity:
    return {"text": str(quantity), "value": quantity.value, "whole": quantity.is_whole}


def _variable(variable: model.EnvironmentVariable) -> Variable:
    result: Variable = {"path": variable.path}
    if variable.value is not None:
        result["value"] = variable.value
    return result


def _pods(count: model.Count) -> Pods:
    if count.maximum is None:
        return {"minimum": count.minimum}
    return {"minimum": count.minimum, "maximum": count.maximum}


def _read(entries: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in entries.items() if key.startswith(READ_KEYS)}
