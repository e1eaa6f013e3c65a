"""On UPDATE a finding that the object had before warns, and one that is worse than before denies."""

from functools import cache
from typing import Any

import pytest

import builders
from reviews import body
from unit.review.answering import answered
from usher import model, paths
from usher.config import models
from usher.policy import assembly
from usher.policy.decision import Operation, Request, User
from usher.policy.evaluator import Evaluator
from usher.policy.excused_findings import Side, still_there
from usher.review import webhooks

TENANT = User(name="anna@example.com")
CONTROLLER = User(name="system:serviceaccount:kube-system:horizontal-pod-autoscaler")


@cache
def evaluator() -> Evaluator:
    values = [models.ParameterValues(check="gpus-per-pod", values={"maximum": 8})]
    enforcement = models.Enforcement(preset="strict")
    return assembly.embedded(models.Config(enforcement=enforcement, parameters=values))


def deployment(
    *,
    replicas: int = 80,
    gpus: int = 1,
    paths_of_node: tuple[str, ...] = (),
    seen: str = "",
    label: str = "",
    image: str = "x:1",
) -> paths.Object:
    env: paths.Object = {"NVIDIA_VISIBLE_DEVICES": seen} if seen else {}
    container = builders.container(gpus=gpus, env=env, image=image, securityContext={"privileged": True})
    volumes: list[builders.JsonValue] = [{"name": f"v{path[1:]}", "hostPath": {"path": path}} for path in paths_of_node]
    value = builders.deployment(builders.template(container, volumes=volumes), replicas=replicas)
    return {**value, "metadata": {**paths.metadata(value), "labels": {"team": label}}}


def denied(old: paths.Object, new: paths.Object, *, user: User = TENANT) -> set[str]:
    """The checks that deny an update."""
    request = Request(value=new, old_value=old, operation=Operation.UPDATE, user=user)
    found = evaluator().decide(request).judgements
    return {each.name for each in found if each.outcome is model.Outcome.DENY}


def test_more_pods_with_an_old_mistake_are_denied_and_fewer_are_not() -> None:
    old = deployment(replicas=80)

    assert "privileged-container" in denied(old, deployment(replicas=80_000))
    assert "privileged-container" in denied(old, deployment(replicas=81))
    assert denied(old, deployment(replicas=80, label="b", image="x:2")) == set()
    assert denied(old, deployment(replicas=79)) == set()
    assert denied(old, deployment(replicas=0)) == set()


def test_a_controller_may_scale_what_its_author_wrote() -> None:
    old = deployment(replicas=80)

    assert denied(old, deployment(replicas=90), user=CONTROLLER) == set()
    assert "host-path-to-node-control" in denied(old, deployment(paths_of_node=("/etc/cdi",)), user=CONTROLLER)


def test_a_host_path_more_is_denied_and_one_less_is_not() -> None:
    one, two = deployment(paths_of_node=("/etc/cdi",)), deployment(paths_of_node=("/etc/cdi", "/run/cdi"))

    assert denied(one, two) >= {"host-path-to-node-control"}
    assert denied(two, one) == set()
    assert denied(two, deployment(paths_of_node=("/run/cdi", "/etc/cdi"))) == set()


def test_an_accelerator_more_is_denied_and_one_less_is_not() -> None:
    assert "privileged-container" in denied(deployment(gpus=1), deployment(gpus=2))
    assert denied(deployment(gpus=2), deployment(gpus=1)) == set()


def test_another_value_at_the_place_is_denied() -> None:
    name = "visible-devices-set-by-hand"

    assert name in denied(deployment(seen="0"), deployment(seen="all"))
    assert name in denied(deployment(seen="0"), deployment(seen="1"))
    assert denied(deployment(seen="all"), deployment(seen="all", label="b")) == set()


def test_the_webhook_denies_what_became_worse_and_warns_of_the_rest() -> None:
    old = deployment(replicas=80)

    def answer(value: paths.Object) -> dict[str, Any]:
        sent = body(value, operation="UPDATE", old_value=old, userInfo={"username": TENANT.name})
        response: dict[str, Any] = answered(webhooks.validate(sent, evaluator()))
        return response

    assert not answer(deployment(replicas=80_000))["allowed"]
    assert answer(deployment(label="b"))["allowed"]
    assert any("it was so before" in warning for warning in answer(deployment(label="b"))["warnings"])


def finding(message: str = "wrong", path: str = "/spec/x", check: str = "group/check") -> model.Finding:
    return model.Finding(check=check, path=path, message=message)


def kept(
    now: tuple[model.Finding, ...], before: tuple[model.Finding, ...], *, scaled: tuple[int, int] = (2, 2)
) -> set[int]:
    """The findings of a Deployment that it had before, when the number of its pods changes."""
    sides = []
    for findings, replicas in ((now, scaled[1]), (before, scaled[0])):
        value = deployment(replicas=replicas)
        workload = evaluator().workload(Request(value=value))
        assert workload is not None
        sides.append(Side(findings, workload, value))
    return {*still_there(sides[0], sides[1], may_grow=False)}


def test_a_finding_may_have_moved() -> None:
    assert kept((finding(path="/spec/containers/1"),), (finding(path="/spec/containers/0"),)) == {0}


@pytest.mark.parametrize("before", [(), (finding("wrong in another way"),), (finding(check="group/other"),)])
def test_another_message_and_another_check_are_new(before: tuple[model.Finding, ...]) -> None:
    assert kept((finding(),), before) == set()


def test_the_same_finding_at_more_places_is_new_once() -> None:
    assert kept((finding(), finding(), finding()), (finding(), finding())) == {0, 1}


def test_other_numbers_in_a_message_are_new_unless_the_object_takes_less() -> None:
    now, before = (finding("asks for 9 GPUs"),), (finding("asks for 12 GPUs"),)

    assert kept(now, before) == set()
    assert kept(now, before, scaled=(2, 1)) == {0}
    assert kept(before, now, scaled=(2, 1)) == set()
    assert kept((finding("1 of a#1"),), (finding("# of a#1"),), scaled=(2, 1)) == set()
