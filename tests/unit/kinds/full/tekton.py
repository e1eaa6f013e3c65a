"""Full objects of the kinds in kinds/tekton/."""

import builders
from unit.kinds.full.parts import METADATA, pod_spec_fields
from usher import paths

_RESOURCES = {"v1": "computeResources", "v1beta1": "resources"}
_SPECS = {"v1": "Specs", "v1beta1": "Overrides"}


def _container(name: str, version: str, **quantities: builders.JsonValue) -> paths.Object:
    container = builders.container(name, requests=quantities, limits=quantities, env={"NCCL_DEBUG": "WARN", "A": {}})
    container[_RESOURCES[version]] = container.pop("resources")
    return container


def _pod_template() -> paths.Object:
    fields = pod_spec_fields()
    names = ("nodeSelector", "tolerations", "affinity", "schedulerName", "priorityClassName", "runtimeClassName")
    return {**{name: fields[name] for name in names}, "env": [{"name": "NCCL_DEBUG", "value": "INFO"}]}


def _nameless(container: paths.Object) -> paths.Object:
    return {field: value for field, value in container.items() if field != "name"}


def _task_spec(version: str) -> paths.Object:
    return {
        "stepTemplate": _nameless(_container("", version, cpu=1)),
        "steps": [
            _container("train", version, **{builders.GPU: 8}),
            {"name": "clone", "ref": {"name": "clone", "resolver": ""}},
        ],
        "sidecars": [_container("proxy", version, cpu=1)],
    }


def _overrides(version: str) -> paths.Object:
    def override(name: str) -> paths.Object:
        found = _container(name, version, **{builders.GPU: 4})
        return {field: found[field] for field in ("name", _RESOURCES[version])}

    return {f"step{_SPECS[version]}": [override("train")], f"sidecar{_SPECS[version]}": [override("proxy")]}


def _custom(version: str, kind: str, spec: paths.Object) -> paths.Object:
    return builders.custom(f"tekton.dev/{version}", kind, spec, **METADATA)


def _task_run(version: str) -> paths.Object:
    spec = {"taskSpec": _task_spec(version), "podTemplate": _pod_template(), **_overrides(version)}
    return _custom(version, "TaskRun", spec)


def _tasks(version: str) -> paths.Object:
    reference: paths.Object = {"name": "train", "kind": "Task", "resolver": "", "bundle": ""}
    metadata: paths.Object = {"labels": {"team": "b"}, "annotations": {"note": "x"}}
    matrix: paths.Object = {
        "params": [{"name": "size", "value": ["s", "m"]}],
        "include": [{"params": [{"name": "size", "value": "l"}]}],
    }
    return {
        "tasks": [
            {
                "name": "train",
                "taskSpec": {**_task_spec(version), "metadata": metadata},
                "matrix": matrix,
                "when": [{}],
            },
            {"name": "known", "taskRef": reference},
            {"name": "custom", "taskRef": {"apiVersion": "example.com/v1", "kind": "Wait"}},
            {"name": "inner", "pipelineSpec": {"tasks": [{"name": "known", "taskRef": {"name": "train"}}]}},
            {"name": "other", "pipelineRef": {"name": "known", "resolver": ""}},
        ],
        "finally": [{"name": "report", "taskSpec": _task_spec(version)}],
    }


def _pipeline_run(version: str) -> paths.Object:
    of_all: paths.Object = {"podTemplate": _pod_template()}
    return _custom(
        version,
        "PipelineRun",
        {
            "pipelineSpec": _tasks(version),
            **({"taskRunTemplate": of_all} if version == "v1" else of_all),
            "taskRunSpecs": [
                {
                    "pipelineTaskName": "train",
                    ("podTemplate" if version == "v1" else "taskPodTemplate"): _pod_template(),
                    "metadata": {"labels": {"team": "c"}, "annotations": {"note": "x"}},
                    **_overrides(version),
                }
            ],
        },
    )


def _step(name: str) -> paths.Object:
    return {"name": name, "image": "registry.example.com/image:1"}


OBJECTS: dict[str, paths.Object] = {
    "Tekton TaskRun": _task_run("v1"),
    "Tekton TaskRun v1beta1": _task_run("v1beta1"),
    "Tekton TaskRun with resources": _custom(
        "v1",
        "TaskRun",
        {
            "taskSpec": {"steps": [_step("a"), _step("b")]},
            "computeResources": {"requests": {"cpu": 2, "memory": "4Gi"}, "limits": {"cpu": 4}},
        },
    ),
    "Tekton TaskRun of a Task": _custom(
        "v1", "TaskRun", {"taskRef": {"name": "train", "kind": "Task", "resolver": ""}}
    ),
    "Tekton PipelineRun": _pipeline_run("v1"),
    "Tekton PipelineRun v1beta1": _pipeline_run("v1beta1"),
    "Tekton PipelineRun of a Pipeline": _custom("v1", "PipelineRun", {"pipelineRef": {"name": "known"}}),
    "Tekton Task": _custom("v1", "Task", _task_spec("v1")),
    "Tekton Task v1beta1": _custom("v1beta1", "Task", _task_spec("v1beta1")),
    "Tekton Pipeline": _custom("v1", "Pipeline", _tasks("v1")),
}

REFERENCED: list[paths.Object] = [
    builders.custom("tekton.dev/v1", "Task", {"steps": [_container("train", "v1", **{builders.GPU: 1})]}, name="train"),
    builders.custom(
        "tekton.dev/v1",
        "Pipeline",
        {"tasks": [{"name": "only", "taskSpec": {"steps": [_container("train", "v1", cpu=1)]}}]},
        name="known",
    ),
    builders.custom(
        "tekton.dev/v1beta1", "StepAction", {"env": [{"name": "NCCL_DEBUG", "value": "WARN"}]}, name="clone"
    ),
]
"""Objects that the templates refer to by name."""
