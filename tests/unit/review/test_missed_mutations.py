"""A validating review of an object that the mutating webhook did not answer about in time."""

from collections.abc import Iterator
from typing import Any

import pytest

from builders import GPU, container, job, pod, template
from reviews import body
from unit.review.answering import answered, mutated
from usher import errors, paths
from usher.config import models
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.review import webhooks
from usher.review.admission_review import Answer

POOLS = [
    {
        "name": "h100",
        "nodeSelector": {"gpu": "h100"},
        "taints": [{"key": GPU, "value": "present", "effect": "NoSchedule"}],
        "resources": [GPU],
    }
]
QUEUES = [{"namespaces": ["ml-*"], "localQueue": "research"}]
QUIET = [
    {"check": "cpu-and-memory-requested", "action": "audit"},
    {"check": "shared-memory-missing", "action": "audit"},
    {"check": "gpu-node-affinity-present", "action": "audit"},
]


def site(*rules: dict[str, Any], **config: Any) -> Evaluator:
    enforcement = {"rules": [*QUIET, *rules]}
    return assembly.embedded(models.Config.model_validate({"pools": POOLS, "enforcement": enforcement, **config}))


@pytest.fixture(scope="module")
def pools() -> Iterator[Evaluator]:
    made = site()
    yield made
    made.engine.close()


@pytest.fixture(scope="module")
def queues() -> Iterator[Evaluator]:
    made = site(queues=QUEUES)
    yield made
    made.engine.close()


def gpu_pod(*more: paths.Object, **fields: Any) -> paths.Object:
    return pod(container(gpus=1), *more, **fields)


def gpu_job(**metadata: Any) -> paths.Object:
    return job(template(container(gpus=1)), name="train", namespace="ml-research", **metadata)


def reviewed(evaluator: Evaluator, value: paths.Object, **request: Any) -> tuple[Answer, Any]:
    answer = webhooks.validate(body(value, **request), evaluator)
    return answer, answered(answer)


def test_a_pod_that_lacks_only_what_the_mutations_add_comes_in_with_a_warning(pools: Evaluator) -> None:
    answer, response = reviewed(pools, gpu_pod())

    assert response["allowed"]
    assert "status" not in response
    first, second = response["warnings"]
    assert first == (
        "delete this object and create it again, because it has missed its mutations: gpu-node-affinity, gpu-toleration"
    )
    assert second.startswith("USH301 gpu-toleration-present: ")
    assert response["auditAnnotations"]["missed-mutations"] == "gpu-node-affinity,gpu-toleration"
    assert answer.missed == ("gpu-node-affinity", "gpu-toleration")
    assert answer.outcomes["gpu-toleration-present"] == "warn"


def test_a_pod_that_the_webhook_mutated_has_missed_nothing(pools: Evaluator) -> None:
    value = pools.mutate(Request(value=gpu_pod())).value

    answer, response = reviewed(pools, value)

    assert response["allowed"]
    assert answer.missed == ()
    assert "warnings" not in response


def test_what_the_mutated_pod_lacks_as_well_is_still_denied(pools: Evaluator) -> None:
    """The author mends what only the author can mend, and is not told to mend the rest."""
    value = gpu_pod(container("greedy", env={"NVIDIA_VISIBLE_DEVICES": "all"}))

    answer, response = reviewed(pools, value)

    assert response["status"]["code"] == 403
    assert "visible-devices-set-by-hand" in response["status"]["message"]
    assert "USH301" not in response["status"]["message"]
    assert answer.outcomes["gpu-toleration-present"] == "warn"


def test_no_leave_is_given_to_a_pod_with_a_container_whose_devices_the_mutation_would_hide(pools: Evaluator) -> None:
    """Otherwise a tenant who makes the webhook late gets every GPU of the node in a container beside."""
    _, response = reviewed(pools, gpu_pod(container("beside")))

    status = response["status"]
    assert not response["allowed"]
    assert (status["code"], status["reason"], status["details"]) == (
        503,
        "ServiceUnavailable",
        {"retryAfterSeconds": 1},
    )
    assert "Pod ml-research/example cannot come in without its mutations: " in status["message"]
    assert "visible-devices-void" in status["message"]
    assert status["message"].endswith("Nothing is wrong with it; try again.")


def test_no_job_gets_around_its_queue_because_a_mutation_was_missed(queues: Evaluator) -> None:
    answer, response = reviewed(queues, gpu_job())

    assert response["status"]["code"] == 503
    assert "queue-label" in answer.missed
    assert not answer.allowed


def test_where_usher_yaml_only_warns_of_a_missing_queue_a_job_without_it_comes_in() -> None:
    """The site has said that it can live without."""
    lenient = site({"check": "queue-label-missing", "action": "warn"}, queues=QUEUES)

    _, response = reviewed(lenient, gpu_job())

    assert response["allowed"]


def test_an_error_hides_no_denial() -> None:
    value = gpu_pod(container("greedy", env={"NVIDIA_VISIBLE_DEVICES": "all"}))

    assert reviewed(site(mutations={"missed": "error"}), value)[1]["status"]["code"] == 403


def test_a_critical_check_denies_whatever_the_mutations_would_have_made(pools: Evaluator) -> None:
    half = pod(container(limits={GPU: "0.5"}))

    assert "USH101" in reviewed(pools, half)[1]["auditAnnotations"]["deny"]


def test_usher_yaml_can_have_clients_try_again_instead_of_a_warning() -> None:
    strict = site(mutations={"missed": "error"})

    answer, response = reviewed(strict, gpu_pod())

    assert response["status"]["code"] == 503
    assert (answer.allowed, answer.try_again) == (False, True)


def test_who_refuses_a_mutation_is_judged_as_written() -> None:
    opted = site(mutations={"optOuts": [{"mutations": ["*"]}]})
    value = gpu_pod(annotations={"gpu-usher.io/skip-mutations": "*"})

    _, response = reviewed(opted, value)

    assert response["status"]["code"] == 403
    assert "USH301" in response["status"]["message"]


def test_where_usher_yaml_switches_the_mutation_off_the_object_is_judged_as_written() -> None:
    off = site(mutations={"rules": [{"mutation": "gpu-toleration", "action": "off"}]})

    assert reviewed(off, gpu_pod())[1]["status"]["code"] == 403


def test_a_pod_that_says_it_was_mutated_and_lacks_the_value_is_denied(pools: Evaluator) -> None:
    """The webhook answered about it, and somebody took the value away again."""
    value = gpu_pod(annotations={"gpu-usher.io/mutations": "gpu-node-affinity,gpu-toleration"})

    assert reviewed(pools, value)[1]["status"]["code"] == 403


def test_an_update_that_takes_a_mutation_away_while_the_webhook_is_late_is_excused(queues: Evaluator) -> None:
    """`kubectl apply` rewrites the labels of its manifest; without the webhook the label of the queue is gone."""
    before = queues.mutate(Request(value=gpu_job())).value
    metadata: Any = before["metadata"]
    after = {**before, "metadata": {**metadata, "labels": {}}}

    answer, response = reviewed(queues, after, operation="UPDATE", old_value=before)

    assert answer.missed == ("queue-label",)
    assert response["status"]["code"] == 503


def test_an_update_gets_no_leave_for_what_no_mutation_gives_on_update(queues: Evaluator) -> None:
    before = gpu_job(labels={"kueue.x-k8s.io/queue-name": "research"})
    after = gpu_job()

    answer, response = reviewed(queues, after, operation="UPDATE", old_value=before)

    assert answer.missed == ()
    assert response["status"]["code"] == 403


def test_a_fault_in_the_second_look_leaves_the_denial_as_it_is(
    pools: Evaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HTTP 5xx would let the object in under failurePolicy Ignore."""

    def admit(_request: Request) -> None:
        raise errors.DeadlineError("no time is left")

    monkeypatch.setattr(pools, "admit", admit)

    assert reviewed(pools, gpu_pod())[1]["status"]["code"] == 403


VOID = {"NVIDIA_VISIBLE_DEVICES": "void"}
RECORD = {"gpu-usher.io/mutations": "visible-devices-void"}


def test_an_object_that_is_let_in_is_judged_once(pools: Evaluator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Evaluator, "admit")

    assert reviewed(pools, pod(container(env=VOID)))[1]["allowed"]


def test_a_good_pod_that_lacks_nothing_is_not_mutated_again(pools: Evaluator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Evaluator, "patch")
    good = pod(container(env=VOID), container("sidecar", env=VOID))

    assert reviewed(pools, good)[1]["allowed"]


def test_a_pod_with_critical_findings_alone_is_not_mutated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutations could not mend them."""
    monkeypatch.delattr(Evaluator, "patch")
    monkeypatch.delattr(Evaluator, "admit")
    baseline = assembly.embedded(models.Config())
    seeing = pod(container(env={"NVIDIA_VISIBLE_DEVICES": "all"}))

    assert reviewed(baseline, seeing)[1]["status"]["code"] == 403


@pytest.mark.parametrize("annotations", [None, RECORD])
def test_a_good_pod_whose_devices_no_mutation_hid_has_to_come_again(
    pools: Evaluator, annotations: dict[str, str] | None
) -> None:
    """No check finds it, and its author can write the record of a mutation."""
    answer, response = reviewed(pools, pod(annotations=annotations))

    assert (response["status"]["code"], answer.missed, answer.try_again) == (503, ("visible-devices-void",), True)


def test_a_pod_comes_again_only_where_the_webhook_would_change_it(pools: Evaluator) -> None:
    seeing = site(isolation={"visibleDevices": ["monitoring"]})

    assert reviewed(seeing, pod(namespace="monitoring"))[1]["allowed"]
    assert reviewed(pools, gpu_job())[1]["allowed"]
    assert reviewed(site(enforcement={"preset": "observe"}), pod())[1]["allowed"]


@pytest.mark.parametrize("sub_resource", ["", "resize", "status"])
def test_an_update_that_no_mutation_sees_is_let_in(pools: Evaluator, sub_resource: str) -> None:
    """The API server asks the mutating webhook about no update of the same spec, and about few subresources."""
    old = pod(container(env=VOID))
    value = pod(container(), labels={"team": "nlp"})
    same = value if sub_resource else {**old, "metadata": value["metadata"]}

    assert reviewed(pools, same, operation="UPDATE", old_value=old, subResource=sub_resource)[1]["allowed"]


def test_a_debug_container_that_sees_all_devices_has_to_come_again(pools: Evaluator) -> None:
    old = pod(container(env=VOID))
    value = pod(container(env=VOID), ephemeralContainers=[container("debug")])

    _, response = reviewed(pools, value, operation="UPDATE", old_value=old, subResource="ephemeralcontainers")

    assert response["status"]["code"] == 503


def test_the_record_of_an_object_of_another_kind_counts() -> None:
    """The API server may drop a field that the definition of the kind does not have."""
    lifetimes = site(lifecycle=[{"ttlAfterFinished": "1h"}])
    recorded: Any = lifetimes.mutate(Request(value=gpu_job())).value
    recorded["spec"] = {key: value for key, value in recorded["spec"].items() if key != "ttlSecondsAfterFinished"}
    unrecorded = recorded | {"metadata": {"name": "train", "namespace": "ml-research"}}

    assert reviewed(lifetimes, unrecorded)[0].missed == ("job-lifetime",)
    assert reviewed(lifetimes, recorded)[1]["allowed"]


def test_the_mutating_review_promises_what_the_validating_review_says_was_missed(pools: Evaluator) -> None:
    said = mutated(pools, gpu_pod())["auditAnnotations"]["mutations"]

    assert reviewed(pools, gpu_pod())[1]["auditAnnotations"]["missed-mutations"] == said
