"""Tekton's pipelines: a pod for every task, as often as its matrix says."""

import pytest

import builders
from unit.kinds.tekton.tekton_objects import V1, V1BETA1, Fields, step, task
from unit.workloads.normalised import counts, readable_workload, totals, unknowns, workload
from usher import model, paths
from usher.kinds.reading import values as reading_values


def inline(name: str = "train", *, gpus: int | None = None, **fields: Fields) -> Fields:
    """A task of a pipeline that stands in it."""
    return {"name": name, "taskSpec": {"steps": [step(gpus=gpus)]}, **fields}


def named(name: str = "train", **fields: Fields) -> Fields:
    return {"name": name, "taskRef": {"name": name}, **fields}


def pipeline(*tasks: Fields, name: str = "whole", **fields: Fields) -> paths.Object:
    return builders.custom(V1, "Pipeline", {"tasks": list(tasks), **fields}, name=name)


def pipeline_run(*tasks: Fields, version: str = V1, last: Fields = None, **fields: Fields) -> paths.Object:
    whole: dict[str, Fields] = {"tasks": list(tasks)} if last is None else {"tasks": list(tasks), "finally": last}
    return builders.custom(version, "PipelineRun", {"pipelineSpec": whole, **fields})


def of_matrix(**matrix: Fields) -> tuple[int, int | None]:
    (found,) = counts(pipeline_run(inline(matrix=matrix)))
    return found[2:]


def params(**values: Fields) -> Fields:
    return [{"name": name, "value": value} for name, value in values.items()]


def test_every_task_is_a_pod_and_so_is_every_last_one() -> None:
    assert counts(pipeline_run(inline("a"), inline("b"), last=[inline("c")])) == [
        ("a", "/spec/pipelineSpec/tasks/0/taskSpec", 1, 1),
        ("b", "/spec/pipelineSpec/tasks/1/taskSpec", 1, 1),
        ("c", "/spec/pipelineSpec/finally/0/taskSpec", 1, 1),
    ]


def test_a_pipeline_is_judged_as_one_run() -> None:
    value = pipeline(inline(gpus=1), inline("b", gpus=2))

    assert readable_workload(value).is_template
    assert totals(value) == {"nvidia.com/gpu": ("3", "3")}
    assert [found.changeable for found in readable_workload(value).pod_sets] == [False, False]


def test_a_task_with_a_condition_need_not_run() -> None:
    (found,) = readable_workload(pipeline_run(inline(when=[{"cel": "true"}]))).pod_sets

    assert found.count == model.Count(minimum=0, maximum=1, reason="`when` decides whether a task runs")
    assert counts(pipeline_run(inline(when=[])))[0][2:] == (1, 1)


@pytest.mark.parametrize(
    ("matrix", "pods"),
    [
        ({}, 1),
        ({"params": params(a=["x", "y"])}, 2),
        ({"params": params(a=["x", "y"], b=["1", "2", "3"])}, 6),
        ({"params": params(a=[])}, 0),
        ({"params": params(a=["x"], b=[])}, 0),
        ({"include": [{"params": params(a="x")}, {"params": params(a="y")}]}, 2),
        ({"params": params(a=["x", "y"]), "include": [{"params": params(a="z")}]}, 3),
        ({"params": params(a=["x", "y"]), "include": [{"params": params(a="x", b="1")}]}, 2),
        ({"params": params(a=["x", "y"]), "include": [{"params": params(c="1")}]}, 2),
        ({"params": params(a=["x"]), "include": [{"params": params(a="z")}, {"params": params(a="z")}]}, 2),
        ({"params": params(a=["x"]), "include": [{}]}, 1),
    ],
)
def test_a_matrix_makes_a_pod_of_every_combination(matrix: dict[str, Fields], pods: int) -> None:
    assert of_matrix(**matrix) == (pods, pods)


@pytest.mark.parametrize("value", ["$(params.platforms[*])", ["$(params.platforms[*])", "x"]])
def test_nothing_bounds_a_matrix_of_a_parameter(value: Fields) -> None:
    (found,) = readable_workload(pipeline_run(inline(matrix={"params": params(a=["x"], b=value)}))).pod_sets

    assert found.count == model.Count(
        minimum=0, maximum=None, reason="a matrix takes a parameter that is known only when the pipeline runs"
    )


def test_a_single_parameter_within_a_value_is_one_value() -> None:
    assert of_matrix(params=params(a=["$(params.platform)", "x"])) == (2, 2)


@pytest.mark.parametrize("value", ["linux", 7, {"a": "b"}])
def test_a_matrix_of_no_list_is_unknown(value: Fields) -> None:
    assert [path for path, _ in unknowns(pipeline_run(inline(matrix={"params": params(a=value)})))] == [
        "/spec/pipelineSpec/tasks/0/matrix/params/0/value"
    ]


def test_retries_take_the_place_of_what_failed() -> None:
    assert counts(pipeline_run(inline(retries=5)))[0][2:] == (1, 1)


def test_tasks_are_looked_up_by_name() -> None:
    value = pipeline_run(named(), named("report", when=[{}]))
    known = reading_values.Objects([task(step(gpus=8)), task(step(), name="report")])

    assert counts(value, objects=known) == [
        ("train", "/spec/pipelineSpec/tasks/0/taskRef/name/spec", 1, 1),
        ("report", "/spec/pipelineSpec/tasks/1/taskRef/name/spec", 0, 1),
    ]
    assert totals(value, objects=known) == {"nvidia.com/gpu": ("8", "8")}


def test_a_task_that_is_not_known_is_counted() -> None:
    value = pipeline_run(named(matrix={"params": params(a=["x", "y"])}))

    assert unknowns(value) == [
        (
            "/spec/pipelineSpec/tasks/0/taskRef/name",
            "Task ml-research/train is not known here: its steps are not judged",
        )
    ]
    assert workload(value).pods == model.Count(minimum=2, maximum=2)


@pytest.mark.parametrize("field", ["taskRef", "taskSpec"])
def test_a_custom_task_makes_no_pod_of_tektons(field: str) -> None:
    custom: Fields = {"apiVersion": "example.com/v1", "kind": "Wait", "spec": {}}

    assert counts(pipeline_run({"name": "wait", field: custom})) == []


def test_a_run_gets_its_pipeline_by_name() -> None:
    value = builders.custom(V1, "PipelineRun", {"pipelineRef": {"name": "whole"}})
    known = reading_values.Objects([pipeline(inline(), named()), task(step())])

    assert counts(value, objects=known) == [
        ("train", "/spec/pipelineRef/name/spec/tasks/0/taskSpec", 1, 1),
        ("train", "/spec/pipelineRef/name/spec/tasks/1/taskRef/name/spec", 1, 1),
    ]
    assert not any(found.changeable for found in readable_workload(value, objects=known).pod_sets)


def test_a_run_of_an_unknown_pipeline_still_says_what_its_tasks_ask_for() -> None:
    of_task: Fields = {"pipelineTaskName": "train", "computeResources": {"limits": {builders.GPU: 8}}}
    value = builders.custom(V1, "PipelineRun", {"pipelineRef": {"name": "whole"}, "taskRunSpecs": [of_task]})
    (found,) = workload(value).pod_sets

    assert [path for path, _ in unknowns(value)] == ["/spec/pipelineRef/name"]
    assert (found.name, found.path) == ("train", "/spec/taskRunSpecs/0")
    assert found.count == model.Count(minimum=0, maximum=None, reason="the pipeline is not known")
    assert str(found.accelerators[builders.GPU]) == "8"


@pytest.mark.parametrize("version", [V1, V1BETA1])
def test_a_run_says_where_its_pods_run_for_all_and_for_single_tasks(version: str) -> None:
    of_all: Fields = {"podTemplate": {"schedulerName": "kai", "nodeSelector": {"pool": "h100"}, "tolerations": []}}
    of_one: Fields = {
        "pipelineTaskName": "train",
        ("podTemplate" if version == V1 else "taskPodTemplate"): {"schedulerName": "volcano", "nodeSelector": {}},
        "metadata": {"labels": {"team": "c"}},
    }
    run: dict[str, Fields] = {"taskRunTemplate": of_all} if version == V1 else {"podTemplate": of_all["podTemplate"]}  # type: ignore[index,call-overload]  # built above
    value = pipeline_run(inline(), inline("other"), version=version, taskRunSpecs=[of_one], **run)
    value = builders.replaced(value, "/metadata/labels", {"team": "a"})
    train, other = readable_workload(value).pod_sets

    assert (train.scheduler_name, other.scheduler_name) == ("volcano", "kai")
    assert (train.node_selector, other.node_selector) == ({}, {"pool": "h100"})
    assert (train.labels, other.labels) == ({"team": "c"}, {"team": "a"})
    assert other.spec_path == ("/spec/taskRunTemplate/podTemplate" if version == V1 else "/spec/podTemplate")


def test_only_what_reaches_no_other_task_is_changed() -> None:
    def of_one(**fields: Fields) -> Fields:
        return [{"pipelineTaskName": "train", "podTemplate": fields}]

    assert [found.changeable for found in readable_workload(pipeline_run(inline())).pod_sets] == [False]
    own = pipeline_run(inline(), taskRunSpecs=of_one(schedulerName="kai"))
    assert [(found.changeable, found.spec_path) for found in readable_workload(own).pod_sets] == [
        (True, "/spec/taskRunSpecs/0/podTemplate")
    ]
    of_all: Fields = {"podTemplate": {"tolerations": [builders.toleration("gpu")]}}
    both = pipeline_run(inline(), taskRunSpecs=of_one(schedulerName="kai"), taskRunTemplate=of_all)
    assert [found.changeable for found in readable_workload(both).pod_sets] == [False]


def test_resources_of_a_run_of_one_task() -> None:
    steps: Fields = [{"name": "train", "computeResources": {"limits": {builders.GPU: 4}}}]
    of_one: Fields = {"pipelineTaskName": "train", "stepSpecs": steps}

    assert totals(pipeline_run(inline(gpus=1), inline("b", gpus=1), taskRunSpecs=[of_one])) == {
        "nvidia.com/gpu": ("5", "5")
    }


def test_labels_of_a_task_count_least() -> None:
    with_labels: Fields = {"steps": [step()], "metadata": {"labels": {"team": "d", "app": "bert"}}}
    value = pipeline_run({"name": "train", "taskSpec": with_labels})
    (found,) = readable_workload(builders.replaced(value, "/metadata/labels", {"team": "a"})).pod_sets

    assert found.labels == {"team": "a", "app": "bert"}
    assert found.metadata_path == "/metadata"


def test_a_pipeline_in_a_pipeline_runs_all_its_tasks() -> None:
    inner: Fields = {
        "name": "inner",
        "pipelineSpec": {"tasks": [inline(matrix={"params": params(b=["1", "2", "3"])})]},
        "matrix": {"params": params(a=["x", "y"])},
    }
    ref: Fields = {"name": "ref", "pipelineRef": {"name": "whole"}}

    assert counts(pipeline_run(inner, ref), objects=reading_values.Objects([pipeline(inline())])) == [
        ("train", "/spec/pipelineSpec/tasks/0/pipelineSpec/tasks/0/taskSpec", 6, 6),
        ("train", "/spec/pipelineSpec/tasks/1/pipelineRef/name/spec/tasks/0/taskSpec", 1, 1),
    ]


def test_pipelines_may_refer_to_each_other_in_a_circle() -> None:
    value = pipeline_run({"name": "again", "pipelineRef": {"name": "whole"}})
    circle = pipeline(inline(), {"name": "again", "pipelineRef": {"name": "whole"}})
    found = unknowns(value, objects=reading_values.Objects([circle]))

    assert len(found) == 1
    assert "a pipeline in a pipeline in a pipeline: its pods are not judged" in found[0][1]


@pytest.mark.costly
@pytest.mark.usefixtures("any_size")
def test_a_task_that_many_refer_to_is_not_read_without_end() -> None:
    large = task(*(step(f"s{n}", env=[{"name": "A", "value": "b"}] * 20) for n in range(100)))
    value = pipeline_run(*(named(matrix={"params": params(a=["x"])}) for _ in range(1000)))
    ((path, reason),) = unknowns(value, objects=reading_values.Objects([large]))

    assert path.endswith("/taskRef/name")
    assert reason.endswith("too many tasks share too large an object: not all of them are judged")
