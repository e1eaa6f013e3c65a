"""The answers to validating reviews, with the policies that are shipped."""

from pathlib import Path
from typing import Any

import pytest

from builders import container, custom, mutated_pod, pod, pytorch_job, template, volcano_job, volcano_task
from reviews import UID, body
from unit.review.answering import GPU, UNEQUAL, answered, bad_job, mutated, validated
from usher import paths
from usher.config import models
from usher.policy import assembly
from usher.policy.evaluator import Evaluator
from usher.review import webhooks

DATA = Path(__file__).parents[2] / "data" / "admission"


def configured(**config: Any) -> Evaluator:
    return assembly.embedded(models.Config.model_validate(config))


def test_a_good_pod_is_allowed_and_nothing_else_is_said(evaluator: Evaluator) -> None:
    assert validated(evaluator, mutated_pod()) == {"uid": UID, "allowed": True}


def test_a_denial_reads_as_it_should_on_a_terminal(evaluator: Evaluator) -> None:
    job = pytorch_job(template(UNEQUAL), workers=7, master=template(UNEQUAL), name="bert")

    status = validated(evaluator, job)["status"]

    assert (status["code"], status["reason"]) == (403, "Forbidden")
    # The API server puts the webhook's name before the message, and kubectl the reason before that.
    webhook = 'admission webhook "validate.gpu-usher.io" denied the request'
    printed = f"Error from server ({status['reason']}): {webhook}: {status['message']}\n"
    assert printed == (DATA / "denial.txt").read_text()


def test_two_rules_broken_are_both_named(evaluator: Evaluator) -> None:
    half = container("half", requests={GPU: "0.5"}, limits={GPU: "0.5"})

    message = validated(evaluator, pytorch_job(template(UNEQUAL, half), workers=1))["status"]["message"]

    assert "breaks 2 rules" in message
    assert "USH101 whole-gpus-only: " in message
    assert "USH103 gpu-requests-equal-limits: " in message


def test_200_findings_make_an_answer_of_a_bounded_size(evaluator: Evaluator) -> None:
    containers = [container(f"trainer-{number}", requests={GPU: 8}, limits={GPU: 4}) for number in range(200)]

    answer = webhooks.validate(body(pytorch_job(template(*containers), workers=1)), evaluator)

    message = answered(answer)["status"]["message"]
    assert len(message.encode()) <= 8 * 1024
    assert "breaks 2 rules in 201 places:" in message
    assert " more\n" in message
    assert len(answer.body) <= 64 * 1024


def test_sixty_warnings_of_hostile_names_are_passed_on_by_the_api_server(evaluator: Evaluator) -> None:
    names = ["a\nb", "x" * 400, "😀", "\x1b[31m", *(f"task-{number}" for number in range(56))]
    tasks = [volcano_task(name, template(container(gpus=1)), replicas=1) for name in names]

    warnings = validated(evaluator, volcano_job(*tasks))["warnings"]

    assert 1 < len(warnings) <= 20
    assert all(warning.isprintable() and len(warning) <= 256 for warning in warnings)
    assert sum(map(len, warnings)) <= 4096


@pytest.mark.parametrize("operation", ["DELETE", "CONNECT"])
@pytest.mark.parametrize("endpoint", [webhooks.validate, webhooks.mutate])
def test_deletions_and_connections_are_allowed_without_changes(
    evaluator: Evaluator, operation: str, endpoint: Any
) -> None:
    exec_options = {"apiVersion": "v1", "kind": "PodExecOptions", "stdin": True, "container": "main"}
    reviewed: list[tuple[Any, Any]] = [(None, bad_job()), (bad_job(), None), (None, None), (exec_options, None)]
    for value, old_value in reviewed:
        answer = endpoint(body(value, operation=operation, old_value=old_value), evaluator)
        assert answered(answer) == {"uid": UID, "allowed": True}


def test_what_makes_no_pods_is_allowed_as_it_is(evaluator: Evaluator) -> None:
    settings = custom("v1", "ConfigMap", {})
    assert validated(evaluator, settings) == mutated(evaluator, settings) == {"uid": UID, "allowed": True}


def test_an_object_with_a_name_to_be_is_named_by_its_prefix(evaluator: Evaluator) -> None:
    status = validated(evaluator, bad_job(generate_name="bert-"))["status"]
    assert status["message"].startswith("PyTorchJob ml-research/bert-* breaks 1 rule:")


def test_an_object_without_any_name_is_called_so(evaluator: Evaluator) -> None:
    status = validated(evaluator, bad_job(name=None))["status"]
    assert status["message"].startswith("PyTorchJob ml-research/(unnamed) breaks 1 rule:")


def test_the_namespace_of_the_request_counts_if_the_object_has_no_namespace() -> None:
    rule = {"check": "*", "namespaces": ["sandbox-*"], "action": "warn"}
    lenient = configured(enforcement={"rules": [rule]}, exemptNamespaces=["exempt"])
    job = bad_job(namespace=None, name="bert")

    denied = validated(lenient, job, namespace="ml-research")
    assert denied["status"]["message"].startswith("PyTorchJob ml-research/bert breaks 1 rule:")
    warned = validated(lenient, job, namespace="sandbox-1")
    assert warned["allowed"] is True
    assert warned["auditAnnotations"]["warn"].startswith("USH103")
    assert validated(lenient, job, namespace="exempt") == {"uid": UID, "allowed": True}


def test_hostile_names_in_a_denial_move_no_cursor(evaluator: Evaluator) -> None:
    job = bad_job(name="\x1b[2J\nError: none\u202e" + "x" * 1000)

    message = validated(evaluator, job, namespace="\x9b31m")["status"]["message"]

    assert all(line.isprintable() for line in message.split("\n"))
    assert len(message.split("\n")) == 3


def test_the_webhook_skips_a_namespace_that_usher_yaml_exempts(evaluator: Evaluator) -> None:
    nothing = {"uid": UID, "allowed": True}
    assert validated(evaluator, bad_job(namespace="kube-system")) == nothing
    assert mutated(evaluator, pod(namespace="kube-system")) == nothing


def test_an_old_finding_does_not_deny_an_update(evaluator: Evaluator) -> None:
    before = bad_job(labels={"team": "a"})
    after = bad_job(labels={"team": "b"})

    answer = validated(evaluator, after, operation="UPDATE", old_value=before)

    assert answer["allowed"] is True
    assert [warning for warning in answer["warnings"] if warning.startswith("USH103 gpu-requests-equal-limits: ")]
    assert "USH103" in answer["auditAnnotations"]["warn"]


def test_what_a_change_makes_wrong_is_refused(evaluator: Evaluator) -> None:
    good = pytorch_job(template(container("pytorch", gpus=4)), workers=7)
    assert validated(evaluator, bad_job(), operation="UPDATE", old_value=good)["allowed"] is False
    assert validated(evaluator, bad_job(), operation="UPDATE")["allowed"] is False


def test_an_old_object_in_a_creation_excuses_nothing(evaluator: Evaluator) -> None:
    assert validated(evaluator, bad_job(), operation="CREATE", old_value=bad_job())["allowed"] is False


def test_an_object_that_is_being_deleted_may_still_change(evaluator: Evaluator) -> None:
    deleting = bad_job(deletion_timestamp="2026-11-21T08:00:00Z")
    assert validated(evaluator, deleting, operation="UPDATE", old_value=bad_job(workers=1)) == {
        "uid": UID,
        "allowed": True,
    }


def test_an_unknown_kind_with_a_pod_template_is_judged_by_it_and_said_to_be_unknown(evaluator: Evaluator) -> None:
    unknown = custom("example.com/v1", "Seat", {"template": template(container(gpus=1))})
    kind, describe = (
        "unrecognised kind Seat (example.com/v1)",
        "describe it under workloads: of usher.yaml to have counts",
    )

    answer = validated(evaluator, unknown)

    assert answer["allowed"] is True
    assert answer["warnings"] == [
        f"not judged: /spec/template/spec: {kind}: judged by the pod template at spec.template; {describe}"
    ]


@pytest.mark.parametrize("endpoint", [webhooks.validate, webhooks.mutate])
@pytest.mark.parametrize("value", [pod(), pod(container(gpus=1)), bad_job()], ids=["cpu", "gpu", "bad"])
def test_a_dry_run_is_answered_as_the_real_thing_and_known_as_one(
    evaluator: Evaluator, endpoint: Any, value: paths.Object
) -> None:
    real, dry = (endpoint(body(value, dryRun=dry_run), evaluator) for dry_run in (False, True))
    assert real.body == dry.body
    assert (real.review.dry_run, dry.review.dry_run) == (False, True)
