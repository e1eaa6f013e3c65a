"""usher and Volcano agree about workloads in queues of Volcano.

Sixty cases, the same each time: worlds of three queues over four nodes, and ten Jobs of Volcano and of Kubernetes in
each. Between cases the nodes are empty. Volcano runs as its chart installs it, without its webhooks.
"""

import contextlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from e2e import agreement, real_controllers, remedies, volcano_worlds
from e2e.agreement import CASES, SEED, Seen
from e2e.cluster import ApiError, Cluster, Object, wait_until
from e2e.control_plane import control_plane
from e2e.gpu_nodes import RUNTIME_CLASS, add_nodes
from e2e.remedies import Followed
from e2e.volcano_worlds import Case, World
from unit.policy import agreeing
from unit.policy.agreeing import NAMESPACE
from usher.authorities.verdict import Answer

pytestmark = [pytest.mark.oracle, real_controllers.needs("volcano")]

IN_A_WORLD: Final = 10
MOST_UNKNOWN: Final = 0.2
ADVISED: Final = (20261128, (2, 3, 6))
"""A seed and worlds of it in which usher has remedies of each kind."""
MOST_UNSURE: Final = 0.03
"""Shares of the cases; the second of those that could start and wait."""

SCHEDULING: Final = "scheduling.volcano.sh/v1beta1"
JOBS: Final = "batch.volcano.sh/v1alpha1"
KINDS: Final = (
    (SCHEDULING, "Queue"),
    (SCHEDULING, "PodGroup"),
    ("v1", "Node"),
    ("v1", "Namespace"),
    ("node.k8s.io/v1", "RuntimeClass"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
)


@contextlib.contextmanager
def scheduling(directory: Path, *, hierarchy: bool = False) -> Iterator[Cluster]:
    with control_plane(directory) as running, real_controllers.volcano(running, hierarchy=hierarchy):
        running.ensure_namespace(NAMESPACE)
        running.wait_for_service_account(NAMESPACE)
        add_nodes(running, *volcano_worlds.NODES)
        running.create(RUNTIME_CLASS)
        # A PodGroup that nobody names, so that the facts have all PodGroups.
        unused: Object = {"minMember": 1, "queue": "default"}
        metadata = {"name": "unused", "namespace": "default"}
        running.create({"apiVersion": SCHEDULING, "kind": "PodGroup", "metadata": metadata, "spec": unused})
        yield running


def is_open(cluster: Cluster, name: str) -> bool:
    found = cluster.get("Queue", name, api_version=SCHEDULING)
    return bool(found.get("status", {}).get("state") == "Open")


def placed(cluster: Cluster) -> Counter[str]:
    """The number of pods on nodes, by the task of a Job of Volcano."""
    pods = cluster.objects("Pod", namespace=NAMESPACE)
    return Counter(
        each["metadata"]["annotations"].get("volcano.sh/task-spec", "") for each in pods if each["spec"].get("nodeName")
    )


def tried(cluster: Cluster, case: Case, *, patience: float) -> tuple[bool, bool]:
    """Whether Volcano places as many pods as must start together, and then some of each task."""
    cluster.create(case.workload)
    tasks = {each["name"] for each in case.workload["spec"].get("tasks", ()) if each["replicas"]}
    return agreement.started(
        lambda: placed(cluster).total() >= case.minimum,
        lambda: tasks <= placed(cluster).keys(),
        patience=patience,
    )


def said(cluster: Cluster) -> str:
    """Volcano's reasons why the PodGroups wait."""
    groups = cluster.objects("PodGroup", namespace=NAMESPACE, api_version=SCHEDULING)
    return "; ".join(
        f"{each.get('status', {}).get('phase')}: {one.get('message')}"
        for each in groups
        for one in each.get("status", {}).get("conditions", [{}])[-1:]
    )


def end(cluster: Cluster, case: Case) -> None:
    workload = case.workload
    cluster.delete(
        workload["kind"], workload["metadata"]["name"], namespace=NAMESPACE, api_version=workload["apiVersion"]
    )
    pods = f"/api/v1/namespaces/{NAMESPACE}/pods"

    def gone() -> bool:
        cluster.request("DELETE", pods, query={"gracePeriodSeconds": "0"})
        for each in cluster.objects("PodGroup", namespace=NAMESPACE, api_version=SCHEDULING):
            with contextlib.suppress(ApiError):
                cluster.delete("PodGroup", each["metadata"]["name"], namespace=NAMESPACE, api_version=SCHEDULING)
        return not any(
            cluster.objects(kind, namespace=NAMESPACE, api_version=version)
            for kind, version in (("Pod", "v1"), ("PodGroup", SCHEDULING), ("Job", "batch/v1"), ("Job", JOBS))
        )

    wait_until(gone, description="the pods are gone")


def world_seen(cluster: Cluster, number: int, cases: int, *, hierarchy: bool) -> Iterator[Seen]:
    """The cases of one world, whose queues end with it."""
    of = volcano_worlds.world(SEED, number, hierarchy=hierarchy)
    set_up(cluster, of)
    for index in range(cases):
        case = volcano_worlds.workload(SEED, of, index)
        for each in case.groups:
            cluster.create(each, strict=True)
        facts = real_controllers.facts(cluster, KINDS, lambda _: True)
        (outlook,), denying = agreeing.looked_at([case.workload], facts, pools=volcano_worlds.POOLS)
        hopeful = outlook.answer in (Answer.COULD, Answer.FITS)
        starts, whole = tried(cluster, case, patience=6 if hopeful else 2)
        yield agreement.seen(
            number * IN_A_WORLD + index,
            case._asdict(),
            outlook,
            denying,
            "",
            starts=starts,
            whole=whole,
            idle=True,
            said="" if starts else said(cluster),
        )
        end(cluster, case)
    tear_down(cluster, of)


def set_up(cluster: Cluster, of: World) -> None:
    for each in of.queues:
        cluster.create(each, strict=True)
    names = [each["metadata"]["name"] for each in of.queues]
    wait_until(lambda: all(is_open(cluster, name) for name in (*names, "default")), description="the queues are open")


def tear_down(cluster: Cluster, of: World) -> None:
    for each in reversed(of.queues):
        cluster.delete("Queue", each["metadata"]["name"], api_version=SCHEDULING)


@pytest.mark.parametrize("hierarchy", [False, True], ids=["queues", "queues above queues"])
def test_volcano_does_what_usher_says(tmp_path: Path, hierarchy: bool) -> None:
    with scheduling(tmp_path, hierarchy=hierarchy) as cluster:
        found = [
            each
            for number in range(-(-CASES // IN_A_WORLD))
            for each in world_seen(cluster, number, min(IN_A_WORLD, CASES - number * IN_A_WORLD), hierarchy=hierarchy)
        ]

    version = real_controllers.version_of("volcano", "volcano.sh/volcano")
    agreement.record("volcano-hierarchy" if hierarchy else "volcano", version, found)
    assert [str(each) for each in found if each.false_never] == []
    assert [str(each) for each in found if each.false_fits] == []
    assert len(unsure := [str(each) for each in found if each.false_could]) <= MOST_UNSURE * len(found), unsure
    assert sum(each.answer is Answer.UNKNOWN for each in found) <= MOST_UNKNOWN * len(found)


def test_what_usher_advises_starts_workloads_in_volcano(tmp_path: Path) -> None:
    """Remedies of workloads that never start, each carried out alone."""
    tried_kinds, waiting = set[str](), list[str]()
    with scheduling(tmp_path) as cluster:
        for number in ADVISED[1]:
            of = volcano_worlds.world(ADVISED[0], number)
            set_up(cluster, of)
            for change in (each for index in range(IN_A_WORLD) for each in advised(cluster, of, index)):
                minimum = change.workload["spec"].get("minAvailable", 1)
                case = Case(
                    change.workload,
                    change.groups,
                    max([minimum, *(each["spec"]["minMember"] for each in change.groups)]),
                )
                facts = [*real_controllers.facts(cluster, KINDS, lambda _: True), *case.groups]
                (outlook,), denying = agreeing.looked_at([case.workload], facts, pools=volcano_worlds.POOLS)
                if outlook.answer is not Answer.COULD or denying:
                    continue
                for each in case.groups:
                    cluster.create(each, strict=True)
                tried_kinds.add(change.kind)
                if not tried(cluster, case, patience=6)[0]:
                    waiting.append(f"{change.kind}: {said(cluster)}; {json.dumps(case._asdict())}")
                end(cluster, case)
            tear_down(cluster, of)

    assert waiting == []
    assert tried_kinds == {"another queue", "fewer pods", "other nodes"}


def advised(cluster: Cluster, of: World, index: int) -> list[Followed]:
    """A workload that never starts, after its remedies are followed."""
    case = volcano_worlds.workload(ADVISED[0], of, index)
    facts = [*real_controllers.facts(cluster, KINDS, lambda _: True), *case.groups]
    (outlook,), _ = agreeing.looked_at([case.workload], facts, pools=volcano_worlds.POOLS)
    return (
        [*remedies.followed(outlook.remedies, case.workload, case.groups, [])] if outlook.answer is Answer.NEVER else []
    )
