"""Environment variables as rules see them."""

import orjson

import builders
from unit.workloads.normalised import VOCABULARY, workload
from usher import paths
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.config import models
from usher.policy.input import document as input_document

DOCUMENTS = input_document.Documents(Knowledge(facts=Store(), config=models.Config(), vocabulary=VOCABULARY))
ENV = "/spec/containers/0/env"


def container_of(value: paths.Object) -> paths.Object:
    (pod_set,) = orjson.loads(DOCUMENTS.build(workload(value)))["podSets"]
    found: paths.Object = pod_set["containers"][0]
    return found


def pod_with(*entries: paths.Json) -> paths.Object:
    return builders.replaced(builders.pod(), ENV, [*entries])


def test_of_entries_of_one_name_the_last_counts_and_tells_of_the_one_before() -> None:
    value = pod_with(
        {"name": "NCCL_DEBUG", "value": "INFO"},
        {"name": "NCCL_ALGO", "value": "Ring"},
        {"name": "NCCL_DEBUG", "value": "TRACE"},
        {"name": "NCCL_DEBUG", "value": "WARN"},
    )

    assert container_of(value)["environment"] == {
        "NCCL_DEBUG": {"path": f"{ENV}/3", "value": "WARN", "overrides": f"{ENV}/2"},
        "NCCL_ALGO": {"path": f"{ENV}/1", "value": "Ring"},
    }


def test_lists_of_their_own_are_there_to_override_each_other() -> None:
    in_template: paths.Object = {
        "name": "spark-kubernetes-driver",
        "env": [{"name": "NCCL_DEBUG", "value": "INFO"}, {"name": "NCCL_DEBUG", "value": "TRACE"}],
    }
    driver: paths.Object = {
        "template": {"spec": {"containers": [in_template]}},
        "env": [{"name": "NCCL_DEBUG", "value": "WARN"}],
    }
    application: paths.Object = {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {"name": "etl"},
        "spec": {"driver": driver},
    }
    found = orjson.loads(DOCUMENTS.build(workload(application)))["podSets"][0]["containers"][0]

    assert found["environment"] == {"NCCL_DEBUG": {"path": "/spec/driver/env/0", "value": "WARN"}}


def test_variables_of_the_operator_are_listed_by_name_without_values() -> None:
    container: paths.Object = {"name": "jax", "env": [{"name": "PROCESS_ID", "value": "0"}]}
    job: paths.Object = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "JAXJob",
        "metadata": {"name": "train"},
        "spec": {"jaxReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [container]}}}}},
    }
    place = "/spec/jaxReplicaSpecs/Worker/template/spec/containers/0/env/0"
    found = container_of(job)

    assert found["operatorVariables"] == {"PROCESS_ID": place}
    assert found["environment"] == {}


def test_a_container_without_any_tells_nothing() -> None:
    assert container_of(builders.pod()).keys().isdisjoint({"operatorVariables"})
