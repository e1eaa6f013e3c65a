"""Whose word counts that an object has an owner: that of controllers, and of an object's own history."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

import builders
from usher import paths
from usher.config import models
from usher.policy import assembly
from usher.policy.decision import Operation, Request, User
from usher.policy.evaluator import Evaluator

TENANT: Final = User(name="alice", groups=("system:authenticated",))
ADMINISTRATOR: Final = User(name="root", groups=("system:masters",))
CONTROLLER: Final = User(name="system:serviceaccount:kube-system:cronjob-controller")
OPERATOR: Final = User(name="system:serviceaccount:jobset-system:jobset-controller-manager")
OWN_OPERATOR: Final = User(name="system:serviceaccount:platform:sweeper")
OF_A_CONFIG_MAP: Final = ("v1", "ConfigMap")
OF_A_CRON_JOB: Final = ("batch/v1", "CronJob")
OF_AN_UNKNOWN_KIND: Final = ("example.com/v1", "Foo")

SITE: Final = models.Config.model_validate({"identities": {"controllers": {"users": [OWN_OPERATOR.name]}}})


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    made = assembly.embedded(models.Config())
    yield made
    made.engine.close()


def owned(value: paths.Object, owner: tuple[str, str], *, uid: str = "1") -> paths.Object:
    reference: paths.Object = {
        "apiVersion": owner[0],
        "kind": owner[1],
        "name": "owner",
        "uid": uid,
        "controller": True,
    }
    return builders.replaced(value, "/metadata/ownerReferences", [reference])


def job(pods: int) -> paths.Object:
    return builders.gpu_job(8, pods=pods, namespace="research")


def codes(evaluator: Evaluator, value: paths.Object, user: User | None, **request: Any) -> set[str]:
    """The codes of the checks that deny an object."""
    decision = evaluator.decide(Request(value=value, user=user, **request))
    return {each.code for each in decision.judgements if each.outcome.value == "deny"}


@pytest.mark.parametrize("owner", [OF_A_CONFIG_MAP, OF_A_CRON_JOB, OF_AN_UNKNOWN_KIND])
@pytest.mark.parametrize("user", [TENANT, ADMINISTRATOR, OWN_OPERATOR, None])
def test_an_owner_of_any_kind_hides_no_size(evaluator: Evaluator, owner: tuple[str, str], user: User | None) -> None:
    assert "USH1301" in codes(evaluator, owned(job(100), owner), user)


@pytest.mark.parametrize("user", [CONTROLLER, OPERATOR])
def test_what_a_controller_makes_was_judged_at_its_owner(evaluator: Evaluator, user: User) -> None:
    assert codes(evaluator, owned(job(100), OF_A_CRON_JOB), user) == set()


def test_an_update_adds_no_owner(evaluator: Evaluator) -> None:
    request: dict[str, Any] = {"operation": Operation.UPDATE, "old_value": job(1)}
    value = owned(job(100), OF_A_CRON_JOB)

    assert "USH1301" in codes(evaluator, value, TENANT, **request)
    assert "USH1301" in codes(evaluator, value, CONTROLLER, **request), "it had no owner before"


@pytest.mark.parametrize("user", [TENANT, CONTROLLER])
def test_an_update_exchanges_no_owner(evaluator: Evaluator, user: User) -> None:
    before = owned(job(1), OF_A_CRON_JOB, uid="2")
    value = owned(job(100), OF_A_CRON_JOB)

    assert "USH1301" in codes(evaluator, value, user, operation=Operation.UPDATE, old_value=before)


def test_a_forged_owner_counts_for_no_later_update_of_its_author(evaluator: Evaluator) -> None:
    before, value = owned(job(1), OF_A_CONFIG_MAP), owned(job(100), OF_A_CONFIG_MAP)

    assert "USH1301" in codes(evaluator, value, TENANT, operation=Operation.UPDATE, old_value=before)
    assert codes(evaluator, value, CONTROLLER, operation=Operation.UPDATE, old_value=before) == set()


def test_an_owned_object_may_be_changed_by_its_users_if_nothing_gets_worse(evaluator: Evaluator) -> None:
    before = owned(job(100), OF_A_CRON_JOB)
    value = builders.replaced(before, "/metadata/labels", {"team": "nlp"})

    assert codes(evaluator, value, TENANT, operation=Operation.UPDATE, old_value=before) == set()


def test_an_autoscaler_grows_no_object_with_a_forged_owner(evaluator: Evaluator) -> None:
    """Its user is a controller, but a tenant wrote how far it may grow."""
    before = owned(builders.replica_set(builders.template(builders.container(gpus=8)), replicas=1), OF_A_CONFIG_MAP)
    value = builders.replaced(before, "/spec/replicas", 100)
    request: dict[str, Any] = {"operation": Operation.UPDATE, "old_value": before}

    assert "USH1301" in codes(evaluator, value, CONTROLLER, scaled=True, **request)
    assert codes(evaluator, value, CONTROLLER, **request) == set()


def test_a_replica_set_with_a_forged_owner_is_denied_and_one_of_a_deployment_only_warned(evaluator: Evaluator) -> None:
    greedy = builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"})
    value = owned(builders.replica_set(builders.template(greedy)), ("apps/v1", "Deployment"))

    assert codes(evaluator, value, TENANT) == {"USH201"}
    assert codes(evaluator, value, None) == {"USH201"}
    assert codes(evaluator, value, CONTROLLER) == set()


@pytest.mark.parametrize("user", [TENANT, CONTROLLER])
def test_no_replica_set_with_an_owner_is_changed(evaluator: Evaluator, user: User) -> None:
    """The owner may be real, and would replace a changed ReplicaSet without end."""
    value = owned(
        builders.replica_set(builders.template(builders.container(gpus=1))), ("argoproj.io/v1alpha1", "Rollout")
    )

    assert evaluator.mutate(Request(value=value, user=user)).operations == ()


def test_usher_yaml_names_other_operators() -> None:
    site = assembly.embedded(SITE)

    assert codes(site, owned(job(100), OF_AN_UNKNOWN_KIND), OWN_OPERATOR) == set()
    site.engine.close()


def test_an_owner_that_an_audit_may_not_read_counts(evaluator: Evaluator) -> None:
    value = owned(job(100), OF_A_CRON_JOB)

    assert codes(evaluator, value, None, owner_is_hidden=True) == set()


@pytest.mark.parametrize("user", [TENANT, None])
def test_the_owner_of_a_pod_gives_it_no_role_unless_it_counts(evaluator: Evaluator, user: User | None) -> None:
    value = owned(builders.pod(builders.container(gpus=1)), ("apps/v1", "DaemonSet"))
    workload = evaluator.workload(Request(value=value, user=user))

    assert workload is not None
    assert (workload.owner, workload.role.value) == (None, "unknown")
    assert workload.claimed_owner is not None
