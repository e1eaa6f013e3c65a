"""Spark applications for tests."""

import builders
from unit.workloads.normalised import readable_workload
from usher import model, paths, quantities


def application(**spec: paths.Json) -> paths.Object:
    return builders.custom("sparkoperator.k8s.io/v1beta2", "SparkApplication", {"driver": {}, "executor": {}, **spec})


def pod_sets(value: paths.Object) -> tuple[model.PodSet, model.PodSet]:
    """The pod sets of the driver and of the executors."""
    driver, executor = readable_workload(value).pod_sets
    return driver, executor


def executor_of(executor: paths.Object, **spec: paths.Json) -> model.PodSet:
    return pod_sets(application(executor=executor, **spec))[1]


def spark_container(pod_set: model.PodSet) -> model.Container:
    (found,) = (container for container in pod_set.containers if container.trains)
    return found


def parsed(resources: dict[str, str]) -> dict[str, quantities.Quantity]:
    return {name: quantities.parse(text) for name, text in resources.items()}
