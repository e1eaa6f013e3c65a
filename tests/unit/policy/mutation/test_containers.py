"""Mutations add variables, resources and capabilities to a container."""

from typing import Any

import pytest

from unit.policy.mutation.manifests import (
    CONTAINER,
    IN_THE_WAY,
    WORKER,
    at,
    container,
    intent,
    merged,
    pod,
    pytorch_job,
    refusals,
)
from usher import paths
from usher.kinds.reading import environment as reading_environment
from usher.policy.mutation import editing, merge, pod_fields

DEBUG = {"name": "NCCL_DEBUG", "value": "WARN"}
VOID = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}
NAMESPACE = {"name": "NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}


def with_environment(environment: Any, wanted: Any = None, *, field: str = "environment") -> merge.Merged:
    value = pod(containers=[container(env=environment)])
    return merged(value, intent(field, wanted or DEBUG, at=CONTAINER))


@pytest.mark.parametrize("environment", [None, []])
def test_a_container_without_variables_gets_one(environment: paths.Json) -> None:
    assert at(with_environment(environment), CONTAINER + "/env") == [DEBUG]


def test_a_variable_goes_behind_those_that_are_there() -> None:
    home = {"name": "HOME", "value": "/"}

    assert at(with_environment([home]), CONTAINER + "/env") == [home, DEBUG]


@pytest.mark.parametrize("field", ["environment", "enforcedEnvironment"])
@pytest.mark.parametrize(
    "theirs",
    [
        {"name": "NCCL_DEBUG", "value": "INFO"},
        {"name": "NCCL_DEBUG", "value": ""},
        {"name": "NCCL_DEBUG"},
        {"name": "NCCL_DEBUG", "valueFrom": {"configMapKeyRef": {"name": "nccl", "key": "debug"}}},
    ],
)
def test_a_variable_of_the_user_stays_however_it_is_set(theirs: paths.Json, field: str) -> None:
    assert refusals(with_environment([theirs], field=field)) == [editing.USER_DECIDES]


def test_a_variable_that_is_there_is_not_repeated() -> None:
    assert refusals(with_environment([DEBUG])) == [editing.ALREADY_THERE]


def test_a_variable_is_known_again_as_the_api_server_writes_it() -> None:
    written = {
        "name": "NAMESPACE",
        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}},
    }

    assert refusals(with_environment([written], NAMESPACE)) == [editing.ALREADY_THERE]
    assert refusals(with_environment([{**written, "value": "ours"}], NAMESPACE)) == [editing.USER_DECIDES]


def test_entries_that_are_not_variables_are_skipped() -> None:
    assert at(with_environment(["text", None, {}]), CONTAINER + "/env") == ["text", None, {}, DEBUG]


def test_variables_that_are_not_a_list_are_not_changed() -> None:
    assert refusals(with_environment({"NCCL_DEBUG": "INFO"})) == [f"{IN_THE_WAY}{CONTAINER}/env"]


@pytest.mark.parametrize("name", ["MASTER_ADDR", "PET_NNODES"])
def test_a_variable_that_the_operator_sets_is_left_to_it(name: str) -> None:
    wanted = intent("environment", {"name": name, "value": "1"}, at=WORKER + "/spec/containers/0")

    assert refusals(merged(pytorch_job(), wanted)) == [f"the operator sets {name} itself"]


def test_a_name_that_only_starts_like_the_operators_is_ours_to_set() -> None:
    operators = frozenset({"RANK", "PET_*"})

    assert reading_environment.is_operators("PET_ANYTHING", operators)
    assert not reading_environment.is_operators("RANKING", operators)
    assert not reading_environment.is_operators("PETS", operators)


def test_init_containers_have_variables_of_their_own() -> None:
    result = merged(pod(initContainers=[container()]), intent("environment", DEBUG, at="/spec/initContainers/0"))

    assert at(result, "/spec/initContainers/0/env") == [DEBUG]
    assert "env" not in at(result, CONTAINER)


def sourced(field: str, *sources: Any) -> merge.Merged:
    value = pod(containers=[container(envFrom=list(sources))])
    return merged(value, intent(field, DEBUG, at=CONTAINER))


@pytest.mark.parametrize(
    "source",
    [
        {"configMapRef": {"name": "settings"}},
        {"secretRef": {"name": "settings"}, "prefix": ""},
        {"configMapRef": {"name": "settings"}, "prefix": "NCCL_"},
        {"prefix": 7},
        "text",
    ],
)
def test_usher_does_not_override_env_from_and_tells_the_user(source: Any) -> None:
    result = sourced("environment", source)

    assert refusals(result) == [pod_fields.OPAQUE]
    assert [skipped.warned for skipped in result.skipped] == [True]


def test_what_env_from_cannot_bring_for_its_prefix_is_added() -> None:
    source = {"configMapRef": {"name": "settings"}, "prefix": "APP_"}

    assert at(sourced("environment", source), CONTAINER + "/env") == [DEBUG]


def test_enforced_variables_override_env_from() -> None:
    assert at(sourced("enforcedEnvironment", {"secretRef": {"name": "settings"}}), CONTAINER + "/env") == [DEBUG]


def test_an_env_from_that_is_not_a_list_brings_no_variables() -> None:
    value = pod(containers=[container(envFrom="text")])

    assert at(merged(value, intent("environment", DEBUG, at=CONTAINER)), CONTAINER + "/env") == [DEBUG]


def given(field: str, wanted: Any, **resources: Any) -> merge.Merged:
    value = pod(containers=[container(resources=resources or None)])
    return merged(value, intent(field, wanted, at=CONTAINER))


DEVICE = {"name": "rdma/hca", "amount": 8}


@pytest.mark.parametrize("limits", [None, {}, {"rdma/hca": None}])
def test_a_resource_is_given_by_its_limit(limits: Any) -> None:
    assert at(given("resource", DEVICE, limits=limits), CONTAINER + "/resources/limits") == {"rdma/hca": "8"}


def test_resources_of_others_stay() -> None:
    result = given("resource", DEVICE, requests={"cpu": 4}, limits={"nvidia.com/gpu": 8})

    assert at(result, CONTAINER + "/resources") == {
        "requests": {"cpu": 4},
        "limits": {"nvidia.com/gpu": 8, "rdma/hca": "8"},
    }


@pytest.mark.parametrize("list_name", ["requests", "limits"])
@pytest.mark.parametrize("amount", [8, "8", "8000m", "0.008k"])
def test_an_amount_is_known_again_in_every_spelling(list_name: str, amount: Any) -> None:
    assert refusals(given("resource", DEVICE, **{list_name: {"rdma/hca": amount}})) == [editing.ALREADY_THERE]


@pytest.mark.parametrize("amount", [0, 1, "16", "many", True])
def test_another_amount_stays_as_the_user_wrote_it(amount: Any) -> None:
    assert refusals(given("resource", DEVICE, limits={"rdma/hca": amount})) == [editing.USER_DECIDES]


@pytest.mark.parametrize("field", ["resource", "request"])
@pytest.mark.parametrize("there", ["text", [1], 7])
def test_resources_of_a_wrong_type_are_not_changed(field: str, there: Any) -> None:
    value = pod(containers=[container(resources=there)])

    assert refusals(merged(value, intent(field, DEVICE, at=CONTAINER)))[0].startswith(IN_THE_WAY)


GPUS = {"name": "nvidia.com/gpu", "amount": "8"}


@pytest.mark.parametrize("requests", [None, {}])
def test_a_request_joins_the_limit(requests: Any) -> None:
    result = given("request", GPUS, requests=requests, limits={"nvidia.com/gpu": 8})

    assert at(result, CONTAINER + "/resources") == {
        "requests": {"nvidia.com/gpu": "8"},
        "limits": {"nvidia.com/gpu": 8},
    }


@pytest.mark.parametrize(("amount", "reason"), [("8k", editing.USER_DECIDES), ("8000m", editing.ALREADY_THERE)])
def test_a_request_of_the_user_stays(amount: str, reason: str) -> None:
    assert refusals(given("request", GPUS, requests={"nvidia.com/gpu": amount})) == [reason]


def capable(context: Any) -> merge.Merged:
    value = pod(containers=[container(securityContext=context)])
    return merged(value, intent("capability", {"name": "IPC_LOCK"}, at=CONTAINER))


@pytest.mark.parametrize("context", [None, {}, {"capabilities": None}, {"capabilities": {"add": []}}])
def test_a_capability_is_added(context: Any) -> None:
    assert at(capable(context), CONTAINER + "/securityContext/capabilities/add") == ["IPC_LOCK"]


def test_capabilities_that_are_there_stay() -> None:
    result = capable({"runAsUser": 1000, "capabilities": {"add": ["NET_RAW"], "drop": ["ALL"]}})

    assert at(result, CONTAINER + "/securityContext") == {
        "runAsUser": 1000,
        "capabilities": {"add": ["NET_RAW", "IPC_LOCK"], "drop": ["ALL"]},
    }


@pytest.mark.parametrize(
    "context",
    [
        {"privileged": True},
        {"capabilities": {"add": ["IPC_LOCK"]}},
        {"capabilities": {"add": ["ipc_lock"]}},
        {"capabilities": {"add": ["ALL"]}},
        {"capabilities": {"add": ["all", None]}},
    ],
)
def test_a_capability_that_the_container_has_is_not_repeated(context: Any) -> None:
    assert refusals(capable(context)) == [editing.ALREADY_THERE]


@pytest.mark.parametrize("dropped", ["IPC_LOCK", "ipc_lock"])
def test_a_capability_that_the_user_drops_by_name_is_not_given_back(dropped: str) -> None:
    assert refusals(capable({"capabilities": {"drop": [dropped]}})) == [editing.USER_DECIDES]


@pytest.mark.parametrize(
    "context",
    ["text", {"capabilities": ["IPC_LOCK"]}, {"capabilities": {"add": "IPC_LOCK"}}, {"capabilities": {"drop": {}}}],
)
def test_a_security_context_with_a_wrong_type_is_not_changed(context: Any) -> None:
    assert refusals(capable(context))[0].startswith(IN_THE_WAY)
