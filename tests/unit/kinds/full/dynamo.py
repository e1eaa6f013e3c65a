"""Full objects of the kinds in kinds/serving_groups.py and kinds/dynamo.py."""

import builders
from unit.kinds.full.parts import METADATA, container, pod_spec_fields, template
from usher import paths


def _pods() -> dict[str, builders.JsonValue]:
    return {
        "replicas": 2,
        "autoScalingConfig": {"minReplicas": 1, "maxReplicas": 4},
        "podSpec": {**builders.pod_spec(container()), **pod_spec_fields()},
    }


def _clique(name: str) -> dict[str, builders.JsonValue]:
    return {
        "name": name,
        "labels": {"kai.scheduler/queue": "research"},
        "annotations": {"grove.io/mnnvl-group": "rack"},
        "spec": {"roleName": name, "minAvailable": 1, **_pods()},
    }


def _component() -> dict[str, builders.JsonValue]:
    return {
        "replicas": 2,
        "multinode": {"nodeCount": 2},
        "scalingAdapter": {},
        "sharedMemorySize": "16Gi",
        "podTemplate": template(),
        "experimental": {
            "gpuMemoryService": {"mode": "InterPod", "deviceClassName": "gpu.nvidia.com"},
            "failover": {"numShadows": 2},
        },
    }


OBJECTS: dict[str, paths.Object] = {
    "PodCliqueSet": builders.custom(
        "grove.io/v1alpha1",
        "PodCliqueSet",
        {
            "replicas": 2,
            "template": {
                "priorityClassName": "high",
                "cliques": [_clique("leader"), _clique("router")],
                "podCliqueScalingGroups": [
                    {
                        "name": "prefill",
                        "cliqueNames": ["leader"],
                        "annotations": {"grove.io/mnnvl-group": "rack"},
                        "replicas": 2,
                        "minAvailable": 1,
                        "scaleConfig": {"minReplicas": 1, "maxReplicas": 4},
                    }
                ],
            },
        },
        **METADATA,
    ),
    "PodCliqueScalingGroup": builders.custom(
        "grove.io/v1alpha1",
        "PodCliqueScalingGroup",
        {"replicas": 2, "cliqueNames": ["leader"]},
        labels={"app.kubernetes.io/part-of": "disagg"},
    ),
    "PodClique": builders.custom("grove.io/v1alpha1", "PodClique", _pods(), **METADATA),
    "DynamoGraphDeployment": builders.custom(
        "nvidia.com/v1beta1",
        "DynamoGraphDeployment",
        {
            "priorityClassName": "high",
            "topologyConstraint": {},
            "env": [{"name": "NCCL_DEBUG", "value": "WARN"}],
            "labels": {"team": "c"},
            "annotations": {"note": "x"},
            "components": [{"name": "decode", "minAvailable": 1, "topologyConstraint": {}, **_component()}],
        },
        **METADATA,
    ),
    "DynamoComponentDeployment": builders.custom(
        "nvidia.com/v1beta1", "DynamoComponentDeployment", _component(), **METADATA
    ),
}

REFERENCED: list[paths.Object] = [
    builders.custom("grove.io/v1alpha1", "PodCliqueSet", {"template": {"cliques": [_clique("leader")]}}, name="disagg")
]
"""Objects that the templates refer to by name."""
