"""Where a workload would go: the answers are true, and the remedies work."""

from collections.abc import Sequence
from functools import cache

import pytest

import builders
from builders import GPU, queues
from builders.queues import cluster_queue, gpu_group, local_queue
from usher import paths
from usher.authorities.authority import Outlook, Section
from usher.authorities.verdict import Answer
from usher.cluster.facts.store import Store
from usher.config import models
from usher.kinds.reading import values
from usher.policy import assembly
from usher.policy.decision import Request
from usher.policy.evaluator import Evaluator
from usher.policy.explaining import Outlooks

NAMESPACE: paths.Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "research"}}
FLAVOR = queues.flavor("a100")
NODES = [builders.node(f"gpu-{index}", allocatable={"cpu": 96, "pods": 110, GPU: 8}) for index in range(9)]
ELSEWHERE: Sequence[paths.Object] = [
    {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "theirs", "namespace": "other"}},
    {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "theirs", "namespace": "other"}},
    builders.gpu_quota("theirs", 1, namespaces=["other"]),
]
"""Quotas and LimitRanges of another namespace, so that it is known that there is none in ours."""


def queue(name: str, nominal: int, *, reserved: int | None = 0) -> paths.Object:
    found = cluster_queue(name, gpu_group(nominal))
    if reserved is not None:
        found["status"] = {
            "flavorsReservation": [{"name": "a100", "resources": [{"name": GPU, "total": str(reserved)}]}]
        }
    return found


def gpu_quota(hard: int, *, charged: int) -> paths.Object:
    charge = {"object": "Job.batch/research/other", "amounts": {"gpus": charged}}
    return builders.gpu_quota(gpus=hard, namespaces=["research"], status={"version": 1, "charges": [charge]})


def resource_quota(hard: int, *, used: int) -> paths.Object:
    key = f"requests.{GPU}"
    return builders.resource_quota({key: str(hard)}, used={key: str(used)}, name="gpus", namespace="research")


def bert(workers: int, *, queue: str | None = "small", each: int = 8) -> paths.Object:
    template = builders.template(builders.container(requests={GPU: each}, limits={GPU: each}))
    labels = {} if queue is None else {"kueue.x-k8s.io/queue-name": queue}
    return builders.pytorch_job(template, workers=workers, name="bert", namespace="research", labels=labels)


@cache
def engine() -> Evaluator:
    return assembly.embedded(models.Config())


def look(value: paths.Object, *found: paths.Object, **config: paths.Json) -> Outlook:
    made = engine()
    configured = models.Config.model_validate(config)
    facts = Store.of([NAMESPACE, FLAVOR, *found])
    evaluator = Evaluator(engine=made.engine, entries=made.catalogue, config=configured, facts=facts)
    request = Request(value=value, objects=values.Objects([value], namespace=""))
    outlook = Outlooks(evaluator, facts).of(request)
    assert outlook is not None
    return outlook


def section(outlook: Outlook, authority: str) -> Section:
    (found,) = [each for each in outlook.sections if each.authority == authority]
    return found


def whole(*found: paths.Object) -> Sequence[paths.Object]:
    """All that decides, with nothing in the way but what is given."""
    kinds = {each["kind"] for each in found}
    return [*found, *NODES, *(each for each in ELSEWHERE if each["kind"] not in kinds)]


def test_what_no_queue_quota_or_node_is_against_has_room_now() -> None:
    outlook = look(bert(2), *whole(local_queue("small"), queue("small", 16)))

    assert outlook.answer is Answer.FITS
    assert outlook.remedies == ()
    (taken, *_) = section(outlook, "Kueue").taken
    assert (taken.flavor, taken.now) == ("a100", True)


def test_pods_that_the_queue_counts_have_a_row() -> None:
    """KQ:pkg/scheduler/flavorassigner/flavorassigner.go:743 counts each pod where a group covers `pods`."""
    counting = cluster_queue("small", queues.group(("a100", [queues.quota(16), queues.quota(4, resource="pods")])))

    found = section(look(bert(2), *whole(local_queue("small"), counting)), "Kueue")

    assert [(each.resource, str(each.asks), str(each.most)) for each in found.balances] == [
        (GPU, "16", "16"),
        ("pods", "2", "4"),
    ]


def test_room_is_not_certain_where_limit_ranges_may_add_requests() -> None:
    facts = [each for each in whole(local_queue("small"), queue("small", 16)) if each["kind"] != "LimitRange"]

    found = section(look(bert(2), *facts), "Kueue")

    assert found.answer is Answer.COULD
    assert found.reasons == (
        "Kueue may count more: usher does not know the LimitRanges, or the RuntimeClass of the pods",
    )


def limit_range(maximum: str) -> paths.Object:
    most: paths.Object = {"type": "Container", "max": {"memory": maximum}}
    return builders.custom("v1", "LimitRange", {"limits": [most]}, name="containers", namespace="research")


def with_memory(amount: str) -> paths.Object:
    container = builders.container(gpus=8, requests={"memory": amount}, limits={"memory": amount})
    return builders.job(builders.template(container), name="large", namespace="research")


def test_pods_that_a_limit_range_refuses_never_start() -> None:
    """A queue, quotas and nodes may have room for them all the same."""
    outlook = look(with_memory("600Gi"), *whole(limit_range("512Gi")))

    refused = section(outlook, "LimitRange")
    assert outlook.answer is Answer.NEVER
    assert refused.way == ("LimitRange containers",)
    assert refused.reasons == ("container main has a limit of 600Gi memory, and at most 512Gi is allowed",)
    assert look(with_memory("512Gi"), *whole(limit_range("512Gi"))).answer is Answer.COULD


@pytest.mark.parametrize(
    ("kind", "api_version", "field"),
    [
        ("PriorityClass", "scheduling.k8s.io/v1", "priorityClassName"),
        ("RuntimeClass", "node.k8s.io/v1", "runtimeClassName"),
    ],
)
def test_a_missing_class_must_be_created_first(kind: str, api_version: str, field: str) -> None:
    def answer(*there: str) -> Outlook:
        classes: list[paths.Object] = [
            {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "value": 1} for name in there
        ]
        template = builders.template(builders.container(gpus=8), **{field: "wanted"})  # type: ignore[arg-type]  # a field of pods
        return look(builders.job(template, name="one", namespace="research"), *whole(*classes))

    missing = answer("other")
    assert missing.answer is Answer.NOT_NOW
    assert section(missing, "classes").reasons == (f"there is no {kind} wanted",)
    assert answer("wanted").answer is Answer.COULD


def test_a_missing_class_of_the_queue_must_be_created_first() -> None:
    job = builders.replaced(bert(2), "/metadata/labels/kueue.x-k8s.io~1priority-class", "wanted")
    others: paths.Object = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": "other"},
        "value": 1,
    }
    outlook = look(job, *whole(local_queue("small"), queue("small", 16), others))

    assert outlook.answer is Answer.NOT_NOW
    assert section(outlook, "classes").reasons == ("there is no WorkloadPriorityClass wanted",)


def test_what_a_queue_has_given_to_others_is_waited_for() -> None:
    outlook = look(bert(5), *whole(local_queue("small"), queue("small", 48, reserved=16)))

    assert outlook.answer is Answer.NOT_NOW
    assert f"Kueue: wait: 16 of 48 {GPU} in flavor a100 are taken now, and 40 are needed" in outlook.remedies


def test_what_was_never_reserved_by_anybody_we_know_of_is_not_called_free() -> None:
    """Manifests of a repository have no status."""
    outlook = look(bert(2), *whole(local_queue("small"), queue("small", 16, reserved=None)))

    (balance,) = section(outlook, "Kueue").balances
    assert outlook.answer is Answer.COULD
    assert (balance.used, balance.free) == (None, None)


@pytest.mark.parametrize(("nominal", "workers", "most"), [(48, 8, 6), (47, 8, 5), (8, 2, 1)])
def test_as_many_pods_are_suggested_as_there_is_room_for_and_no_more(nominal: int, workers: int, most: int) -> None:
    facts = whole(local_queue("small"), queue("small", nominal))
    outlook = look(bert(workers), *facts)

    (remedy, *_) = outlook.remedies
    pods = "pod" if most == 1 else "pods"
    assert outlook.answer is Answer.NEVER
    assert remedy == (
        f"ask for at most {most} {pods} in Worker ({most * 8} {GPU} instead of {workers * 8}): there is room now"
    )
    assert look(bert(most), *facts).answer is Answer.FITS
    assert look(bert(most + 1), *facts).answer is Answer.NEVER


@pytest.mark.parametrize(("each", "most"), [(2, 4), (3, 2), (8, 1)])
def test_as_many_pods_are_suggested_as_one_host_holds(each: int, most: int) -> None:
    """KQ:pkg/cache/scheduler/tas_flavor_snapshot.go:1380; other authorities would take all pods."""
    host = "kubernetes.io/hostname"
    placed = queues.flavor("a100", topologyName="hosts")
    facts = whole(local_queue("small"), queue("small", 640), placed, queues.topology("hosts", host))
    annotations: paths.Json = {"kueue.x-k8s.io/podset-required-topology": host}

    def job(pods: int) -> paths.Object:
        place = "/spec/pytorchReplicaSpecs/Worker/template/metadata"
        return builders.replaced(bert(pods, each=each), place, {"annotations": annotations})

    outlook = look(job(9), *facts)

    assert outlook.answer is Answer.NEVER
    pods = "1 pod" if most == 1 else f"{most} pods"
    assert any(remedy.startswith(f"ask for at most {pods} in Worker") for remedy in outlook.remedies)
    assert look(job(most), *facts).answer is Answer.COULD, "usher does not know which nodes are free now"
    assert look(job(most + 1), *facts).answer is Answer.NEVER


def test_a_remedy_satisfies_all_quotas_together() -> None:
    facts = whole(local_queue("small"), queue("small", 56), gpu_quota(48, charged=0), resource_quota(40, used=0))

    (remedy, *_) = look(bert(8), *facts).remedies

    assert remedy.startswith("ask for at most 5 pods in Worker")


def test_as_much_more_quota_is_suggested_as_it_takes() -> None:
    outlook = look(bert(8), *whole(local_queue("small"), queue("small", 48)))

    assert f"Kueue: raise the nominalQuota of ClusterQueue small in flavor a100 by 16 {GPU}" in outlook.remedies
    assert look(bert(8), *whole(local_queue("small"), queue("small", 64))).answer is Answer.FITS


def test_another_queue_of_the_namespace_is_named() -> None:
    facts = whole(
        local_queue("small"), local_queue("big"), queue("small", 16), queue("big", 64), queue("elsewhere", 64)
    )
    outlook = look(bert(8), *facts)

    assert "Kueue: use queue big (ClusterQueue big): it has room now" in outlook.remedies
    assert [each.queue for each in section(outlook, "Kueue").elsewhere] == ["big"]


def test_a_queue_that_gpu_usher_gives_is_said_to_be_given() -> None:
    facts = whole(local_queue("small"), queue("small", 16))
    outlook = look(bert(1, queue=None), *facts, queues=[{"namespaces": ["research"], "localQueue": "small"}])

    found = section(outlook, "Kueue")
    assert found.given
    assert found.way == ("LocalQueue small", "ClusterQueue small")


@pytest.mark.parametrize(
    ("local", "cluster", "reason"),
    [
        ({"stopPolicy": "Hold"}, {}, "LocalQueue small is stopped (stopPolicy Hold)"),
        ({}, {"stopPolicy": "HoldAndDrain"}, "ClusterQueue small is stopped (stopPolicy HoldAndDrain)"),
        ({}, {"namespaceSelector": None}, "ClusterQueue small does not select namespace research"),
    ],
)
def test_a_stopped_queue_answers_not_now_instead_of_never(
    local: paths.Object, cluster: paths.Object, reason: str
) -> None:
    named, behind = local_queue("small"), queue("small", 16)
    for value, fields in ((named, local), (behind, cluster)):
        assert isinstance(value["spec"], dict)
        value["spec"] |= fields
    outlook = look(bert(1), *whole(named, behind))

    assert outlook.answer is Answer.NOT_NOW
    assert reason in section(outlook, "Kueue").reasons


def test_a_quota_gives_the_charge_and_the_free_amount() -> None:
    facts = whole(local_queue("small"), queue("small", 64), gpu_quota(40, charged=16))
    outlook = look(bert(4), *facts)

    found = section(outlook, "GPUQuota")
    assert found.answer is Answer.NOT_NOW
    assert found.reasons == ("32 GPUs would be charged, 24 are left",)
    assert "GPUQuota: wait: 16 of 40 GPUs of GPUQuota research are charged now" in outlook.remedies


def test_a_resource_quota_says_what_it_has_left() -> None:
    facts = whole(local_queue("small"), queue("small", 64), resource_quota(40, used=16))
    found = section(look(bert(4), *facts), "ResourceQuota")

    (balance,) = found.balances
    assert found.answer is Answer.NOT_NOW
    assert (str(balance.asks), str(balance.most), str(balance.used), str(balance.free)) == ("32", "40", "16", "24")


def volcano_queue(capability: int, *, allocated: paths.Json = None) -> paths.Object:
    value = queues.volcano_queue(gpu=str(capability))
    return value if allocated is None else builders.replaced(value, "/status/allocated", allocated)


def volcano_job(gpus: int) -> paths.Object:
    template = builders.template(builders.container(requests={GPU: gpus}, limits={GPU: gpus}))
    spec: paths.Object = {"queue": "research", "minAvailable": 1, "tasks": [{"replicas": 1, "template": template}]}
    return builders.custom("batch.volcano.sh/v1alpha1", "Job", spec, namespace="research")


@pytest.mark.parametrize(
    ("allocated", "answer", "used", "free"),
    [
        ({GPU: "8"}, Answer.COULD, 8, 8),
        ({GPU: "10"}, Answer.NOT_NOW, 10, 6),
        ({GPU: "20"}, Answer.NOT_NOW, 20, 0),
        ({}, Answer.COULD, 0, 16),
        (None, Answer.COULD, None, None),
        ({GPU: "many"}, Answer.COULD, None, None),
        ("much", Answer.COULD, None, None),
    ],
)
def test_a_queue_of_volcano_says_what_its_pods_have(
    allocated: paths.Json, answer: Answer, used: int | None, free: int | None
) -> None:
    found = section(look(volcano_job(8), *whole(volcano_queue(16, allocated=allocated))), "Volcano")

    (balance,) = found.balances
    assert found.answer is answer
    assert [None if each is None else each.value for each in (balance.used, balance.free)] == [used, free]
    assert [*found.waits] == (
        [f"wait: {used} of 16 {GPU} of Queue research are used now, and 8 are needed"]
        if answer is Answer.NOT_NOW
        else []
    )


def test_a_volcano_job_that_waits_for_more_pods_than_it_has_never_starts() -> None:
    job = builders.replaced(volcano_job(8), "/spec/minAvailable", 3)
    sections = [
        section(look(job, *whole(volcano_queue(16))), "Volcano"),
        section(look(job), "Volcano"),
    ]

    assert [(each.answer, each.reasons[0]) for each in sections] == [
        (Answer.NEVER, "it waits for 3 pods, but there are never more than 1"),
        (Answer.NEVER, "it waits for 3 pods, but there are never more than 1"),
    ]


def test_of_what_a_queue_of_volcano_can_never_give_nothing_is_waited_for() -> None:
    found = section(look(volcano_job(32), *whole(volcano_queue(16, allocated={GPU: "8"}))), "Volcano")

    assert (found.answer, found.waits) == (Answer.NEVER, ())


def test_a_pod_that_no_node_can_hold_says_what_the_nearest_would_take() -> None:
    outlook = look(bert(1, each=16), *whole(local_queue("small"), queue("small", 64)))

    (holding,) = section(outlook, "nodes").holding
    assert (outlook.answer, holding.nodes) == (Answer.NEVER, 0)
    assert holding.missing == (f"16 {GPU} asked for, one node has 8",)
    assert f"nodes: to fit nodes like gpu-0, in Worker: ask for at most 8 {GPU}" in outlook.remedies


@pytest.mark.parametrize(
    ("kind", "authority"),
    [("Node", "nodes"), ("ResourceQuota", "ResourceQuota"), ("GPUQuota", "GPUQuota"), ("LocalQueue", "Kueue")],
)
def test_missing_facts_about_a_kind_make_the_answer_unknown(kind: str, authority: str) -> None:
    facts = [each for each in whole(local_queue("small"), queue("small", 64)) if each["kind"] != kind]
    outlook = look(bert(1), *facts)

    assert outlook.answer is Answer.UNKNOWN
    assert section(outlook, authority).reasons[0].endswith(" are not known")


def served(replicas: int) -> paths.Object:
    template = builders.template(builders.container(requests={GPU: 8}, limits={GPU: 8}))
    labels = {"kueue.x-k8s.io/queue-name": "small"}
    return builders.deployment(template, replicas=replicas, namespace="research", labels=labels)


def test_what_kueue_admits_pod_by_pod_is_said_to_be_asked_for_by_one_of_them() -> None:
    found = section(look(served(2), *whole(local_queue("small"), queue("small", 32))), "Kueue")

    (balance,) = found.balances
    assert (found.answer, str(balance.asks)) == (Answer.FITS, "8")
    assert found.reasons == ("Kueue admits each pod separately; the amounts are for one pod",)


def test_room_for_some_of_the_pods_is_not_called_room_for_the_workload() -> None:
    outlook = look(served(12), *whole(local_queue("small"), queue("small", 32)))

    assert outlook.answer is Answer.COULD
    assert "there is room for a pod now, but not for all of them" in section(outlook, "Kueue").reasons


def test_what_makes_no_pods_by_itself_has_no_outlook() -> None:
    made = engine()

    assert Outlooks(made, made.facts).of(Request(value=NAMESPACE)) is None
