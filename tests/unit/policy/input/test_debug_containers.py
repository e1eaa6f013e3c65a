"""Debug containers, which join a pod that runs: they are mutated, and nothing else of the pod is."""

from collections.abc import Iterator

import pytest

from builders import container, pod, replaced
from usher import paths
from usher.config import models
from usher.policy import assembly
from usher.policy.decision import Operation, Request
from usher.policy.evaluator import Evaluator
from usher.policy.mutation import merge

CONFIG = models.Config.model_validate(
    {
        "isolation": {"visibleDevices": ["monitoring"]},
        "mutations": {
            "rules": [{"mutation": "visible-devices-void", "namespaces": ["off"], "action": "off"}],
            "optOuts": [{"namespaces": ["ml-research"], "mutations": ["visible-devices-void"]}],
        },
    }
)
VOID: paths.Json = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}
ALL = {"NVIDIA_VISIBLE_DEVICES": "all"}


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    evaluator = assembly.embedded(CONFIG)
    yield evaluator
    evaluator.engine.close()


def running(
    *debug: paths.Object, gpus: int | None = 8, namespace: str = "ml-research", refusing: str = ""
) -> paths.Object:
    """A pod that was there before the webhooks, with debug containers."""
    annotations = {"gpu-usher.io/skip-mutations": refusing} if refusing else None
    value = pod(container(gpus=gpus), container("sidecar"), namespace=namespace, annotations=annotations)
    return replaced(value, "/spec/ephemeralContainers", list(debug)) if debug else value


def debugged(
    evaluator: Evaluator, value: paths.Object, old: paths.Object | None, *, sub_resource: str = "ephemeralcontainers"
) -> merge.Merged:
    return evaluator.mutate(Request(value=value, old_value=old, operation=Operation.UPDATE, sub_resource=sub_resource))


@pytest.mark.parametrize("gpus", [None, 8])
def test_a_new_debug_container_sees_no_gpu_and_nothing_else_of_the_pod_is_changed(
    evaluator: Evaluator, gpus: int | None
) -> None:
    shell = container("shell", targetContainerName="main")
    result = debugged(evaluator, running(shell, gpus=gpus), running(gpus=gpus))

    assert result.value == running(shell | {"env": [VOID]}, gpus=gpus)
    assert result.operations == ({"op": "add", "path": "/spec/ephemeralContainers/0/env", "value": [VOID]},)


def test_a_debug_container_that_is_there_already_stays_as_it_is(evaluator: Evaluator) -> None:
    """The API server takes no change of one."""
    first, second = container("first"), container("second")

    assert debugged(evaluator, running(first, second), running(first)).value == running(first, second | {"env": [VOID]})
    assert debugged(evaluator, running(first), running(first)).operations == ()


def test_what_the_user_set_is_for_a_check_to_judge(evaluator: Evaluator) -> None:
    assert debugged(evaluator, running(container("shell", env=ALL)), running()).operations == ()


def test_a_mutated_container_is_not_changed_by_a_second_review(evaluator: Evaluator) -> None:
    once = debugged(evaluator, running(container("shell")), running())

    assert debugged(evaluator, once.value, running()).operations == ()


def test_where_devices_may_be_chosen_nothing_is_changed(evaluator: Evaluator) -> None:
    shell = container("shell")
    new, old = running(shell, namespace="monitoring"), running(namespace="monitoring")

    assert debugged(evaluator, new, old).operations == ()


@pytest.mark.parametrize(("namespace", "refusing"), [("off", ""), ("ml-research", "visible-devices-void")])
def test_opt_outs_of_the_mutation_hold_for_debug_containers(
    evaluator: Evaluator, namespace: str, refusing: str
) -> None:
    new = running(container("shell"), namespace=namespace, refusing=refusing)

    assert debugged(evaluator, new, running(namespace=namespace, refusing=refusing)).operations == ()


@pytest.mark.parametrize("sub_resource", ["resize", "status", "binding"])
def test_of_other_sub_resources_nothing_is_changed(evaluator: Evaluator, sub_resource: str) -> None:
    new, old = running(container("shell")), running()

    assert debugged(evaluator, new, old, sub_resource=sub_resource).operations == ()


def test_without_the_old_pod_no_container_counts_as_new(evaluator: Evaluator) -> None:
    assert debugged(evaluator, running(container("shell")), None).operations == ()
