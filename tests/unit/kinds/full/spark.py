"""Full objects of the kinds in kinds/spark/."""

import builders
from unit.kinds.full.parts import METADATA, container, pod_spec_fields, template
from usher import paths

_OF_BOTH = ("tolerations", "initContainers", "nodeSelector", "affinity", "schedulerName", "priorityClassName")
"""Fields of a pod spec that the operator has too."""


def _own_fields() -> paths.Object:
    spec = pod_spec_fields()
    return {
        **{field: spec[field] for field in _OF_BOTH},
        "labels": {"app": "etl"},
        "annotations": {"note": "x"},
        "cores": 4,
        "coreRequest": "3500m",
        "coreLimit": "4",
        "memory": "8g",
        "memoryLimit": "10g",
        "gpu": {"name": "nvidia.com/gpu", "quantity": 1},
        "env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
        "envVars": {"NCCL_SOCKET_IFNAME": "eth0"},
        "sidecars": [{**builders.container("log"), "restartPolicy": "Never"}],
    }


def _pod_template(role: str) -> paths.Object:
    return builders.replaced(template(), "/spec/containers/0/name", f"spark-kubernetes-{role}")


def _application() -> paths.Object:
    return {
        "type": "Python",
        "mode": "cluster",
        "memoryOverheadFactor": "0.2",
        "batchScheduler": "volcano",
        "suspend": False,
        "nodeSelector": {"pool": "spark"},
        "sparkConf": {"spark.executor.instances": "2", "spark.dynamicAllocation.enabled": "true"},
        "dynamicAllocation": {"enabled": True, "minExecutors": 1, "maxExecutors": 4},
        "driver": {**_own_fields(), "memoryOverhead": "1g"},
        "executor": {**_own_fields(), "instances": 2},
    }


_SCHEDULED: paths.Object = {
    "schedule": "0 3 * * *",
    "concurrencyPolicy": "Allow",
    "suspend": False,
    "template": {key: value for key, value in _application().items() if key != "suspend"},
}
_CONNECT: paths.Object = {
    "sparkConf": {"spark.executor.memoryOverhead": "1g"},
    "dynamicAllocation": {"enabled": True, "minExecutors": 1, "maxExecutors": 4},
    "server": {"template": _pod_template("driver")},
    "executor": {"instances": 2, "cores": 4, "memory": "8g", "template": _pod_template("executor")},
}
_WITH_TEMPLATES: paths.Object = {
    "driver": {
        "template": _pod_template("driver"),
        "labels": {"app": "etl"},
        "tolerations": [builders.toleration("a")],
    },
    "executor": {"template": builders.template(container()), "gpu": {"name": "nvidia.com/gpu", "quantity": 1}},
}
_V1BETA2 = "sparkoperator.k8s.io/v1beta2"

OBJECTS: dict[str, paths.Object] = {
    "SparkApplication": builders.custom(_V1BETA2, "SparkApplication", _application(), **METADATA),
    "SparkApplication with pod templates": builders.custom(_V1BETA2, "SparkApplication", _WITH_TEMPLATES, **METADATA),
    "ScheduledSparkApplication": builders.custom(_V1BETA2, "ScheduledSparkApplication", _SCHEDULED, **METADATA),
    "SparkConnect": builders.custom("sparkoperator.k8s.io/v1alpha1", "SparkConnect", _CONNECT, **METADATA),
}

REFERENCED: list[paths.Object] = []
"""Objects that the templates refer to by name."""
