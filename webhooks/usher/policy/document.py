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
from usher.config import models
from usher.policy import site
from usher.scheduling import taints
from usher.scheduling.placement import Placement, placement
from usher.scheduling.placement import PoolFit as PlacementFit
from usher.workloads.accelerators import Vocabulary

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
    environment: dict[str, Variable]
    """Of several entries of one name the last, which is the one that counts."""


class Pods(TypedDict):
    """`maximum` is absent when nothing bounds it."""

    minimum: int
    maximum: NotRequired[int]


class Taint(TypedDict):
    key: str
    value: str
    effect: str


class PoolFit(TypedDict):
    """A declared pool on which the pods could run, but for the taints that they do not tolerate."""

    pool: str
    labels: dict[str, str]
    untolerated: list[Taint]
    variables: NotRequired[dict[str, str]]
    """The environment of the pool's fabric profile."""
    fabric: NotRequired[str]


class PodSet(TypedDict):
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
    poolsDeclared: bool
    selectsAcceleratorNodes: list[bool]
    """For every alternative that node selector and affinity allow: does it allow accelerator nodes only?"""
    fits: list[PoolFit]
    assumedTaints: list[str]
    """Keys of the taints that such nodes usually carry and that are not tolerated; empty once pools are declared."""
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


def build(workload: model.Workload, *, sites: site.Sites, vocabulary: Vocabulary) -> bytes:
    """The input document as JSON."""
    config = sites.config
    document: Input = {
        "workload": _workload(workload),
        "podSets": [_pod_set(pod_set, config=config, vocabulary=vocabulary) for pod_set in workload.pod_sets],
        "site": sites.of(workload.namespace, workload.kind),
    }
    return orjson.dumps(document)


def _workload(workload: model.Workload) -> Workload:
    result: Workload = {
        "group": workload.group,
        "kind": workload.kind,
        "namespace": workload.namespace,
        "role": workload.role.value,
        "owned": bool(workload.owner_kind),
        "suspended": workload.suspended,
        "labels": _read(workload.labels),
        "annotations": _read(workload.annotations),
        "asksAccelerators": any(pod_set.asks_accelerators for pod_set in workload.pod_sets),
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


def _pod_set(pod_set: model.PodSet, *, config: models.Config, vocabulary: Vocabulary) -> PodSet:
    where = placement(pod_set, config.pools) if pod_set.asks_accelerators else _NOWHERE
    return {
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
        "poolsDeclared": where.declared,
        "selectsAcceleratorNodes": list(where.selected),
        "fits": [_fit(fit, config) for fit in where.fits],
        "assumedTaints": [] if config.pools else _assumed_taints(pod_set, vocabulary),
        "containers": [_container(container, vocabulary) for container in pod_set.containers],
    }


_NOWHERE = Placement(fits=(), declared=False, selected=())


def _assumed_taints(pod_set: model.PodSet, vocabulary: Vocabulary) -> list[str]:
    keys = {key for name in pod_set.accelerators if (key := vocabulary.taint_key(name)) is not None}
    return sorted(
        key for key in keys if not any(taints.names_key(toleration, key) for toleration in pod_set.tolerations)
    )


def _fit(fit: PlacementFit, config: models.Config) -> PoolFit:
    result: PoolFit = {
        "pool": fit.pool.name,
        "labels": dict(fit.pool.node_selector),
        "untolerated": [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in fit.untolerated],
    }
    if fit.pool.fabric is not None:
        result["fabric"] = fit.pool.fabric
        result["variables"] = dict(config.fabrics[fit.pool.fabric].env)
    return result


def _container(container: model.Container, vocabulary: Vocabulary) -> Container:
    names = [name for name in dict.fromkeys((*container.requests, *container.limits)) if vocabulary.contains(name)]
    return {
        "name": container.name,
        "path": container.path,
        "type": container.type.value,
        "asksAccelerators": container.claims > 0 or any(container.effective(name) for name in names),
        "accelerators": {name: _resource(container, name) for name in names},
        "environment": {variable.name: _variable(variable) for variable in container.environment},
    }


def _resource(container: model.Container, name: str) -> Resource:
    result: Resource = {}
    if name in container.requests:
        result["requests"] = _quantity(container.requests[name])
    if name in container.limits:
        result["limits"] = _quantity(container.limits[name])
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
