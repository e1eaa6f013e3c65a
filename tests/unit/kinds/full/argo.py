"""Full objects of the kinds in kinds/argo/."""

import builders
from unit.kinds.full.parts import METADATA, container, pod_spec_fields, template
from usher import paths

_API = "argoproj.io/v1alpha1"


def _main() -> paths.Object:
    """Argo names the container itself."""
    return {field: value for field, value in container().items() if field != "name"}


def _scheduling(*names: str) -> paths.Object:
    fields = pod_spec_fields()
    return {name: fields[name] for name in ("nodeSelector", "affinity", "tolerations", "schedulerName", *names)}


def _metadata(team: str) -> paths.Object:
    return {"labels": {"team": team}, "annotations": {"note": "x"}}


def _train() -> paths.Object:
    return {
        "name": "train",
        "container": _main(),
        "initContainers": [builders.container("fetch", limits={"cpu": 1}, restartPolicy="Always")],
        "sidecars": [builders.container("proxy", gpus=1, requests={"cpu": 1}, env={"NCCL_DEBUG": "INFO"})],
        **_scheduling("priorityClassName", "resourceClaims"),
        "podResources": pod_spec_fields()["resources"],
        "metadata": _metadata("a"),
        "podSpecPatch": "",
        "memoize": {},
    }


def _templates() -> list[paths.Json]:
    hook: paths.Object = {"expression": "steps.train.status == 'Running'", "template": "report"}
    library: paths.Object = {"name": "library", "template": "work", "clusterScope": False}
    return [
        {
            "name": "main",
            "parallelism": 8,
            "steps": [
                [
                    {"name": "train", "template": "train", "when": "true", "withItems": [], "onExit": "report"},
                    {"name": "graph", "template": "graph", "withParam": "[1, 2]", "hooks": {"exit": hook}},
                    {"name": "here", "inline": {"script": _main()}, "withSequence": {"start": 1, "count": 3}},
                ],
                [
                    {"name": "there", "templateRef": library, "withSequence": {"start": 1, "end": 3}},
                    {"name": "hooked", "template": "report", "hooks": {"running": hook}},
                ],
            ],
        },
        {
            "name": "graph",
            "dag": {
                "target": "b",
                "tasks": [
                    {"name": "a", "template": "several"},
                    {"name": "b", "template": "make", "depends": "a.Succeeded", "dependencies": ["a"]},
                ],
            },
            "nodeSelector": {"zone": "b"},
        },
        _train(),
        {"name": "report", "data": {}},
        {"name": "several", "containerSet": {"containers": [container()]}},
        {"name": "make", "resource": {"action": "get"}},
    ]


def _spec() -> paths.Object:
    return {
        "entrypoint": "main",
        "onExit": "report",
        "hooks": {"running": {"expression": "workflow.status == 'Running'", "template": "report"}},
        "templates": _templates(),
        "templateDefaults": {
            "container": {"resources": {"requests": {"memory": "1Gi"}, "limits": {"memory": "1Gi"}}},
            "sidecars": [builders.container("proxy", limits={"memory": "1Gi"}, env={"NCCL_DEBUG": "WARN"})],
            "metadata": _metadata("b"),
        },
        "workflowTemplateRef": {"name": "base", "clusterScope": False},
        **_scheduling("resourceClaims"),
        "podPriorityClassName": "high",
        "podResources": pod_spec_fields()["resources"],
        "podMetadata": _metadata("c"),
        "podSpecPatch": "",
        "parallelism": 100,
    }


OBJECTS: dict[str, paths.Object] = {
    "Workflow": builders.custom(_API, "Workflow", {**_spec(), "suspend": False}, **METADATA),
    "WorkflowTemplate": builders.custom(_API, "WorkflowTemplate", _spec(), **METADATA),
    "ClusterWorkflowTemplate": builders.custom(_API, "ClusterWorkflowTemplate", _spec(), **METADATA),
    "CronWorkflow": builders.custom(
        _API,
        "CronWorkflow",
        {"workflowSpec": _spec(), "concurrencyPolicy": "Forbid", "suspend": False},
        **METADATA,
    ),
    "Rollout": builders.custom(
        _API,
        "Rollout",
        {
            "replicas": 4,
            "strategy": {"canary": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": template(),
        },
        **METADATA,
    ),
}

REFERENCED: list[paths.Object] = [
    builders.custom(
        _API,
        "WorkflowTemplate",
        {
            "templates": [
                {"name": "work", "container": _main(), "resourceClaims": pod_spec_fields()["resourceClaims"]}
            ],
            "podMetadata": _metadata("d"),
        },
        name="library",
    ),
    builders.custom(_API, "WorkflowTemplate", {"parallelism": 2, "templates": [{"name": "extra"}]}, name="base"),
]
"""Objects that the templates refer to by name."""
