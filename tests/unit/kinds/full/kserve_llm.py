"""Full objects of the kinds in kinds/kserve/llm_services.py."""

import builders
from unit.kinds.full import parts
from usher import paths

_METADATA = builders.Metadata(
    **{
        **parts.METADATA,
        "annotations": {
            "serving.kserve.io/exp-dra-device-class": "gpu.nvidia.com",
            "serving.kserve.io/exp-dra-device-count": "2",
            "serving.kserve.io/exp-dra-container-name": "main",
        },
    }
)


def _pod_spec() -> paths.Object:
    return {**builders.pod_spec(parts.container()), **parts.pod_spec_fields()}


def _workload(**fields: builders.JsonValue) -> dict[str, builders.JsonValue]:
    return {
        "replicas": 2,
        "labels": {"app": "bert"},
        "annotations": {"note": "y"},
        "rolloutStrategy": {"maxSurge": "50%"},
        "template": _pod_spec(),
        **fields,
    }


def _spec(scaling: dict[str, builders.JsonValue], **fields: builders.JsonValue) -> dict[str, builders.JsonValue]:
    return {
        **_workload(worker=_pod_spec(), parallelism={"data": 16, "dataLocal": 8, "pipeline": 1}),
        "prefill": {
            "template": _pod_spec(),
            "scaling": {"minReplicas": 2, "maxReplicas": 4, **scaling},
        },
        "router": {
            "scheduler": {
                "replicas": 2,
                "labels": {"app": "picker"},
                "annotations": {"note": "z"},
                "pool": {"ref": {"name": ""}},
                "template": _pod_spec(),
                "tokenizer": {"template": _pod_spec()},
            }
        },
        **fields,
    }


OBJECTS: dict[str, paths.Object] = {
    "LLMInferenceService": builders.custom(
        "serving.kserve.io/v1alpha2",
        "LLMInferenceService",
        _spec({"keda": {"idleReplicaCount": 1}}, baseRefs=[{"name": "defaults"}, {"name": "more"}]),
        **_METADATA,
    ),
    "LLMInferenceServiceConfig": builders.custom(
        "serving.kserve.io/v1alpha2",
        "LLMInferenceServiceConfig",
        _spec({"wva": {"keda": {"idleReplicaCount": 1}}}),
        **parts.METADATA,
    ),
}

REFERENCED: list[paths.Object] = [
    builders.custom(
        "serving.kserve.io/v1alpha2",
        "LLMInferenceServiceConfig",
        {"template": {"containers": [builders.container("sidecar", env={"A": "{{ .Name }}"})]}},
        name=name,
    )
    for name in ("defaults", "more")
]
"""Objects that the templates refer to by name."""
