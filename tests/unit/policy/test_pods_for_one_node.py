"""A cluster administrator debugs a node with a pod that takes everything of it; tenants may not."""

from collections.abc import Iterator
from typing import Any

import pytest

from builders import container, daemon_set, pod, replaced, template
from usher import model, paths
from usher.config import models
from usher.policy import assembly
from usher.policy import decision as policy_decision
from usher.policy.decision import Operation, Request, User
from usher.policy.evaluator import Evaluator

ADMINISTRATOR = User(name="kubernetes-admin", groups=("system:masters", "system:authenticated"))
TENANT = User(name="alice", groups=("system:authenticated",))


@pytest.fixture(scope="module", params=["recommended", "strict"])
def evaluator(request: pytest.FixtureRequest) -> Iterator[Evaluator]:
    made = assembly.embedded(models.Config.model_validate({"enforcement": {"preset": request.param}}))
    yield made
    made.engine.close()


def debugger(*more: paths.Object, **spec: Any) -> paths.Object:
    """The pod that `kubectl debug node/gpu-0 --profile=sysadmin` creates."""
    main = container(
        "debugger",
        requests={"cpu": "100m", "memory": "64Mi"},
        securityContext={"privileged": True},
        volumeMounts=[{"name": "host-root", "mountPath": "/host"}],
    )
    fields: dict[str, Any] = {
        "nodeName": "gpu-0",
        "hostPID": True,
        "hostIPC": True,
        "hostNetwork": True,
        "tolerations": [{"operator": "Exists"}],
        "volumes": [{"name": "host-root", "hostPath": {"path": "/"}}],
        **spec,
    }
    labels = {"app.kubernetes.io/managed-by": "kubectl-debug"}
    return pod(main, *more, name="node-debugger-gpu-0-x2x4f", namespace="default", labels=labels, **fields)


def denied(decision: model.Decision) -> set[str]:
    return {each.name for each in decision.judgements if each.outcome is model.Outcome.DENY}


def test_an_administrator_debugs_a_node_and_is_warned(evaluator: Evaluator) -> None:
    decision = evaluator.decide(Request(value=debugger(), user=ADMINISTRATOR))

    assert denied(decision) == set()
    warned = [each for each in decision.judgements if each.name == "broad-host-path"]
    assert [each.because for each in warned] == [policy_decision.REPAIRS_A_NODE]


def test_a_tenant_with_the_same_pod_and_label_is_denied(evaluator: Evaluator) -> None:
    """A memory of the answer for the administrator, who asked first, does not help."""
    evaluator.decide(Request(value=debugger(), user=ADMINISTRATOR))

    assert "broad-host-path" in denied(evaluator.decide(Request(value=debugger(), user=TENANT)))


def test_without_a_user_as_in_ci_the_pod_is_judged_like_a_tenants(evaluator: Evaluator) -> None:
    assert "broad-host-path" in denied(evaluator.decide(Request(value=debugger())))


@pytest.mark.parametrize(
    "value",
    [
        replaced(debugger(), "/spec/nodeName", ""),
        debugger(container("trainer", gpus=1)),
        daemon_set(template(container(securityContext={"privileged": True}), hostPID=True), namespace="default"),
    ],
    ids=["names no node", "asks for GPUs", "no Pod"],
)
def test_other_objects_of_administrators_are_judged_as_ever(evaluator: Evaluator, value: paths.Object) -> None:
    """Pipelines often deploy for tenants with the rights of an administrator."""
    by_administrator = evaluator.decide(Request(value=value, user=ADMINISTRATOR))

    assert all(each.because != policy_decision.REPAIRS_A_NODE for each in by_administrator.judgements)


def test_rules_of_other_categories_hold_for_administrators_too(evaluator: Evaluator) -> None:
    half = container("half", limits={"nvidia.com/gpu": "0.5"})

    assert denied(evaluator.decide(Request(value=debugger(half), user=ADMINISTRATOR))) >= {"whole-gpus-only"}


def test_a_later_update_is_judged_as_every_update(evaluator: Evaluator) -> None:
    before = debugger(volumes=[])
    request = Request(value=debugger(), old_value=before, operation=Operation.UPDATE, user=ADMINISTRATOR)

    assert "broad-host-path" in denied(evaluator.decide(request))
