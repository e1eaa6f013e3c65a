"""Full objects of the kinds in kinds/ome.py and kinds/served_models.py."""

import builders
from unit.kinds.full.parts import METADATA, pod_spec_fields
from usher import paths

_ENV: builders.JsonValue = [{"name": "NCCL_DEBUG", "value": "WARN"}]


def _terms() -> builders.JsonValue:
    requirement = builders.expression("pool", "In", "h100")
    return [builders.term(requirement, fields=[builders.expression("metadata.name", "In", "node-1")])]


def _vllm_resources() -> builders.JsonValue:
    return {"cpu": "8", "memory": "64Gi", "gpu": "1", "gpuType": "nvidia.com/gpu"}


_VLLM_RUNTIME: dict[str, builders.JsonValue] = {
    "vllmConfig": {"env": _ENV},
    "autoscalingConfig": {"enabled": True, "minReplicas": 1, "maxReplicas": 4},
    "deploymentConfig": {
        "replicas": 2,
        "deploymentStrategy": "RollingUpdate",
        "runtimeClass": "nvidia",
        "toleration": pod_spec_fields()["tolerations"],
        "nodeSelectorTerms": _terms(),
        "podAnnotations": {"note": "x"},
        "resources": _vllm_resources(),
        "sidecarConfig": {"enabled": True, "name": "lora", "env": _ENV, "resources": _vllm_resources()},
    },
}


def _nim_service() -> dict[str, builders.JsonValue]:
    fields = pod_spec_fields()
    names = ("nodeSelector", "tolerations", "affinity", "schedulerName", "runtimeClassName", "priorityClassName")
    return {
        **{name: fields[name] for name in names},
        "labels": {"team": "a"},
        "annotations": {"note": "x"},
        "env": _ENV,
        "resources": {"requests": {"cpu": "8"}, "limits": {"cpu": "8"}},
        "draResources": [
            {"resourceClaimName": "gpus", "requests": ["gpu"]},
            {"claimCreationSpec": {"devices": [{"count": 2, "deviceClassName": "gpu.nvidia.com"}]}},
        ],
        "storage": {"nimCache": {"name": "llama", "profile": "fast"}},
        "inferencePlatform": "standalone",
        "replicas": 2,
        "scale": {"enabled": True, "hpa": {"minReplicas": 1, "maxReplicas": 4}},
        "multiNode": {"parallelism": {"pipeline": 1, "tensor": 8}},
        "initContainers": [{"name": "fetch", "env": _ENV}],
        "sidecarContainers": [{"name": "proxy", "env": _ENV}],
        "expose": {"router": {"eppConfig": {"containerSpec": {"env": _ENV}}}},
    }


def _nemo() -> dict[str, builders.JsonValue]:
    fields = pod_spec_fields()
    return {
        **{name: fields[name] for name in ("nodeSelector", "tolerations", "affinity")},
        "runtimeClass": "nvidia",
        "labels": {"team": "a"},
        "annotations": {"note": "x"},
        "env": _ENV,
        "resources": {"requests": {"cpu": "8"}, "limits": {"nvidia.com/gpu": 1}},
        "replicas": 2,
        "scale": {"enabled": True, "hpa": {"minReplicas": 1, "maxReplicas": 4}},
    }


_NIM_BUILD: dict[str, builders.JsonValue] = {
    "nimCache": {"name": "llama", "profile": "fast"},
    "resources": {"limits": {"nvidia.com/gpu": 4}},
    "nodeSelector": {"zone": "a"},
    "tolerations": pod_spec_fields()["tolerations"],
    "labels": {"team": "a"},
    "annotations": {"note": "x"},
    "env": _ENV,
}

_API = "apps.nvidia.com/v1alpha1"

OBJECTS: dict[str, paths.Object] = {
    "VLLMRuntime": builders.custom("production-stack.vllm.ai/v1alpha1", "VLLMRuntime", _VLLM_RUNTIME, **METADATA),
    "NIMService": builders.custom(_API, "NIMService", _nim_service(), **METADATA),
    "NIMPipeline": builders.custom(
        _API, "NIMPipeline", {"services": [{"name": "llm", "enabled": True, "spec": _nim_service()}]}, **METADATA
    ),
    "NIMCache": builders.custom(
        _API,
        "NIMCache",
        {
            "nodeSelector": {"zone": "a"},
            "tolerations": pod_spec_fields()["tolerations"],
            "runtimeClassName": "nvidia",
            "env": _ENV,
            "resources": {"cpu": "2", "memory": "8Gi"},
            "initContainers": [{"name": "fetch", "env": _ENV}],
        },
        **METADATA,
    ),
    "NIMBuild": builders.custom(_API, "NIMBuild", _NIM_BUILD, **METADATA),
    **{
        kind: builders.custom(_API, kind, _nemo(), **METADATA)
        for kind in ("NemoCustomizer", "NemoDatastore", "NemoEntitystore", "NemoEvaluator", "NemoGuardrail")
    },
}

REFERENCED: list[paths.Object] = [
    {
        **builders.custom(_API, "NIMCache", {"source": {"ngc": {}}}, name="llama"),
        "status": {"profiles": [{"name": "fast", "config": {"tp": "4"}}]},
    }
]
"""Objects that the templates refer to by name."""
