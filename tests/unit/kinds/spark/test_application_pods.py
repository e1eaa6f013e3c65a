"""The pods of a Spark application follow its own fields and a pod template (docs/domain/kinds.md#spark)."""

import pytest

import builders
from unit.kinds.spark.applications import application, executor_of, parsed, pod_sets, spark_container
from unit.workloads.normalised import totals, unknowns
from usher import model, paths


def test_the_operators_own_fields_set_the_scheduling() -> None:
    toleration = builders.toleration("gpu", operator="Exists")
    affinity = builders.node_affinity(builders.term(builders.expression("pool", "In", "h100")))
    executor = executor_of(
        {
            "tolerations": [toleration],
            "nodeSelector": {"zone": "a"},
            "affinity": affinity,
            "priorityClassName": "high",
            "schedulerName": "volcano",
        }
    )

    assert executor.tolerations == (toleration,)
    assert executor.node_selector == {"zone": "a"}
    assert executor.has_required_affinity
    assert executor.priority_class_name == "high"
    assert executor.scheduler == model.Scheduler(name="volcano")
    assert executor.spec_path == "/spec/executor"
    assert not executor.changeable


def test_node_selectors_of_all_places_count_together() -> None:
    template = builders.template(nodeSelector={"a": "template", "b": "template"})
    conf: paths.Object = {
        "spark.kubernetes.node.selector.b": "conf",
        "spark.kubernetes.node.selector.c": "conf",
        "spark.kubernetes.executor.node.selector.d": "conf",
        "spark.kubernetes.driver.node.selector.x": "conf",
    }
    executor = executor_of(
        {"template": template, "nodeSelector": {"e": "own"}}, nodeSelector={"c": "spec"}, sparkConf=conf
    )

    assert executor.node_selector == {"a": "template", "b": "conf", "c": "spec", "d": "conf", "e": "own"}


@pytest.mark.parametrize(
    ("batch", "own", "conf", "template", "scheduler"),
    [
        ("volcano", "own", {"spark.kubernetes.scheduler.name": "conf"}, "template", "volcano"),
        (None, "own", {"spark.kubernetes.scheduler.name": "conf"}, "template", "own"),
        (None, None, {"spark.kubernetes.scheduler.name": "conf"}, "template", "conf"),
        (
            None,
            None,
            {"spark.kubernetes.scheduler.name": "conf", "spark.kubernetes.executor.scheduler.name": "role"},
            "template",
            "role",
        ),
        (None, None, {}, "template", "template"),
        (None, None, {}, None, "default-scheduler"),
    ],
)
def test_the_batch_scheduler_of_the_application_places_its_pods_before_any_other(
    batch: str | None, own: str | None, conf: paths.Object, template: str | None, scheduler: str
) -> None:
    fields: paths.Object = {"schedulerName": own, "template": builders.template(schedulerName=template)}
    executor = executor_of(fields, batchScheduler=batch, sparkConf=conf)

    assert executor.scheduler.name == scheduler


def test_a_pod_template_may_be_changed_where_nothing_decides_instead_of_it() -> None:
    template = builders.template()

    assert executor_of({"template": template, "gpu": {"name": "nvidia.com/gpu", "quantity": 1}}).changeable
    assert executor_of({"template": template}).spec_path == "/spec/executor/template/spec"
    assert not executor_of({"template": template, "nodeSelector": {"a": "b"}}).changeable


def test_tolerations_are_written_into_a_pod_template_where_there_is_one() -> None:
    """A SparkConnect has no other place, and beside those of a SparkApplication its template would be left alone."""
    assert executor_of({"template": builders.template()}).places["tolerations"] == (
        "/spec/executor/template/spec/tolerations"
    )
    assert executor_of({}).places["tolerations"] == "/spec/executor/tolerations"


def test_fields_beside_a_pod_template_win_and_lists_are_appended() -> None:
    one, other = builders.toleration("one", operator="Exists"), builders.toleration("other", operator="Exists")
    template = builders.template(
        tolerations=[one],
        affinity=builders.node_affinity(builders.term()),
        priorityClassName="low",
    )
    executor = executor_of({"template": template, "tolerations": [other], "affinity": {}, "priorityClassName": "high"})

    assert executor.tolerations == (one, other)
    assert not executor.has_required_affinity
    assert executor.priority_class_name == "high"


def test_a_wrong_toleration_in_one_of_two_lists_is_unknown_at_its_place() -> None:
    template = builders.template(tolerations=[{"key": 7}, "junk"])
    value = application(executor={"template": template, "tolerations": [{"effect": 8}]})

    assert [path for path, _ in unknowns(value)] == [
        "/spec/executor/template/spec/tolerations/0/key",
        "/spec/executor/template/spec/tolerations/1",
        "/spec/executor/tolerations/0/effect",
    ]


def test_the_container_of_spark_is_the_one_of_its_name_or_the_first() -> None:
    log, spark = builders.container("log"), builders.container("spark-kubernetes-executor", gpus=1)
    named = executor_of({"template": builders.template(log, spark)})
    first = executor_of({"template": builders.template(log)})
    none = executor_of({"template": {"spec": {}}})

    assert spark_container(named).path == "/spec/executor/template/spec/containers/1"
    assert spark_container(first).path == "/spec/executor/template/spec/containers/0"
    assert spark_container(none).path == "/spec/executor"


def test_a_template_keeps_its_own_devices_and_loses_its_own_memory() -> None:
    spark = builders.container("main", gpus=8, requests={"memory": "1Ti", "rdma/ib": 1})
    executor = executor_of({"memory": "1g", "template": builders.template(spark)})
    container = spark_container(executor)

    assert container.limits == parsed({"nvidia.com/gpu": "8", "memory": "1408Mi"})
    assert container.requests == parsed({"cpu": "1", "memory": "1408Mi", "rdma/ib": "1"})
    assert [request.path for request in executor.requests] == [
        "/spec/executor/template/spec/containers/0/resources/limits/nvidia.com~1gpu"
    ]


def test_sidecars_and_init_containers_of_both_places_are_there() -> None:
    template = builders.template(builders.container("spark"), initContainers=[builders.container("first")])
    executor = executor_of(
        {
            "template": template,
            "sidecars": [builders.container("log", gpus=1)],
            "initContainers": [builders.container("second"), builders.sidecar("proxy")],
        }
    )

    assert [(container.name, container.type.value) for container in executor.containers] == [
        ("first", "init container"),
        ("second", "init container"),
        ("proxy", "sidecar"),
        ("spark", "container"),
        ("log", "container"),
    ]
    assert executor.containers[-1].path == "/spec/executor/sidecars/0"


def test_variables_of_all_places_are_seen_and_those_of_the_operator_last() -> None:
    spark = builders.container("spark", env={"NCCL_DEBUG": "template"})
    executor = executor_of(
        {
            "template": builders.template(spark),
            "envVars": {"NCCL_IB_HCA": "mlx5", "PASSWORD": "secret"},
            "env": [{"name": "NCCL_DEBUG", "value": "own"}],
        },
        sparkConf={"spark.executorEnv.NVIDIA_VISIBLE_DEVICES": "all", "spark.kubernetes.driverEnv.NCCL_ALGO": "Ring"},
    )

    assert [(each.name, each.value, each.path) for each in spark_container(executor).environment] == [
        ("NCCL_DEBUG", "template", "/spec/executor/template/spec/containers/0/env/0"),
        ("NVIDIA_VISIBLE_DEVICES", "all", "/spec/sparkConf/spark.executorEnv.NVIDIA_VISIBLE_DEVICES/0"),
        ("NCCL_IB_HCA", "mlx5", "/spec/executor/envVars/NCCL_IB_HCA/0"),
        ("NCCL_DEBUG", "own", "/spec/executor/env/0"),
    ]


def test_labels_and_annotations_of_both_places_count_together() -> None:
    template = builders.template(labels={"a": "template", "b": "template"}, annotations={"note": "x"})
    executor = executor_of({"template": template, "labels": {"b": "own"}})

    assert executor.labels == {"a": "template", "b": "own"}
    assert executor.annotations == {"note": "x"}


@pytest.mark.parametrize("labels", [None, {"a": "b"}])
def test_accelerators_by_an_annotation_of_the_template_are_found_at_their_place(labels: paths.Object | None) -> None:
    template = builders.template(annotations={"gpu-fraction": "0.5"})
    value = application(executor={"instances": 4, "template": template, "labels": labels})

    assert totals(value) == {"gpu-fraction": ("2", "2")}
    assert [request.path for request in pod_sets(value)[1].requests] == [
        "/spec/executor/template/metadata/annotations/gpu-fraction"
    ]
