"""Environment variables: what a container will see, as far as the manifest tells."""

import pytest

import builders
from unit.workloads.normalised import pod_set, unknowns, workload
from usher import paths

NAME = "NVIDIA_VISIBLE_DEVICES"
FROM_FIELD: paths.Object = {"fieldRef": {"fieldPath": "metadata.name"}}


def value_of(entry: paths.Object) -> str | None:
    (variable,) = pod_set(pod_with(entry)).containers[0].environment
    assert variable.name == NAME
    assert variable.path == "/spec/containers/0/env/0"
    return variable.value


def pod_with(entry: paths.Json) -> paths.Object:
    return builders.replaced(builders.pod(), "/spec/containers/0/env", [entry])


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ({"value": "all"}, "all"),
        ({"value": ""}, ""),
        ({}, ""),
        ({"value": None}, ""),
        ({"valueFrom": FROM_FIELD}, None),
        ({"valueFrom": {}}, None),
        ({"value": "", "valueFrom": FROM_FIELD}, None),
        # Nothing comes from elsewhere here, so the value is not hidden.
        ({"value": "all", "valueFrom": None}, "all"),
        # The API server refuses both in a Pod; the kubelet would look at the value first.
        ({"value": "all", "valueFrom": FROM_FIELD}, "all"),
        # The kubelet puts the value of another variable there, which may come from anywhere.
        ({"value": "$(DEVICES)"}, None),
        ({"value": "0,$(DEVICES)"}, None),
        ({"value": "$DEVICES"}, "$DEVICES"),
    ],
)
def test_a_variable_has_the_value_that_the_kubelet_would_give_it(entry: paths.Object, value: str | None) -> None:
    assert value_of({"name": NAME, **entry}) == value


@pytest.mark.parametrize(
    ("entry", "path", "reason"),
    [
        ({"name": NAME, "value": 0}, "/value", "expected a string, found a number; quote it"),
        ({"name": NAME, "value": True}, "/value", "expected a string, found a boolean; quote it"),
        ({"name": NAME, "value": 1.5}, "/value", "expected a string, found a decimal number; quote it"),
        ({"name": NAME, "value": ["a"]}, "/value", "expected a string, found a list"),
        ({"name": NAME, "valueFrom": "field"}, "/valueFrom", "expected an object, found a string"),
        ({"name": 5, "value": "a"}, "/name", "expected a string, found a number; quote it"),
        ({"value": "a"}, "", "this entry has no name"),
        ({"name": "", "value": "a"}, "", "this entry has no name"),
        ("NAME=value", "", "expected an object, found a string"),
    ],
)
def test_an_invalid_entry_is_unknown(entry: paths.Json, path: str, reason: str) -> None:
    assert unknowns(pod_with(entry)) == [("/spec/containers/0/env/0" + path, reason)]


def test_a_value_that_could_not_be_read_is_not_taken_for_an_empty_one() -> None:
    (found,) = workload(pod_with({"name": NAME, "value": 0})).pod_sets

    assert [variable.value for variable in found.containers[0].environment] == [None]


def test_variables_of_other_families_do_not_leave_the_manifest() -> None:
    env: dict[str, paths.Json] = {"TOKEN": "secret", "NCCL_DEBUG": "INFO", "MY_NCCL_DEBUG": "x", "nccl_debug": "x"}
    found = pod_set(builders.pod(builders.container(env=env)))

    assert [(variable.name, variable.value) for variable in found.containers[0].environment] == [("NCCL_DEBUG", "INFO")]


@pytest.mark.parametrize("name", ["AMD_VISIBLE_DEVICES", "AWS_NEURON_VISIBLE_DEVICES", "HABANA_VISIBLE_DEVICES"])
def test_variables_that_runtimes_of_other_vendors_read_are_kept(name: str) -> None:
    found = pod_set(builders.pod(builders.container(env={name: "all"})))

    assert [variable.value for variable in found.containers[0].environment] == ["all"]


@pytest.mark.parametrize("family", ["NVIDIA_", "NCCL_", "CUDA_", "UCX_", "FI_", "RDMAV_"])
def test_the_families_that_rules_read_are_kept(family: str) -> None:
    found = pod_set(builders.pod(builders.container(env={family + "X": "1"})))

    assert [variable.name for variable in found.containers[0].environment] == [family + "X"]


def test_of_two_entries_of_one_name_both_are_kept_in_their_order() -> None:
    entries: paths.Json = [{"name": NAME, "value": "none"}, {"name": NAME, "value": "all"}]
    found = pod_set(builders.replaced(builders.pod(), "/spec/containers/0/env", entries))

    assert [(variable.value, variable.path) for variable in found.containers[0].environment] == [
        ("none", "/spec/containers/0/env/0"),
        ("all", "/spec/containers/0/env/1"),
    ]


def test_an_environment_that_is_not_a_list_is_unknown() -> None:
    value = builders.replaced(builders.pod(), "/spec/containers/0/env", {NAME: "all"})

    assert unknowns(value) == [("/spec/containers/0/env", "expected a list, found an object")]


@pytest.mark.parametrize("env", [None, []])
def test_an_environment_may_be_missing_or_empty(env: paths.Json) -> None:
    found = pod_set(builders.replaced(builders.pod(), "/spec/containers/0/env", env))

    assert found.containers[0].environment == ()


def test_a_wrong_source_of_an_empty_value_is_unknown() -> None:
    assert unknowns(pod_with({"name": NAME, "value": "", "valueFrom": "field"})) == [
        ("/spec/containers/0/env/0/valueFrom", "expected an object, found a string")
    ]


def test_init_sidecar_and_ephemeral_containers_have_environments_too() -> None:
    env: dict[str, paths.Json] = {NAME: "all"}
    found = pod_set(
        builders.pod(
            initContainers=[builders.container("i", env=env), builders.container("s", env=env, restartPolicy="Always")],
            ephemeralContainers=[builders.container("e", env=env)],
        )
    )

    assert [len(container.environment) for container in found.containers] == [1, 1, 0, 1]


def pytorch_job(*env: paths.Json) -> paths.Object:
    container: paths.Object = {"name": "pytorch", "env": [*env]}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "train"},
        "spec": {"pytorchReplicaSpecs": {"Master": {"template": {"spec": {"containers": [container]}}}}},
    }


def test_of_the_operators_variables_the_names_are_known_and_no_value_that_rules_do_not_read() -> None:
    found = pod_set(
        pytorch_job(
            {"name": "TOKEN", "value": "secret"},
            {"name": "MASTER_ADDR", "value": "10.0.0.1"},
            {"name": "PET_RDZV_ID", "valueFrom": FROM_FIELD},
            {"name": "MASTER_ADDRESS", "value": "10.0.0.1"},
        )
    )
    (container,) = found.containers

    place = "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/env"
    assert container.operator_variables == {"MASTER_ADDR": f"{place}/1", "PET_RDZV_ID": f"{place}/2"}
    # Rules read addresses of the first rank, and no other value.
    assert [each.name for each in container.environment] == ["MASTER_ADDR", "MASTER_ADDRESS"]


def test_without_variables_of_the_operator_there_is_nothing_to_tell() -> None:
    assert pod_set(pytorch_job({"name": "TOKEN", "value": "secret"})).containers[0].operator_variables is None
    assert pod_set(builders.pod(builders.container(env={"MASTER_ADDR": "a"}))).containers[0].operator_variables is None


@pytest.mark.parametrize("entry", [None, "MASTER_ADDR=a", {"name": 5}, {"value": "a"}])
def test_an_invalid_entry_does_not_count_as_a_variable_of_the_operator(entry: paths.Json) -> None:
    (found,) = workload(pytorch_job(entry, {"name": "RANK"})).pod_sets

    place = "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/env/1"
    assert found.containers[0].operator_variables == {"RANK": place}


def test_an_environment_that_is_not_a_list_makes_the_operator_variables_unknown() -> None:
    value = builders.replaced(
        pytorch_job(), "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/env", {"RANK": "0"}
    )

    assert workload(value).pod_sets[0].containers[0].operator_variables is None
