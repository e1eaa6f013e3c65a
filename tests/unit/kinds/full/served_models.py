"""Full objects of RoleBasedGroups, and of the kinds in kinds/served_models.py."""

import builders
from unit.kinds.full.parts import METADATA, container, pod_spec_fields, template
from usher import paths

_PATCH: dict[str, builders.JsonValue] = {"spec": {"nodeSelector": {"zone": "b"}}}


def _roles() -> list[builders.JsonValue]:
    often: dict[str, builders.JsonValue] = {
        "replicas": 2,
        "scalingAdapter": {"enable": False},
        "rolloutStrategy": {"rollingUpdate": {"maxSurge": 1}},
    }
    return [
        {"name": "router", **often, "standalonePattern": {"template": template()}},
        {"name": "shared", "standalonePattern": {"templateRef": {"name": "base", "patch": _PATCH}}},
        {"name": "planner", "standalonePattern": {"templateRef": {"name": "base"}}},
        {"name": "prefill", "leaderWorkerPattern": {"size": 2, "template": template(), "leaderTemplatePatch": _PATCH}},
        {
            "name": "decode",
            "customComponentsPattern": {"components": [{"name": "a", "size": 2, "template": template()}]},
        },
    ]


def _group() -> dict[str, builders.JsonValue]:
    return {"roleTemplates": [{"name": "base", "template": template()}], "roles": _roles()}


def _resource() -> paths.Object:
    return {
        "count": 2,
        "instanceType": "Standard_NC80adis_H100_v5",
        "labelSelector": {"matchLabels": {"apps": "phi"}},
    }


def _component() -> dict[str, builders.JsonValue]:
    return {
        "minReplicas": 1,
        "maxReplicas": 2,
        "labels": {"app": "bert"},
        "annotations": {"note": "x"},
        **pod_spec_fields(),
        "containers": [container()],
        "runner": container(),
    }


def _several_nodes() -> dict[str, builders.JsonValue]:
    return {"leader": {"runner": container()}, "worker": {"size": 2, "runner": container()}, "minReplicas": 1}


OBJECTS: dict[str, paths.Object] = {
    "RoleBasedGroup": builders.custom("workloads.x-k8s.io/v1alpha2", "RoleBasedGroup", _group(), **METADATA),
    "RoleBasedGroupSet": builders.custom(
        "workloads.x-k8s.io/v1alpha2",
        "RoleBasedGroupSet",
        {"replicas": 2, "groupTemplate": {"annotations": {"note": "x"}, "spec": _group()}},
        **METADATA,
    ),
    "RoleInstanceSet": builders.custom(
        "workloads.x-k8s.io/v1alpha2",
        "RoleInstanceSet",
        {
            "replicas": 2,
            "roleInstanceTemplate": {"components": [{"name": "a", "size": 2, "template": template()}]},
        },
        **METADATA,
    ),
    "RoleInstance": builders.custom(
        "workloads.x-k8s.io/v1alpha2",
        "RoleInstance",
        {"components": [{"name": "a", "size": 2, "template": template()}]},
        **METADATA,
    ),
    "Workspace": {
        **{
            key: value
            for key, value in builders.custom("kaito.sh/v1beta1", "Workspace", {}, **METADATA).items()
            if key != "spec"
        },
        "resource": _resource(),
        "inference": {},
        "status": {"targetNodeCount": 2},
    },
    "InferenceSet": builders.custom(
        "kaito.sh/v1beta1",
        "InferenceSet",
        {
            "replicas": 2,
            "template": {
                "resource": _resource(),
                "inference": {"template": builders.replaced(template(), "/spec/affinity", {})},
            },
        },
        **METADATA,
    ),
    "MultiRoleInference": builders.custom(
        "kaito.sh/v1alpha1",
        "MultiRoleInference",
        {"roles": [{"type": "prefill", "replicas": 2, "instanceType": "Standard_NC80adis_H100_v5"}]},
        **METADATA,
    ),
    "RAGEngine": builders.custom(
        "kaito.sh/v1beta1", "RAGEngine", {"compute": _resource(), "embedding": {"local": {}}}, **METADATA
    ),
    "OmeInferenceService": builders.custom(
        "ome.io/v1beta1",
        "InferenceService",
        {
            "runtime": {"name": "sglang-of-ome", "kind": "ClusterServingRuntime"},
            "engine": _several_nodes(),
            "router": _component(),
        },
        **METADATA,
    ),
    "OmeServingRuntime": builders.custom(
        "ome.io/v1beta1",
        "ServingRuntime",
        {"engineConfig": _component(), "decoderConfig": _several_nodes()},
        **METADATA,
    ),
    "OmeClusterServingRuntime": builders.custom(
        "ome.io/v1beta1", "ClusterServingRuntime", {"engineConfig": _component()}, **METADATA
    ),
    "BenchmarkJob": builders.custom("ome.io/v1beta1", "BenchmarkJob", {"podOverride": container()}, **METADATA),
}

REFERENCED: list[paths.Object] = [
    builders.custom(
        "ome.io/v1beta1",
        "ClusterServingRuntime",
        {"engineConfig": {"minReplicas": 2, "leader": {}}},
        name="sglang-of-ome",
    )
]
"""Objects that the templates refer to by name."""
