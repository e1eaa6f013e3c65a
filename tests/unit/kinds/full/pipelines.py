"""Full objects of the kinds in kinds/kubeflow_pipelines/."""

import builders
from unit.kinds.full.parts import METADATA, container
from usher import paths


def _pipeline() -> paths.Object:
    resources: paths.Object = {
        "cpuLimit": 8.0,
        "memoryLimit": 64.0,
        "cpuRequest": 4.0,
        "memoryRequest": 32.0,
        "resourceCpuLimit": "8",
        "resourceMemoryLimit": "64G",
        "resourceCpuRequest": "4",
        "resourceMemoryRequest": "32G",
        "accelerator": {
            "type": "nvidia.com/gpu",
            "count": "8",
            "resourceType": "nvidia.com/gpu",
            "resourceCount": "8",
        },
    }
    return {
        "root": {
            "dag": {
                "tasks": {
                    "load": {"componentRef": {"name": "comp-load"}},
                    "each": {
                        "componentRef": {"name": "comp-each"},
                        "dependentTasks": ["load"],
                        "parameterIterator": {"items": {"raw": "[1, 2, 3]"}},
                        "iteratorPolicy": {"parallelismLimit": 2},
                        "triggerPolicy": {"condition": "true", "strategy": "ALL_UPSTREAM_TASKS_SUCCEEDED"},
                    },
                }
            }
        },
        "components": {
            "comp-load": {"executorLabel": "exec-load"},
            "comp-each": {"dag": {"tasks": {"train": {"componentRef": {"name": "comp-train"}}}}},
            "comp-train": {
                "executorLabel": "exec-train",
                "taskConfigPassthroughs": [{"field": "RESOURCES", "applyToTask": True}],
            },
        },
        "deploymentSpec": {
            "executors": {
                "exec-load": {"importer": {"image": "s3://data"}},
                "exec-train": {
                    "container": {
                        "image": "registry.example.com/train:1",
                        "env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
                        "resources": resources,
                    }
                },
            }
        },
    }


def _platforms() -> paths.Object:
    settings: paths.Object = {
        "nodeSelector": {"labels": {"pool": "h100"}},
        "tolerations": [builders.toleration("gpu", operator="Equal", value="true", effect="NoSchedule")],
        "nodeAffinity": [
            builders.term(
                builders.expression("zone", "In", "a"), fields=[builders.expression("metadata.name", "In", "node-1")]
            )
        ],
        "podMetadata": {"labels": {"app": "bert"}, "annotations": {"note": "x"}},
        "initContainers": [{**container(), "restartPolicy": "Always"}],
    }
    return {"kubernetes": {"deploymentSpec": {"executors": {"exec-train": settings}}}}


OBJECTS: dict[str, paths.Object] = {
    "PipelineSpec": {
        "pipelineInfo": {"name": "train"},
        "schemaVersion": "2.1.0",
        **_pipeline(),
        "platforms": _platforms(),
    },
    "PipelineVersion": builders.custom(
        "pipelines.kubeflow.org/v2beta1",
        "PipelineVersion",
        {"pipelineSpec": _pipeline(), "platformSpec": {"platforms": _platforms()}},
        **METADATA,
    ),
}

REFERENCED: list[paths.Object] = []
"""Objects that the templates refer to by name."""
