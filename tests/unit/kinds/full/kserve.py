"""Full objects of the kinds in kinds/kserve/ but for LLMInferenceService."""

import builders
from unit.kinds.full import parts
from usher import paths

_ANNOTATIONS = {
    "serving.kserve.io/deploymentMode": "Standard",
    "serving.kserve.io/autoscalerClass": "hpa",
    "note": "x",
}
_METADATA = builders.Metadata(**{**parts.METADATA, "annotations": _ANNOTATIONS})


def _pod_fields() -> paths.Object:
    """Components have no ephemeral containers."""
    fields = parts.pod_spec_fields()
    del fields["ephemeralContainers"]
    return fields


def _framework(**fields: paths.Json) -> paths.Object:
    """A container with other fields beside; its name is KServe's to give."""
    return {name: value for name, value in {**parts.container(), **fields}.items() if name != "name"}


def _component(**fields: builders.JsonValue) -> builders.JsonValue:
    return {
        **_pod_fields(),
        "minReplicas": 1,
        "maxReplicas": 3,
        "deploymentStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%"}},
        "labels": {"app": "bert"},
        "annotations": {"note": "y"},
        "containers": [parts.container()],
        **fields,
    }


def _service(spec: dict[str, builders.JsonValue], mode: str = "Standard") -> paths.Object:
    value = builders.custom("serving.kserve.io/v1beta1", "InferenceService", spec, **_METADATA)
    return {**value, "status": {"deploymentMode": mode}}


def _runtime_parts() -> dict[str, builders.JsonValue]:
    fields = parts.pod_spec_fields()
    taken = ("nodeSelector", "affinity", "tolerations", "schedulerName", "resourceClaims")
    return {
        **{name: fields[name] for name in taken},
        "labels": {"app": "vllm"},
        "annotations": {"note": "z"},
        "containers": [{**parts.container(), "name": "kserve-container"}],
    }


def _runtime(kind: str) -> paths.Object:
    worker = {**_runtime_parts(), "containers": [{**parts.container(), "name": "worker-container"}]}
    return builders.custom(
        "serving.kserve.io/v1alpha1", kind, {**_runtime_parts(), "workerSpec": worker}, **parts.METADATA
    )


OBJECTS: dict[str, paths.Object] = {
    "InferenceService": _service(
        {
            "predictor": _component(model=_framework(runtime="vllm")),
            "transformer": _component(),
            "explainer": _component(art=_framework()),
        }
    ),
    "InferenceService with a canary": _service(
        {
            "predictor": _component(model=_framework(runtime="vllm")),
            "canary": [
                {
                    "trafficPercent": 10,
                    "predictor": {
                        **_pod_fields(),
                        "name": "next",
                        "minReplicas": 1,
                        "model": _framework(runtime="vllm"),
                    },
                }
            ],
        }
    ),
    "InferenceService on several nodes": _service(
        {
            "predictor": _component(
                model=_framework(runtime="vllm"),
                workerSpec={
                    **_pod_fields(),
                    "pipelineParallelSize": 2,
                    "tensorParallelSize": 8,
                    "containers": [_framework()],
                },
            )
        }
    ),
    "InferenceService in Knative mode": _service(
        {
            "predictor": {
                "minReplicas": 1,
                "maxReplicas": 3,
                "canaryTrafficPercent": 10,
                "containers": [parts.container()],
            }
        },
        mode="Knative",
    ),
    "ServingRuntime": _runtime("ServingRuntime"),
    "ClusterServingRuntime": _runtime("ClusterServingRuntime"),
}

REFERENCED: list[paths.Object] = [
    builders.custom(
        "serving.kserve.io/v1alpha1",
        "ServingRuntime",
        {
            "containers": [builders.container("kserve-container"), builders.container("agent")],
            "workerSpec": {"containers": [builders.container("worker-container")]},
        },
        name="vllm",
    )
]
"""Objects that the templates refer to by name."""
