"""Spark applications: how many pods they have, and what these ask for (docs/domain/kinds.md#spark)."""

import pytest

import builders
from unit.kinds.spark.applications import application, executor_of, parsed, pod_sets, spark_container
from unit.workloads.normalised import counts, readable_workload, totals, unknowns
from usher import model, paths, quantities

AMOUNT = "spark.executor.resource.gpu.amount"
VENDOR = "spark.executor.resource.gpu.vendor"


def scheduled(**spec: paths.Json) -> paths.Object:
    template = application(executor={"instances": 2})["spec"]
    return builders.custom("sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication", {"template": template, **spec})


def connect(**spec: paths.Json) -> paths.Object:
    return builders.custom("sparkoperator.k8s.io/v1alpha1", "SparkConnect", {"server": {}, "executor": {}, **spec})


def executors(**spec: paths.Json) -> tuple[int, int | None]:
    _, (name, path, lowest, highest) = counts(application(**spec))
    assert (name, path) == ("executor", "/spec/executor")
    return lowest, highest


def test_an_application_is_a_driver_and_its_executors() -> None:
    assert counts(application(executor={"instances": 4})) == [
        ("driver", "/spec/driver", 1, 1),
        ("executor", "/spec/executor", 4, 4),
    ]


def test_in_client_mode_the_driver_makes_no_pod() -> None:
    (driver, executor) = pod_sets(application(mode="client"))

    assert driver.count == model.Count(minimum=0, maximum=0, reason="in client mode the driver runs with the operator")
    assert executor.count == model.Count(minimum=1, maximum=1)


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ({}, 1),
        ({"executor": {"instances": 0}}, 0),
        ({"sparkConf": {"spark.executor.instances": "3"}}, 3),
        ({"executor": {"instances": 5}, "sparkConf": {"spark.executor.instances": "3"}}, 5),
        ({"dynamicAllocation": {"enabled": False, "maxExecutors": 9}}, 1),
    ],
)
def test_instances_may_stand_in_spark_conf(spec: dict[str, paths.Json], count: int) -> None:
    assert executors(**spec) == (count, count)


@pytest.mark.parametrize(
    ("dynamic", "conf", "count"),
    [
        ({"enabled": True}, {}, (0, None)),
        ({"enabled": True, "minExecutors": 2, "initialExecutors": 4}, {}, (2, None)),
        ({"enabled": True, "minExecutors": 2, "maxExecutors": 8}, {}, (2, 8)),
        ({"enabled": True, "minExecutors": 9, "maxExecutors": 8}, {}, (8, 8)),
        ({"enabled": True}, {"spark.dynamicAllocation.maxExecutors": "6"}, (0, 6)),
        ({"enabled": True, "maxExecutors": 8}, {"spark.dynamicAllocation.maxExecutors": "6"}, (0, 8)),
        # The operator hands its own bounds on only where it is told to allocate.
        ({"enabled": False, "maxExecutors": 8}, {"spark.dynamicAllocation.enabled": "true"}, (0, None)),
        (
            {},
            {
                "spark.dynamicAllocation.enabled": "True",
                "spark.dynamicAllocation.minExecutors": "1",
                "spark.dynamicAllocation.maxExecutors": "6",
            },
            (1, 6),
        ),
        ({}, {"spark.dynamicAllocation.maxExecutors": "6"}, (3, 3)),
    ],
)
def test_dynamic_allocation_keeps_executors_between_its_bounds(
    dynamic: paths.Object, conf: paths.Object, count: tuple[int, int | None]
) -> None:
    assert executors(executor={"instances": 3}, dynamicAllocation=dynamic, sparkConf=conf) == count


def test_dynamic_allocation_without_a_bound_says_why() -> None:
    assert executor_of({}, dynamicAllocation={"enabled": True}).count.reason == (
        "dynamic allocation without maxExecutors"
    )


@pytest.mark.parametrize("amount", ["many", "1.5", "-1", "99999999999999999999"])
def test_an_invalid_number_in_spark_conf_is_unknown(amount: str) -> None:
    value = application(sparkConf={"spark.executor.instances": amount})

    assert [path for path, _ in unknowns(value)] == ["/spec/sparkConf/spark.executor.instances"]


def test_the_gpus_of_the_operators_own_field_are_a_limit_of_sparks_container() -> None:
    value = application(executor={"instances": 4, "gpu": {"name": "nvidia.com/gpu", "quantity": 2}})
    executor = pod_sets(value)[1]

    assert totals(value) == {"nvidia.com/gpu": ("8", "8")}
    assert [request.path for request in executor.requests] == ["/spec/executor/gpu/nvidia.com~1gpu"]
    assert spark_container(executor).name == "spark-kubernetes-executor"
    assert spark_container(executor).asks_accelerators


@pytest.mark.parametrize(
    "gpu", [{"name": "", "quantity": 2}, {"quantity": 2}, {"name": "nvidia.com/gpu", "quantity": 0}]
)
def test_the_operator_ignores_a_gpu_without_a_name_or_with_a_quantity_of_zero(gpu: paths.Object) -> None:
    assert totals(application(executor={"gpu": gpu})) == {}


def test_the_driver_may_have_gpus_too() -> None:
    value = application(driver={"gpu": {"name": "amd.com/gpu", "quantity": 1}})

    assert totals(value) == {"amd.com/gpu": ("1", "1")}


def test_gpus_that_spark_asks_for_itself_are_found_in_its_properties() -> None:
    value = application(executor={"instances": 3}, sparkConf={AMOUNT: "2", VENDOR: "nvidia.com"})
    executor = pod_sets(value)[1]

    assert totals(value) == {"nvidia.com/gpu": ("6", "6")}
    assert [request.path for request in executor.requests] == [f"/spec/sparkConf/{AMOUNT}/nvidia.com~1gpu"]


def test_the_resources_of_the_driver_are_properties_of_their_own() -> None:
    conf: paths.Object = {"spark.driver.resource.gpu.amount": "1", "spark.driver.resource.gpu.vendor": "nvidia.com"}
    driver, executor = pod_sets(application(sparkConf=conf))

    assert (driver.asks_accelerators, executor.asks_accelerators) == (True, False)


def test_the_operators_own_field_wins_over_the_properties() -> None:
    value = application(
        executor={"gpu": {"name": "nvidia.com/gpu", "quantity": 4}}, sparkConf={AMOUNT: "2", VENDOR: "nvidia.com"}
    )

    assert totals(value) == {"nvidia.com/gpu": ("4", "4")}


def test_a_resource_of_no_vendor_is_left_to_its_check() -> None:
    assert unknowns(application(sparkConf={AMOUNT: "2"})) == []
    assert totals(application(sparkConf={AMOUNT: "2"})) == {}
    assert totals(application(sparkConf={AMOUNT: "0"})) == {}


def test_accelerators_by_an_annotation_in_the_properties_are_unknown() -> None:
    key = "spark.kubernetes.executor.annotation.gpu-fraction"

    assert [path for path, _ in unknowns(application(sparkConf={key: "0.5"}))] == [f"/spec/sparkConf/{key}"]
    assert totals(application(executor={"instances": 2, "annotations": {"gpu-fraction": "0.5"}})) == {
        "gpu-fraction": ("1", "1")
    }


def test_a_pod_template_in_a_file_is_unknown_unless_another_takes_its_place() -> None:
    key = "spark.kubernetes.executor.podTemplateFile"
    conf: paths.Object = {key: "s3a://bucket/template.yaml"}

    assert unknowns(application(sparkConf=conf)) == [
        (f"/spec/sparkConf/{key}", "the pod template in this file is not judged")
    ]
    assert unknowns(application(executor={"template": builders.template()}, sparkConf=conf)) == []


@pytest.mark.parametrize(
    ("fields", "conf", "requests", "limits"),
    [
        ({}, {}, {"cpu": "1", "memory": "1408Mi"}, {"memory": "1408Mi"}),
        ({"cores": 4}, {}, {"cpu": "4", "memory": "1408Mi"}, {"memory": "1408Mi"}),
        (
            {"cores": 4, "coreRequest": "3500m", "coreLimit": "5"},
            {},
            {"cpu": "3500m", "memory": "1408Mi"},
            {"memory": "1408Mi", "cpu": "5"},
        ),
        ({"memory": "8g"}, {}, {"cpu": "1", "memory": "9011Mi"}, {"memory": "9011Mi"}),
        ({"memory": "512"}, {}, {"cpu": "1", "memory": "896Mi"}, {"memory": "896Mi"}),
        ({"memory": "1g", "memoryOverhead": "1048576k"}, {}, {"cpu": "1", "memory": "2Gi"}, {"memory": "2Gi"}),
        ({"memory": "1g", "memoryLimit": "4gb"}, {}, {"cpu": "1", "memory": "1408Mi"}, {"memory": "4Gi"}),
        (
            {},
            {
                "spark.executor.cores": "2",
                "spark.executor.memory": "4g",
                "spark.executor.memoryOverheadFactor": "0.5",
                "spark.kubernetes.executor.limit.cores": "3",
            },
            {"cpu": "2", "memory": "6Gi"},
            {"memory": "6Gi", "cpu": "3"},
        ),
    ],
)
def test_cores_and_memory_become_requests_and_limits(
    fields: paths.Object, conf: paths.Object, requests: dict[str, str], limits: dict[str, str]
) -> None:
    container = spark_container(executor_of(fields, sparkConf=conf))

    assert container.requests == parsed(requests)
    assert container.limits == parsed(limits)


@pytest.mark.parametrize(
    ("spec", "memory"),
    [
        ({"type": "Python"}, "14336Mi"),
        ({"type": "Scala"}, "11264Mi"),
        ({"type": "Python", "memoryOverheadFactor": "0.2"}, "12Gi"),
        ({"memoryOverheadFactor": "0.2", "sparkConf": {"spark.kubernetes.memoryOverheadFactor": "0.3"}}, "13Gi"),
    ],
)
def test_languages_outside_the_jvm_have_more_memory_beside_the_heap(spec: paths.Object, memory: str) -> None:
    container = spark_container(executor_of({"memory": "10g"}, **spec))

    assert container.requests["memory"] == quantities.parse(memory)


@pytest.mark.parametrize("amount", ["lots", "1.5g", "1Gi", "-1g", "999999999999999p"])
def test_memory_that_java_does_not_read_is_unknown(amount: str) -> None:
    assert [path for path, _ in unknowns(application(driver={"memory": amount}))] == ["/spec/driver/memory"]


@pytest.mark.parametrize(("policy", "most"), [("Forbid", 2), ("Replace", 2), (None, 2), ("Allow", None)])
def test_runs_of_a_schedule_overlap_only_where_it_says_so(policy: str | None, most: int | None) -> None:
    executor = counts(scheduled(concurrencyPolicy=policy))[1]

    assert executor == ("executor", "/spec/template/executor", 0, most)


def test_a_spark_connect_has_a_server_and_two_executors_unless_told_otherwise() -> None:
    assert counts(connect()) == [("server", "/spec/server/template", 1, 1), ("executor", "/spec/executor", 2, 2)]
    assert counts(connect(executor={"instances": 5}))[1][2:] == (5, 5)
    assert counts(connect(dynamicAllocation={"enabled": True, "maxExecutors": 7}))[1][2:] == (0, 7)


def test_the_server_is_the_pod_of_its_template_whatever_the_properties_say() -> None:
    log, spark = builders.container("log"), builders.container("spark-kubernetes-driver", gpus=1)
    value = connect(
        server={"cores": 8, "template": builders.template(log, spark)},
        sparkConf={"spark.driver.resource.gpu.amount": "4", "spark.driver.resource.gpu.vendor": "nvidia.com"},
    )
    server, _ = pod_sets(value)

    assert totals(value) == {"nvidia.com/gpu": ("1", "1")}
    assert spark_container(server).limits == parsed({"nvidia.com/gpu": "1"})
    assert server.changeable
    assert not pod_sets(connect())[0].changeable


def test_a_server_without_a_template_has_a_container_without_requests() -> None:
    (container,) = pod_sets(connect())[0].containers

    assert (container.name, container.path) == ("spark-kubernetes-driver", "/spec/server")
    assert container.limits == {}


def test_executors_of_spark_connect_ignore_the_other_fields_of_the_operator() -> None:
    gpu: paths.Object = {"name": "nvidia.com/gpu", "quantity": 1}

    assert totals(connect(executor={"gpu": gpu})) == {}
    assert totals(connect(executor={"instances": 2}, sparkConf={AMOUNT: "1", VENDOR: "nvidia.com"})) == {
        "nvidia.com/gpu": ("2", "2")
    }


def test_an_application_without_a_role_has_no_container_of_spark() -> None:
    value = builders.replaced(application(), "/spec/executor", None)

    assert pod_sets(value)[1].containers == ()


def test_what_the_kinds_are_for_and_where_kueue_looks() -> None:
    found = [readable_workload(value) for value in (application(suspend=True), scheduled(suspend=True), connect())]

    assert {each.role for each in found} == {model.Role.BATCH}
    assert [each.suspended for each in found] == [True, True, False]
    assert [each.queue_label_path for each in found] == ["/metadata", "/metadata", None]
