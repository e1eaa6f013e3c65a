"""usher and KAI-Scheduler agree about workloads in queues of KAI-Scheduler.

Sixty cases, the same each time: worlds of four queues over five nodes of two shards, and ten workloads in each. Between
cases the nodes are empty. The binder does not run: a pod has its node when the scheduler asks the binder for it.
"""

import contextlib
from collections.abc import Iterator
from typing import Final

import pytest

from e2e import agreement, kai_worlds, real_controllers
from e2e.agreement import CASES, SEED, Seen
from e2e.cluster import ApiError, Cluster, Object, wait_until
from e2e.control_plane import control_plane
from e2e.gpu_nodes import RUNTIME_CLASS, add_nodes
from e2e.kai_worlds import Case
from unit.policy import agreeing
from unit.policy.agreeing import NAMESPACE
from usher.authorities.verdict import Answer

pytestmark = [pytest.mark.oracle, real_controllers.needs("kai")]

IN_A_WORLD: Final = 10
MOST_UNKNOWN: Final = 0.1
MOST_UNSURE: Final = 0.03
"""Shares of the cases; the second of those that could start and wait."""

QUEUES: Final = "scheduling.run.ai/v2"
GROUPS: Final = "scheduling.run.ai/v2alpha2"
REQUESTS: Final = "scheduling.run.ai/v1alpha2"
TRAINING: Final = "kubeflow.org/v1"
KINDS: Final = (
    (QUEUES, "Queue"),
    ("kai.scheduler/v1", "SchedulingShard"),
    ("v1", "Node"),
    ("v1", "Namespace"),
    ("node.k8s.io/v1", "RuntimeClass"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
)
TRAINING_DEFINITION: Final[Object] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "pytorchjobs.kubeflow.org"},
    "spec": {
        "group": "kubeflow.org",
        "names": {
            "kind": "PyTorchJob",
            "plural": "pytorchjobs",
            "singular": "pytorchjob",
            "listKind": "PyTorchJobList",
        },
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        ],
    },
}


@pytest.fixture(scope="module")
def scheduling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    shards = ["", kai_worlds.SHARD]
    with control_plane(tmp_path_factory.mktemp("kai-decides")) as running:
        running.create(TRAINING_DEFINITION)
        with real_controllers.kai(running, shards):
            running.ensure_namespace(NAMESPACE)
            running.wait_for_service_account(NAMESPACE)
            add_nodes(running, *kai_worlds.NODES)
            for each in (RUNTIME_CLASS, *kai_worlds.SHARDS, *kai_worlds.CLASSES):
                running.create(each)
            yield running


def placed(cluster: Cluster) -> list[str]:
    """The pods for which the scheduler has chosen a node."""
    found = cluster.objects("BindRequest", namespace=NAMESPACE, api_version=REQUESTS)
    return [each["spec"]["podName"] for each in found]


def tried(cluster: Cluster, case: Case, *, patience: float) -> tuple[bool, bool]:
    """Whether KAI places as many pods as must start together, and some of each part."""
    created = cluster.create(case.workload)
    owner = {
        "apiVersion": created["apiVersion"],
        "kind": created["kind"],
        "name": created["metadata"]["name"],
        "uid": created["metadata"]["uid"],
        "controller": True,
    }
    for each in case.pods:
        cluster.create({**each, "metadata": {**each["metadata"], "ownerReferences": [owner]}})
    parts = {each["metadata"]["name"].rpartition("-")[0] for each in case.pods}

    def whole() -> bool:
        return all(any(name.startswith(part) for name in placed(cluster)) for part in parts)

    return agreement.started(lambda: len(placed(cluster)) >= case.minimum, whole, patience=patience)


def said(cluster: Cluster) -> str:
    """KAI's reasons why the pod groups wait."""
    groups = cluster.objects("PodGroup", namespace=NAMESPACE, api_version=GROUPS)
    return "; ".join(
        f"{each['spec'].get('queue')}: {one.get('message')}"
        for each in groups
        for one in each.get("status", {}).get("schedulingConditions", [{}])[-1:]
    )


def end(cluster: Cluster, case: Case) -> None:
    workload = case.workload
    version = workload["apiVersion"]
    cluster.delete(workload["kind"], workload["metadata"]["name"], namespace=NAMESPACE, api_version=version)
    own = (("PodGroup", GROUPS), ("BindRequest", REQUESTS))

    def gone() -> bool:
        cluster.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods", query={"gracePeriodSeconds": "0"})
        for kind, api_version in own:
            for each in cluster.objects(kind, namespace=NAMESPACE, api_version=api_version):
                with contextlib.suppress(ApiError):
                    cluster.delete(kind, each["metadata"]["name"], namespace=NAMESPACE, api_version=api_version)
        left = (*own, ("Pod", "v1"), ("Job", "batch/v1"), ("ReplicaSet", "apps/v1"), ("PyTorchJob", TRAINING))
        return not any(cluster.objects(kind, namespace=NAMESPACE, api_version=api) for kind, api in left)

    wait_until(gone, description="the pods are gone")


def world_seen(cluster: Cluster, number: int, cases: int) -> Iterator[Seen]:
    """The cases of one world, whose queues end with it."""
    of = kai_worlds.world(SEED, number)
    for each in of.queues:
        cluster.create(each, strict=True)
    for index in range(cases):
        case = kai_worlds.workload(SEED, of, index)
        facts = real_controllers.facts(cluster, KINDS, lambda _: True)
        (outlook,), denying = agreeing.looked_at([case.workload], facts, pools=kai_worlds.POOLS)
        hopeful = outlook.answer in (Answer.COULD, Answer.FITS)
        starts, whole = tried(cluster, case, patience=8 if hopeful else 2.5)
        yield agreement.seen(
            number * IN_A_WORLD + index,
            {"workload": case.workload, "queues": of.queues},
            outlook,
            denying,
            "",
            starts=starts,
            whole=whole,
            idle=True,
            said="" if starts else said(cluster),
        )
        end(cluster, case)
    for each in of.queues:
        cluster.delete("Queue", each["metadata"]["name"], api_version=QUEUES)


def test_kai_does_what_usher_says(scheduling: Cluster) -> None:
    found = [
        each
        for number in range(-(-CASES // IN_A_WORLD))
        for each in world_seen(scheduling, number, min(IN_A_WORLD, CASES - number * IN_A_WORLD))
    ]

    agreement.record("kai", real_controllers.version_of("kai", "github.com/NVIDIA/KAI-scheduler"), found)
    assert [str(each) for each in found if each.false_never] == []
    assert [str(each) for each in found if each.false_fits] == []
    assert len(unsure := [str(each) for each in found if each.false_could]) <= MOST_UNSURE * len(found), unsure
    assert sum(each.answer is Answer.UNKNOWN for each in found) <= MOST_UNKNOWN * len(found)
