"""Bodies in, bodies out, with the policies that are shipped."""

import base64
from typing import Any

import jsonpatch
import orjson
import pytest

import engines
from builders import container, pod, pytorch_job, replaced, template
from reviews import UID, body
from unit.review.answering import GPU, answered, bad_job, mutated, validated
from usher import errors, paths
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.review import admission_review as review_response
from usher.review import webhooks


def patched(value: paths.Object, response: Any) -> Any:
    """The object after the API server decodes the patch and applies it, strictly."""
    operations = orjson.loads(base64.b64decode(response["patch"], validate=True))
    return jsonpatch.JsonPatch(operations).apply(value)


def test_a_pod_that_needs_nothing_gets_no_patch(evaluator: Evaluator) -> None:
    needs_nothing = pod(container(env={"NVIDIA_VISIBLE_DEVICES": "void"}))
    assert mutated(evaluator, needs_nothing) == {"uid": UID, "allowed": True}


def test_a_patch_applies_to_the_object_and_says_what_it_does(evaluator: Evaluator) -> None:
    trainer = container("pytorch", requests={GPU: 8}, gpus=8)
    job = pytorch_job(template(trainer), workers=7, master=template(trainer))

    answer = mutated(evaluator, job)
    after = patched(job, answer)

    assert answer["patchType"] == "JSONPatch"
    assert answer["warnings"] == ["gpu-usher: applied gpu-toleration (2 places)"]
    assert answer["auditAnnotations"] == {"mutations": "gpu-toleration"}
    for replica in after["spec"]["pytorchReplicaSpecs"].values():
        assert replica["template"]["spec"].pop("tolerations") == [
            {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
        ]
    assert after["metadata"].pop("annotations") == {"gpu-usher.io/mutations": "gpu-toleration"}
    assert after == job


@pytest.mark.parametrize("there", [None, [], {}], ids=repr)
@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("/spec/tolerations", pod(container(gpus=1))),
        ("/spec/containers/0/env", pod()),
        ("/metadata/annotations", pod()),
        ("/metadata/annotations", pod(container(gpus=1))),
    ],
)
def test_a_patch_applies_whatever_it_finds_in_its_place(
    evaluator: Evaluator, place: str, value: paths.Object, there: paths.Json
) -> None:
    """A patch that does not apply refuses the request, whatever failurePolicy says."""
    odd = replaced(value, place, there)

    answer = mutated(evaluator, odd)

    if "patch" in answer:
        assert mutated(evaluator, patched(odd, answer)) == {"uid": UID, "allowed": True}
    else:
        # A list where an object belongs, or the other way round: the API server will say so.
        assert there == ([] if place == "/metadata/annotations" else {})


def test_what_was_patched_needs_no_other_patch(evaluator: Evaluator) -> None:
    for value in (pod(), pod(container(gpus=1)), bad_job(), pytorch_job(template(container(gpus=1)), workers=2)):
        assert mutated(evaluator, patched(value, mutated(evaluator, value))) == {"uid": UID, "allowed": True}


def test_unknown_fields_survive_a_patch(evaluator: Evaluator) -> None:
    future = replaced(pod(futureField={"a": [1, 2**53 + 1]}), "/metadata/future", "yes")

    after = patched(future, mutated(evaluator, future))

    assert after["spec"]["futureField"] == {"a": [1, 2**53 + 1]}
    assert after["metadata"]["future"] == "yes"


@pytest.mark.parametrize("request_fields", [{"operation": "UPDATE"}, {"subResource": "resize"}], ids=str)
def test_only_objects_that_are_created_are_patched(evaluator: Evaluator, request_fields: dict[str, str]) -> None:
    assert mutated(evaluator, pod(), **request_fields) == {"uid": UID, "allowed": True}


def test_a_debug_container_gets_a_patch_of_its_own_without_a_record(evaluator: Evaluator) -> None:
    debugged = pod(ephemeralContainers=[container("debug")])

    answer = mutated(evaluator, debugged, operation="UPDATE", old_value=pod(), subResource="ephemeralcontainers")

    hidden = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}
    assert patched(debugged, answer) == pod(ephemeralContainers=[{**container("debug"), "env": [hidden]}])
    assert answer["auditAnnotations"] == {"mutations": "visible-devices-void"}
    assert "warnings" not in answer


def test_debug_containers_are_judged(evaluator: Evaluator) -> None:
    debugged = pod(ephemeralContainers=[container("debug", env={"NVIDIA_VISIBLE_DEVICES": "all"})])

    answer = validated(evaluator, debugged, operation="UPDATE", old_value=pod(), subResource="ephemeralcontainers")

    assert "USH201 visible-devices-set-by-hand: " in answer["status"]["message"]


def intent(mutation: str, value: str) -> paths.Json:
    variable: paths.Json = {"name": "NCCL_DEBUG", "value": value}
    wanted: paths.Json = {"at": "/spec/containers/0", "field": "environment", "value": variable, "reason": "test"}
    return {"mutation": mutation, "intent": wanted}


def test_mutations_are_applied_in_their_order_whatever_their_names() -> None:
    early: paths.Json = {"at": "", "field": "kueueLabel", "value": {"key": "a", "value": "b"}, "reason": "test"}
    late: paths.Json = {"at": "", "field": "annotation", "value": {"key": "a", "value": "b"}, "reason": "test"}
    wanted: list[paths.Json] = [
        {"mutation": "isolation/visible_devices_void", "intent": late},
        {"mutation": "queueing/queue_label", "intent": early},
    ]
    evaluator = engines.evaluator(engines.ScriptedEngine(lambda _: engines.result(intents=wanted)))

    merged = evaluator.mutate(Request(value=pod()))

    assert [each.field for each in merged.applied] == ["kueueLabel", "annotation"]


def test_mutations_that_do_not_fit_into_one_warning_fill_several() -> None:
    keys = [f"category/mutation_with_a_long_name_{number}" for number in range(5)]
    wanted: list[paths.Json] = [
        {
            "mutation": key,
            "intent": {"at": "", "field": "annotation", "value": {"key": key, "value": "a"}, "reason": "test"},
        }
        for key in keys
    ]
    evaluator = engines.evaluator(engines.ScriptedEngine(lambda _: engines.result(intents=wanted)))

    warnings = answered(webhooks.mutate(body(pod()), evaluator))["warnings"]

    assert len(warnings) > 1
    assert all(len(warning) <= review_response.MAX_WARNING for warning in warnings)
    names = ", ".join(warning.removeprefix("gpu-usher: applied ") for warning in warnings)
    assert names.split(", ") == keys


def test_mutations_that_disagree_change_nothing_and_it_is_said() -> None:
    disagreeing = [intent("fabric/nccl_environment", "INFO"), intent("isolation/visible_devices_void", "WARN")]
    evaluator = engines.evaluator(engines.ScriptedEngine(lambda _: engines.result(intents=disagreeing)))

    answer = webhooks.mutate(body(pod()), evaluator)

    place, names = "env at spec.containers[0]", "nccl-environment and visible-devices-void"
    (conflict,) = answer.conflicts
    assert conflict == f"{place} left as it is: different values from {names}"
    warning = f"gpu-usher: {conflict}"
    assert answered(answer) == {"uid": UID, "allowed": True, "warnings": [warning]}


@pytest.mark.parametrize("endpoint", [webhooks.validate, webhooks.mutate])
@pytest.mark.parametrize(
    "place",
    [
        "/metadata/labels",
        "/metadata/annotations",
        "/metadata/name",
        "/metadata/ownerReferences",
        "/spec/tolerations",
        "/spec/affinity",
        "/spec/containers",
        "/spec/containers/0/env",
        "/spec/containers/0/resources",
        "/spec/future",
        "/spec",
    ],
)
@pytest.mark.parametrize("kind", ["Pod", "Seat"])
def test_the_deepest_accepted_nesting_is_answered(evaluator: Evaluator, endpoint: Any, place: str, kind: str) -> None:
    for level in ({"a": None}, [None]):
        deep: paths.Json = None
        for _ in range(240):
            deep = {"a": deep} if isinstance(level, dict) else [deep]
        # Whatever its resources say, the container sees no device.
        value = pod(container(gpus=1, env={"NVIDIA_VISIBLE_DEVICES": "void"}))
        value = replaced(value, place, deep) | {"kind": kind}
        assert answered(endpoint(body(value, name="deep"), evaluator))["allowed"] is True


@pytest.mark.parametrize("endpoint", [webhooks.validate, webhooks.mutate])
@pytest.mark.parametrize(
    "result",
    [
        {"version": 1},
        {"version": 1, "findings": [{}], "unknown": [], "intents": [{}]},
        {"version": 1, "findings": [{"check": "no/such", "finding": {"path": "", "message": ""}}], "unknown": []},
        {"version": 1, "findings": "", "unknown": [], "intents": ""},
    ],
)
def test_an_invalid_answer_of_the_engine_is_an_error_instead_of_a_verdict(endpoint: Any, result: paths.Object) -> None:
    evaluator = engines.evaluator(engines.ScriptedEngine(lambda _: result))
    with pytest.raises(errors.EngineError):
        endpoint(body(pod()), evaluator)


def test_an_intent_that_cannot_be_applied_is_an_error_instead_of_a_verdict() -> None:
    astray: list[paths.Json] = [
        {"mutation": "a/b", "intent": {"at": "/spec/nowhere", "field": "environment", "value": {}, "reason": ""}}
    ]
    evaluator = engines.evaluator(engines.ScriptedEngine(lambda _: engines.result(intents=astray)))
    with pytest.raises(errors.MutationError):
        webhooks.mutate(body(pod()), evaluator)


def test_the_largest_update_that_an_api_server_sends_is_decided(evaluator: Evaluator) -> None:
    """Two objects of 3 MiB, the most that etcd and the API server let through; with GPUs to judge in both."""
    annotations: paths.Json = {"example.com/notes": "x" * (3 * 2**20)}
    before, after = (replaced(bad_job(workers=workers), "/metadata/annotations", annotations) for workers in (2, 1))

    assert validated(evaluator, after, operation="UPDATE", old_value=before)["allowed"] is True


def test_the_log_names_the_worst_outcome_of_each_check() -> None:
    found: list[paths.Json] = [
        {"check": "resources/whole_gpus_only", "finding": {"path": "/spec", "message": message, "assumption": why}}
        for message, why in (("surely", ""), ("maybe", "we guess"))
    ]
    evaluator = engines.evaluator(engines.ScriptedEngine(lambda _: engines.result(findings=found)))

    assert webhooks.validate(body(pod()), evaluator).outcomes == {"whole-gpus-only": "deny"}


def test_a_mutation_of_nearly_every_pod_is_recorded_without_a_warning(evaluator: Evaluator) -> None:
    """Kubectl would print it for each pod without a GPU."""
    response = mutated(evaluator, pod(container()))

    assert response["auditAnnotations"] == {"mutations": "visible-devices-void"}
    assert "warnings" not in response
