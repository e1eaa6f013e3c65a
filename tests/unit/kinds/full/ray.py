"""Full objects of the kinds of Ray that `builders` does not make."""

import builders
from unit.kinds.full.parts import METADATA, template
from usher import paths


def _cluster_spec() -> paths.Object:
    sidecar: paths.Object = {
        "env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
        "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1", "nvidia.com/gpu": 1}},
    }
    group = builders.ray_group(
        pod_template=template(), replicas=2, min_replicas=1, max_replicas=4, hosts=2, suspend=False
    )
    return {
        **builders.ray_cluster_spec(group, head=template(), autoscaling=True),
        "autoscalerOptions": sidecar,
        "historyServerOptions": {"collectorOptions": sidecar},
    }


def _job_spec() -> paths.Object:
    return {
        "clusterSelector": {},
        "rayClusterSpec": _cluster_spec(),
        "submissionMode": "K8sJobMode",
        "submitterPodTemplate": template(),
    }


_SERVICE_SPEC: paths.Object = {
    "rayClusterConfig": _cluster_spec(),
    "upgradeStrategy": {"type": "NewCluster"},
    "suspend": False,
}

OBJECTS: dict[str, paths.Object] = {
    "RayService": builders.custom("ray.io/v1", "RayService", _SERVICE_SPEC, **METADATA),
    "RayCronJob": builders.custom(
        "ray.io/v1",
        "RayCronJob",
        {"schedule": "0 3 * * *", "suspend": False, "jobTemplate": _job_spec()},
        **METADATA,
    ),
}

REFERENCED: list[paths.Object] = []
"""Objects that the templates refer to by name."""
