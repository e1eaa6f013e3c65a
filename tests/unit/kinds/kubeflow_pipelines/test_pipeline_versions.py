"""Compiled pipelines of Kubeflow (kubeflow/pipelines at 7b70c7b9): one pod for every execution of a task."""

import pytest

import builders
from unit.workloads.normalised import counts, pod_set, readable_workload, totals, unknowns, workload
from usher import model, paths
from usher.kinds.reading.values import MAX_PODS

TASKS = "/root/dag/tasks"
RESOURCES = "/deploymentSpec/executors/exec-train/container/resources"


def task(component: str = "train", /, **fields: builders.JsonValue) -> dict[str, builders.JsonValue]:
    return {"componentRef": {"name": component}, **fields}


def dag(**tasks: builders.JsonValue) -> dict[str, builders.JsonValue]:
    return {"dag": {"tasks": tasks}}


def loop(*items: int, limit: int | None = None) -> dict[str, builders.JsonValue]:
    policy = {} if limit is None else {"iteratorPolicy": {"parallelismLimit": limit}}
    return {"parameterIterator": {"items": {"raw": str(list(items))}, "itemInput": "item"}, **policy}


def condition(**fields: builders.JsonValue) -> dict[str, builders.JsonValue]:
    return {"triggerPolicy": {"condition": "inputs.parameter_values['x'] == 1", **fields}}


def executor(resources: builders.JsonValue = None, **fields: builders.JsonValue) -> dict[str, builders.JsonValue]:
    asked = {} if resources is None else {"resources": resources}
    return {"container": {"image": "registry.example.com/train:1", **asked, **fields}}


def gpus(number: int | str = 8) -> dict[str, builders.JsonValue]:
    return {"accelerator": {"resourceType": builders.GPU, "resourceCount": str(number)}}


def pipeline(
    root: builders.JsonValue = None,
    *,
    train: builders.JsonValue = None,
    platforms: builders.JsonValue = None,
    **components: builders.JsonValue,
) -> paths.Object:
    """A pipeline in which `train` is the only component with an executor; without a root it runs it once."""
    spec = {
        "pipelineInfo": {"name": "nightly"},
        "schemaVersion": "2.1.0",
        "root": root or dag(train=task()),
        "components": {"train": {"executorLabel": "exec-train"}, **components},
        "deploymentSpec": {"executors": {"exec-train": train or executor(gpus())}},
    }
    settings = {} if platforms is None else {"platforms": platforms}
    # `custom` makes a copy of whatever is its spec.
    found = builders.custom("", "", {**spec, **settings})["spec"]
    assert isinstance(found, dict)
    return found


def settings(**fields: builders.JsonValue) -> dict[str, builders.JsonValue]:
    return {"kubernetes": {"deploymentSpec": {"executors": {"exec-train": fields}}}}


def executions(value: paths.Object) -> tuple[int, int | None]:
    ((_, path, fewest, most),) = counts(value)
    assert path == "/components/train"
    return fewest, most


def test_a_pipeline_is_known_by_what_it_holds_and_named_by_its_information() -> None:
    found = readable_workload(pipeline())

    assert (found.group, found.version, found.kind, found.name) == (
        "pipelines.kubeflow.org",
        "2",
        "PipelineSpec",
        "nightly",
    )
    assert found.is_template


def test_every_task_is_a_pod_of_the_component_that_it_refers_to() -> None:
    assert executions(pipeline(dag(first=task(), second=task(dependentTasks=["first"])))) == (2, 2)


def test_the_accelerators_of_a_run_are_those_of_all_its_pods() -> None:
    assert totals(pipeline(dag(each=task(**loop(1, 2, 3))))) == {builders.GPU: ("24", "24")}


def test_a_component_that_no_task_refers_to_makes_no_pods() -> None:
    assert counts(pipeline(dag())) == []


@pytest.mark.parametrize(("limit", "expected"), [(None, 4), (0, 4), (3, 3), (9, 4)])
def test_a_loop_over_a_list_runs_as_many_at_one_time_as_it_lets(limit: int | None, expected: int) -> None:
    assert executions(pipeline(dag(each=task(**loop(1, 2, 3, 4, limit=limit))))) == (expected, expected)


def test_a_loop_over_an_empty_list_makes_no_pods() -> None:
    assert executions(pipeline(dag(each=task(**loop())))) == (0, 0)


@pytest.mark.parametrize(
    "iterator",
    [
        {"parameterIterator": {"items": {"inputParameter": "shards"}, "itemInput": "shard"}},
        {"artifactIterator": {"items": {"inputArtifact": "files"}, "itemInput": "file"}},
    ],
)
def test_nothing_but_its_limit_bounds_a_loop_over_an_input(iterator: dict[str, builders.JsonValue]) -> None:
    reason = "it runs for each of items that are not known before"
    free = pod_set(pipeline(dag(each=task(**iterator))))
    limited = pod_set(pipeline(dag(each=task(**iterator, iteratorPolicy={"parallelismLimit": 4}))))

    assert free.count == model.Count(minimum=0, maximum=None, reason=reason)
    assert limited.count == model.Count(minimum=0, maximum=4, reason=reason)


def test_items_that_are_not_a_list_are_unknown() -> None:
    value = pipeline(dag(each=task(parameterIterator={"items": {"raw": "{"}})))

    assert unknowns(value) == [(f"{TASKS}/each/parameterIterator/items/raw", "expected a list as JSON")]


def test_a_task_with_a_condition_may_run_or_not() -> None:
    found = pod_set(pipeline(dag(maybe=task(**condition()))))

    assert found.count == model.Count(minimum=0, maximum=1, reason="a condition decides when it runs")


def test_what_waits_for_a_task_with_a_condition_may_be_skipped_with_it() -> None:
    root = dag(
        maybe=task(**condition()), then=task(dependentTasks=["maybe"]), last=task(dependentTasks=["then"]), other=task()
    )

    assert executions(pipeline(root)) == (1, 4)


def test_a_task_that_runs_however_the_others_end_is_not_skipped_with_them() -> None:
    always = {"triggerPolicy": {"strategy": "ALL_UPSTREAM_TASKS_COMPLETED"}}
    root = dag(maybe=task(**condition()), cleanup=task(dependentTasks=["maybe"], **always))

    assert executions(pipeline(root)) == (1, 2)


def test_tasks_that_wait_for_each_other_are_survived() -> None:
    root = dag(one=task(dependentTasks=["two"], **condition()), two=task(dependentTasks=["one"]))

    assert executions(pipeline(root)) == (0, 2)


def test_loops_and_conditions_around_a_task_multiply() -> None:
    outer = task("inner", **loop(1, 2, 3))
    value = pipeline(
        dag(outer=outer, sometimes=task("inner", **condition())), inner=dag(one=task(), two=task(**loop(1, 2)))
    )

    assert executions(value) == (9, 12)


@pytest.mark.usefixtures("any_size")
def test_a_document_that_doubles_with_every_component_is_counted_at_once() -> None:
    levels = {f"level-{depth}": dag(a=task(f"level-{depth + 1}"), b=task(f"level-{depth + 1}")) for depth in range(500)}
    value = pipeline(dag(top=task("level-0")), **levels, **{"level-500": dag(leaf=task())})

    found = pod_set(value)

    assert found.count == model.Count(minimum=MAX_PODS, maximum=None, reason="more than any cluster holds")


def test_a_component_that_calls_itself_is_unknown() -> None:
    value = pipeline(dag(top=task("around"), own=task()), around=dag(again=task("around"), leaf=task()))

    assert unknowns(value) == [
        (
            "/components/around/dag/tasks/again/componentRef/name",
            "the component calls itself: its pods are not counted",
        )
    ]
    (found,) = workload(value).pod_sets
    assert found.count == model.Count(minimum=2, maximum=2)


def test_a_missing_component_is_unknown() -> None:
    assert unknowns(pipeline(dag(top=task("absent")))) == [
        (f"{TASKS}/top/componentRef/name", "no component of this name is there: its pods are not counted")
    ]


def test_a_missing_executor_is_unknown() -> None:
    value = pipeline(dag(top=task("eval")), eval={"executorLabel": "exec-eval"})

    assert unknowns(value) == [
        ("/components/eval/executorLabel", "there is no executor of this label: its pods are not judged")
    ]


@pytest.mark.parametrize("missing", ["deploymentSpec", "components"])
def test_a_pipeline_that_lacks_half_of_itself_is_unknown(missing: str) -> None:
    value = pipeline()
    del value[missing]

    assert len(unknowns(value)) == 1


def test_the_import_of_an_artifact_is_a_pod_without_requests() -> None:
    found = pod_set(pipeline(train={"importer": {"artifactUri": {"constant": "s3://data"}}}))

    assert found.count == model.Count(minimum=1, maximum=1)
    assert found.containers == ()


@pytest.mark.parametrize("image", ["argostub/createpvc", "argostub/deletepvc"])
def test_a_volume_claim_is_made_without_a_pod(image: str) -> None:
    assert counts(pipeline(train=executor(image=image))) == []


@pytest.mark.parametrize("other", [{"resolver": {}}, {"customJob": {}}])
def test_an_executor_that_is_neither_a_container_nor_an_importer_is_unknown(other: builders.JsonValue) -> None:
    assert unknowns(pipeline(train=other)) == [
        (
            "/deploymentSpec/executors/exec-train",
            "an executor has a container or an importer: its pods are not judged",
        )
    ]


@pytest.mark.parametrize(
    "accelerator",
    [
        {"resourceType": "nvidia.com/gpu", "resourceCount": "2"},
        {"type": "nvidia.com/gpu", "count": "2"},
        {"type": "nvidia.com/gpu", "count": 2},
        {"type": "other.example.com/gpu", "count": "1", "resourceType": "nvidia.com/gpu", "resourceCount": "2"},
    ],
)
def test_an_accelerator_stands_in_new_fields_or_in_deprecated_ones(accelerator: builders.JsonValue) -> None:
    found = pod_set(pipeline(train=executor({"accelerator": accelerator})))

    assert {name: str(amount) for name, amount in found.accelerators.items()} == {"nvidia.com/gpu": "2"}
    (container,) = found.containers
    assert (container.name, container.trains) == ("main", True)


@pytest.mark.parametrize("count", ["0", None])
def test_zero_accelerators_count_as_no_request(count: str | None) -> None:
    accelerator = {"resourceType": "nvidia.com/gpu", "resourceCount": count}

    assert not readable_workload(pipeline(train=executor({"accelerator": accelerator}))).asks_accelerators


@pytest.mark.parametrize("field", ["resourceType", "resourceCount"])
def test_what_an_input_of_the_pipeline_decides_is_unknown(field: str) -> None:
    value = pipeline()
    placeholder = "{{$.inputs.parameters['accelerator']}}"

    assert unknowns(builders.replaced(value, f"{RESOURCES}/accelerator/{field}", placeholder)) == [
        (f"{RESOURCES}/accelerator/{field}", "it is decided when the pipeline runs")
    ]


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({"cpuLimit": 2.5, "memoryLimit": 16.0}, {"cpu": "2500m", "memory": "16000000000"}),
        ({"resourceCpuLimit": "500m", "resourceMemoryLimit": "16Gi"}, {"cpu": "500m", "memory": "17179869184"}),
        ({"cpuLimit": 1.0, "resourceCpuLimit": "2"}, {"cpu": "2"}),
    ],
)
def test_cpu_and_memory_are_quantities_or_numbers_of_cores_and_gigabytes(
    resources: builders.JsonValue, expected: dict[str, str]
) -> None:
    (container,) = pod_set(pipeline(train=executor(resources))).containers

    assert {name: str(amount) for name, amount in container.limits.items()} == expected


@pytest.mark.parametrize("number", ["-1", "many"])
def test_an_invalid_amount_is_unknown(number: str) -> None:
    assert [path for path, _ in unknowns(pipeline(train=executor(gpus(number))))] == [
        f"{RESOURCES}/accelerator/resourceCount"
    ]


def test_settings_for_kubernetes_go_to_the_pods_of_their_executor() -> None:
    term = builders.term(builders.expression("zone", "In", "a"))
    preferred = {**builders.term(builders.expression("zone", "In", "b")), "weight": 10}
    found = pod_set(
        pipeline(
            platforms=settings(
                nodeSelector={"labels": {"pool": "h100"}},
                tolerations=[builders.toleration("gpu", operator="Exists")],
                nodeAffinity=[preferred, term],
                podMetadata={"labels": {"team": "a"}, "annotations": {"note": "x"}},
                initContainers=[builders.sidecar("proxy", gpus=1), builders.container("fetch")],
            )
        )
    )

    assert found.node_selector == {"pool": "h100"}
    assert [toleration["key"] for toleration in found.tolerations] == ["gpu"]
    assert len(found.required_terms) == 1
    assert (found.labels, found.annotations) == ({"team": "a"}, {"note": "x"})
    assert [(container.name, container.type) for container in found.containers] == [
        ("proxy", model.ContainerType.SIDECAR),
        ("fetch", model.ContainerType.INIT),
        ("main", model.ContainerType.APP),
    ]
    assert {name: str(amount) for name, amount in found.accelerators.items()} == {builders.GPU: "9"}


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"nodeSelector": {"nodeSelectorJson": {"componentInputParameter": "pool"}}}, "nodeSelector/nodeSelectorJson"),
        ({"tolerations": [{"tolerationJson": {"componentInputParameter": "x"}}]}, "tolerations/0/tolerationJson"),
        ({"nodeAffinity": [{"nodeAffinityJson": {"componentInputParameter": "x"}}]}, "nodeAffinity/0/nodeAffinityJson"),
    ],
)
def test_settings_that_an_input_decides_are_unknown(fields: dict[str, builders.JsonValue], place: str) -> None:
    assert unknowns(pipeline(platforms=settings(**fields))) == [
        (
            f"/platforms/kubernetes/deploymentSpec/executors/exec-train/{place}",
            "it is decided when the pipeline runs",
        )
    ]


@pytest.mark.parametrize(("applied", "expected"), [(True, {builders.GPU: ("8", "8")}), (False, {}), (None, {})])
def test_resources_that_a_task_passes_on_to_a_workload_of_its_own_are_not_those_of_its_pod(
    applied: bool | None, expected: dict[str, tuple[str, str]]
) -> None:
    passed_on: paths.Object = {"field": "RESOURCES", **({} if applied is None else {"applyToTask": applied})}
    value = pipeline()
    value = builders.replaced(value, "/components/train/taskConfigPassthroughs", [passed_on])

    assert totals(value) == expected


def test_settings_that_a_task_passes_on_are_not_those_of_its_pod() -> None:
    passed_on: paths.Json = [{"field": "KUBERNETES_TOLERATIONS"}, {"field": "KUBERNETES_NODE_SELECTOR"}]
    value = pipeline(
        platforms=settings(nodeSelector={"labels": {"pool": "h100"}}, tolerations=[builders.toleration("gpu")])
    )
    found = pod_set(builders.replaced(value, "/components/train/taskConfigPassthroughs", passed_on))

    assert (found.node_selector, found.tolerations) == ({}, ())


def test_several_components_may_have_one_executor() -> None:
    value = pipeline(dag(one=task(), two=task("again")), again={"executorLabel": "exec-train"})

    assert counts(value) == [("train", "/components/train", 1, 1), ("again", "/components/again", 1, 1)]


def test_nothing_of_a_pipeline_is_changed() -> None:
    assert not pod_set(pipeline()).changeable


def test_another_schema_is_not_guessed_at() -> None:
    value = {**pipeline(), "schemaVersion": "3.0.0"}

    assert unknowns(value) == [("", "PipelineSpec is known in 2, not in 3: not judged")]


def test_a_pipeline_version_holds_the_same_in_an_object_that_an_api_server_serves() -> None:
    plain = pipeline(dag(each=task(**loop(1, 2))))
    version = builders.custom(
        "pipelines.kubeflow.org/v2beta1",
        "PipelineVersion",
        {
            "pipelineSpec": plain,
            "platformSpec": {"platforms": settings(tolerations=[builders.toleration("gpu", operator="Exists")])},
        },
        name="nightly-v1",
    )

    assert counts(version) == [("train", "/spec/pipelineSpec/components/train", 2, 2)]
    assert totals(version) == {builders.GPU: ("16", "16")}
    assert len(pod_set(version).tolerations) == 1
    assert readable_workload(version).name == "nightly-v1"
