"""A review is charged, and waits for the account."""

import asyncio
import time
from typing import Any

import pytest

import builders
from unit.authorities.gpu_quota.live.memory_api import (
    QUOTAS,
    MemoryApi,
    Replica,
    charges,
    gpu_quota,
    job,
    owned,
    refusal,
    reserved,
    unreachable,
)
from usher import errors, paths
from usher.authorities.authority import QuotaRefusal
from usher.authorities.gpu_quota.ledger import Full
from usher.cluster.api import Answer
from usher.review import webhooks
from usher.review.admission_review import request_of

pytestmark = pytest.mark.costly


def pod(gpus: int, *, name: str = "worker", namespace: str = "ml") -> paths.Object:
    return builders.pod(builders.container(gpus=gpus), name=name, namespace=namespace)


def test_a_workload_is_charged_whole_and_refused_whole(api: MemoryApi, replica: Replica) -> None:
    assert replica.ask(job(8, pods=1)) is None

    found = replica.ask(job(8, pods=2, name="gang"))

    assert isinstance(found, QuotaRefusal)
    assert [(each.unit, each.asks // 10**9, each.free // 10**9) for each in found.excesses] == [("gpus", 16, 8)]
    assert charges(api) == {"Job.batch/ml/train": 8}


def test_the_same_request_again_is_charged_once(api: MemoryApi, replica: Replica) -> None:
    for _ in range(3):
        assert replica.ask(job(16)) is None

    assert charges(api) == {"Job.batch/ml/train": 16}


def test_a_dry_run_charges_nothing_and_can_be_refused(api: MemoryApi, replica: Replica) -> None:
    assert replica.ask(job(16), dryRun=True) is None
    assert isinstance(replica.ask(job(17), dryRun=True), QuotaRefusal)
    assert replica.ask(job(17), dryRun=True, force=True) is None
    assert charges(api) == {}


def test_a_dry_run_is_judged_by_the_watch_without_a_request(api: MemoryApi, replica: Replica) -> None:
    replica.ask(job(8))
    replica.watch()
    api.requests.clear()

    assert replica.ask(job(8, name="other"), dryRun=True) is None
    assert api.requests == []


def test_a_dry_run_is_refused_only_by_the_account_as_it_is_now(api: MemoryApi, replica: Replica) -> None:
    replica.ask(job(16))
    replica.watch()
    api.apply(gpu_quota())  # nothing is charged any more, and no watch has shown it

    found = replica.ask(job(8, name="other"), dryRun=True)

    assert not isinstance(found, QuotaRefusal)
    assert ("GET", f"{QUOTAS}/research") in api.requests


def test_a_dry_run_is_not_judged_by_old_facts(api: MemoryApi, replica: Replica) -> None:
    replica.watch()
    replica.facts.age = lambda: 100_000.0
    api.requests.clear()

    replica.ask(job(8), dryRun=True)

    assert api.requests[0][0] == "GET"


def test_a_charge_by_force_exceeds_the_limit(api: MemoryApi, replica: Replica) -> None:
    assert replica.ask(job(32), force=True) is None
    assert charges(api) == {"Job.batch/ml/train": 32}


def test_an_update_is_charged_the_difference(api: MemoryApi, replica: Replica) -> None:
    replica.ask(job(8))

    assert replica.ask(job(12), old=job(8)) is None
    assert charges(api) == {"Job.batch/ml/train": 12}
    found = replica.ask(job(17), old=job(12))
    assert isinstance(found, QuotaRefusal)
    assert [each.added // 10**9 for each in found.excesses] == [5]


def test_an_entry_holds_the_most_that_was_asked_for_until_it_is_settled(api: MemoryApi, replica: Replica) -> None:
    replica.ask(job(12))
    replica.ask(job(4), old=job(12))
    assert isinstance(replica.ask(job(8, name="other")), QuotaRefusal)

    assert replica.ask(job(12), old=job(4)) is None
    assert charges(api) == {"Job.batch/ml/train": 12}


def test_an_update_that_asks_for_no_more_writes_nothing(api: MemoryApi, replica: Replica) -> None:
    api.requests.clear()

    assert replica.ask(job(99), old=job(99)) is None
    assert api.requests == []


@pytest.mark.parametrize(
    "value",
    [
        builders.job(builders.template(builders.container()), namespace="ml"),
        builders.daemon_set(builders.template(builders.container(gpus=8)), namespace="ml"),
        builders.custom("v1", "Service", {}, namespace="ml"),
    ],
    ids=["no accelerator", "unbounded", "no workload"],
)
def test_an_object_without_a_charge_costs_no_request(api: MemoryApi, replica: Replica, value: paths.Object) -> None:
    assert replica.ask(value) is None
    assert api.requests == []


def test_no_charge_is_made_where_several_quotas_hold(api: MemoryApi) -> None:
    api.apply(gpu_quota("second"))
    undecided = Replica(api)
    undecided.watch()

    assert undecided.ask(job(99)) is None
    undecided.close()
    assert charges(api) == charges(api, "second") == {}


def test_a_quota_of_usher_yaml_is_charged_in_a_config_map_of_our_own() -> None:
    api = MemoryApi()
    declared = Replica(api, quotas=[{"name": "ci", "namespaces": ["*"], "limits": [{"hard": {"gpus": 8}}]}])
    declared.reconciler.reconcile()

    assert declared.ask(job(8)) is None
    assert isinstance(declared.ask(job(1, name="other")), QuotaRefusal)
    declared.close()
    assert [place[1:] for place in api.objects] == [("configmaps", "gpu-usher", "gpu-usher-quota-ci")]


def test_an_exempt_namespace_is_not_charged(api: MemoryApi) -> None:
    replica = Replica(api, exemptNamespaces=["ml"])
    replica.watch()

    assert replica.ask(job(99)) is None
    assert charges(api) == {}
    replica.close()


def test_a_suspended_workload_is_charged_unless_the_quota_says_otherwise(api: MemoryApi, replica: Replica) -> None:
    suspended = builders.replaced(job(16), "/spec/suspend", True)
    api.apply(gpu_quota(chargesSuspended=False))
    replica.watch()
    assert replica.ask(suspended) is None
    assert charges(api) == {}

    assert replica.ask(job(16), old=suspended) is None
    assert charges(api) == {"Job.batch/ml/train": 16}


def test_objects_without_name_and_uid_have_entries_of_their_own(api: MemoryApi, replica: Replica) -> None:
    first = replica.ask(job(8, name=None), uid="review-1")
    second = replica.ask(job(8, name=None), uid="review-2")
    third = replica.ask(job(8, name=None), uid="review-3")

    assert [first, second, isinstance(third, QuotaRefusal)] == [None, None, True]
    assert charges(api) == {"review-1": 8, "review-2": 8}


def test_a_pod_of_a_workload_is_covered_as_far_as_that_is_charged(api: MemoryApi, replica: Replica) -> None:
    replica.ask(job(8, pods=2))
    made = api.apply(job(8, pods=2))
    for name in ("a", "b"):
        assert replica.ask(owned(pod(8, name=name), made)) is None
        api.apply(owned(pod(8, name=name), made))
        replica.watch("Pod")

    assert isinstance(replica.ask(owned(pod(8, name="c"), made)), QuotaRefusal)
    assert charges(api) == {"Job.batch/ml/train": 16}


def made_and_deleted(api: MemoryApi, replica: Replica, gpus: int) -> None:
    """A job whose only pod is slow to end."""
    replica.ask(job(gpus))
    made = api.apply(job(gpus))
    api.apply(owned(pod(gpus), made))
    replica.watch()
    replica.reconciler.reconcile()
    api.remove(made)


def test_a_recreated_workload_is_charged_beside_the_pods_of_the_first(api: MemoryApi, replica: Replica) -> None:
    made_and_deleted(api, replica, 10)
    replica.watch()

    found = replica.ask(job(8))

    assert isinstance(found, QuotaRefusal)
    assert [(each.asks // 10**9, each.ending // 10**9, each.free // 10**9) for each in found.excesses] == [(8, 10, 6)]
    assert not found.excesses[0].never
    assert replica.ask(job(6)) is None
    assert charges(api) == {"Job.batch/ml/train": 16}


def test_a_deletion_that_no_watch_has_shown_is_read(api: MemoryApi, replica: Replica) -> None:
    made_and_deleted(api, replica, 10)

    assert isinstance(replica.ask(job(8)), QuotaRefusal)
    assert replica.ask(job(6)) is None
    assert charges(api) == {"Job.batch/ml/train": 16}


def test_a_retried_creation_is_charged_once(api: MemoryApi, replica: Replica) -> None:
    """The answer to the first request was lost; the API server will say that there is one."""
    replica.ask(job(16))
    api.apply(job(16))
    replica.watch()
    replica.reconciler.reconcile()

    assert replica.ask(job(16)) is None
    assert charges(api) == {"Job.batch/ml/train": 16}


def test_a_recreated_workload_grows_beside_the_pods_of_the_first(api: MemoryApi, replica: Replica) -> None:
    made_and_deleted(api, replica, 10)
    replica.ask(job(4))
    api.apply(job(4))
    replica.watch()

    assert isinstance(replica.ask(job(7), old=job(4)), QuotaRefusal)
    assert replica.ask(job(6), old=job(4)) is None
    assert charges(api) == {"Job.batch/ml/train": 16}


def test_an_update_counts_pods_of_a_deleted_job_while_no_watch_shows_the_deletion(
    api: MemoryApi, replica: Replica
) -> None:
    made_and_deleted(api, replica, 10)
    replica.ask(job(4))
    second = api.apply(job(4))
    uid = second["metadata"]["uid"]  # type: ignore[call-overload, index]  # as made

    assert isinstance(replica.ask(builders.replaced(job(7), "/metadata/uid", uid), old=second), QuotaRefusal)


def test_a_forced_charge_counts_both_workloads_of_a_name(api: MemoryApi, replica: Replica) -> None:
    made_and_deleted(api, replica, 10)
    replica.watch()

    assert replica.ask(job(10), force=True) is None
    assert charges(api) == {"Job.batch/ml/train": 20}


def test_an_owner_in_another_namespace_covers_nothing(api: MemoryApi, replica: Replica) -> None:
    """Anybody can write down the uid of somebody else's job."""
    api.apply(gpu_quota(namespaces=["ml"]))
    api.apply(gpu_quota("poor", namespaces=["other"], hard={"gpus": 1}))
    made = api.apply(job(16))
    replica.watch()

    assert isinstance(replica.ask(owned(pod(8, namespace="other"), made)), QuotaRefusal)


def test_a_workload_that_has_finished_covers_nothing(api: MemoryApi, replica: Replica) -> None:
    done: paths.Object = {**job(16), "status": {"conditions": [{"type": "Complete", "status": "True"}]}}
    made = api.apply(done)
    replica.ask(job(16, name="busy"))
    replica.watch()

    assert isinstance(replica.ask(owned(pod(8), made)), QuotaRefusal)


@pytest.mark.parametrize(
    ("field", "forged"),
    [
        ("uid", "uid-of-nobody"),
        ("kind", "Widget"),
        ("kind", 7),
        ("apiVersion", "batch/v9"),
        ("apiVersion", None),
        ("name", "../../../api/v1/secrets"),
        ("name", "TRAIN"),
        ("name", ["train"]),
        ("controller", "true"),
    ],
)
def test_a_forged_owner_covers_nothing(api: MemoryApi, replica: Replica, field: str, forged: Any) -> None:
    replica.ask(job(16))
    made = api.apply(job(16))
    value = owned(pod(8), made)
    references: Any = value["metadata"]["ownerReferences"]  # type: ignore[call-overload, index]  # as made
    references[0][field] = forged

    assert isinstance(replica.ask(value), QuotaRefusal)
    assert not any(".." in path for _, path in api.requests)


def test_an_owner_that_was_read_and_then_deleted_is_forgotten(api: MemoryApi) -> None:
    """The watch told of its end before we had read it, and never will again."""
    now = [1000.0]
    replica = Replica(api, clock=lambda: now[0])
    replica.watch()
    made = api.apply(job(16))
    replica.ask(owned(pod(8), made))
    assert len(replica.holdings) == 1
    assert replica.holdings.roots() == []

    now[0] += 61
    replica.holdings.roots()
    assert len(replica.holdings) == 0
    replica.close()


def test_a_ledger_without_room_says_so(api: MemoryApi, replica: Replica) -> None:
    quota = gpu_quota(hard={"gpus": 1_000_000})
    entries: Any = [{"object": f"Pod/ml/p-{n}", "amounts": {"gpus": 1}} for n in range(10_000)]
    quota["status"] = {"version": 1, "charges": entries}
    api.apply(quota)
    replica.watch()

    assert isinstance(replica.ask(job(1)), Full)


def scale(replicas: int) -> paths.Object:
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "web", "namespace": "ml"},
        "spec": {"replicas": replicas},
    }


def prepared(replica: Replica, replicas: int) -> Any:
    resource = {"group": "apps", "version": "v1", "resource": "deployments"}
    review = replica.review(scale(replicas), old=scale(1), resource=resource, subResource="scale", name="web")
    return asyncio.run(webhooks.prepare_review(review, replica.admission, until=time.monotonic() + 1))


def test_a_scale_is_judged_as_the_object_that_it_scales(api: MemoryApi, replica: Replica) -> None:
    web = builders.deployment(builders.template(builders.container(gpus=1)), replicas=1, name="web", namespace="ml")
    api.apply(web)

    review = prepared(replica, 5)

    assert (review.kind, review.sub_resource, review.value["spec"]["replicas"]) == ("Deployment", "", 5)
    assert review.old_value["spec"]["replicas"] == 1


def test_a_scaled_object_that_does_not_exist_is_unknown(replica: Replica) -> None:
    assert prepared(replica, 5).sub_resource == "scale"


@pytest.mark.parametrize("answer", [refusal(500, "etcd is away"), refusal(429, "busy")])
def test_a_scaled_object_that_cannot_be_read_gives_no_verdict(api: MemoryApi, replica: Replica, answer: Answer) -> None:
    api.trouble = lambda _method, _path: answer

    with pytest.raises(errors.ClusterError):
        prepared(replica, 5)


@pytest.mark.parametrize("trouble", [unreachable, lambda *_: refusal(403, "forbidden"), lambda *_: refusal(500, "no")])
def test_a_quota_that_cannot_be_written_raises_an_error_instead_of_a_verdict(
    api: MemoryApi, replica: Replica, trouble: Any
) -> None:
    api.trouble = trouble

    with pytest.raises(errors.ClusterError):
        replica.ask(job(8), seconds=0.3)


def test_a_charge_waits_no_longer_than_the_review(api: MemoryApi, replica: Replica) -> None:
    def slow(_method: str, _path: str) -> None:
        time.sleep(1.0)

    api.trouble = slow
    review = replica.review(job(8))
    request = webhooks.charge_request(review, replica.evaluator.decide(request_of(review)))
    assert request is not None
    began = time.monotonic()

    async def charged() -> float:
        with pytest.raises(errors.ClusterError, match="in time"):
            await replica.admission.charge(request, until=began + 0.2)
        return time.monotonic() - began

    assert asyncio.run(charged()) < 0.9


def test_a_reservation_ends_when_the_configuration_says(api: MemoryApi) -> None:
    replica = Replica(api, clock=lambda: 1000.0, facts={"quotaReservation": "90s"})
    replica.watch()
    replica.ask(job(8))

    quota: Any = api.objects["/apis/gpu-usher.io/v1alpha1", "gpuquotas", "", "research"]
    assert [each["until"] for each in quota["status"]["charges"]] == [1090]
    assert reserved(api) == {"Job.batch/ml/train"}
    replica.close()


def test_only_objects_of_namespaces_with_a_quota_may_wait_for_a_charge(api: MemoryApi, replica: Replica) -> None:
    assert replica.admission.may_charge("other")

    api.apply(gpu_quota(namespaces=["ml"]))
    replica.watch()

    assert [replica.admission.may_charge(namespace) for namespace in ("ml", "other")] == [True, False]
