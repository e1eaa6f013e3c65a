"""What usher says about workloads in queues of Kueue, and what Kueue then does with them.

Sixty cases, the same each time: worlds of ClusterQueues, cohorts, flavors and Topologies over seven nodes, and ten Jobs
and JobSets in each. Some workloads stay, so that later ones find their queues in use. AGREEMENT_SEED gives other cases,
AGREEMENT_CASES more of them.
"""

import random
from collections.abc import Iterator
from typing import Final

import pytest

from e2e import agreement, kueue_worlds, real_controllers
from e2e.agreement import CASES, SEED, Seen
from e2e.cluster import ApiError, Cluster, Object, condition, wait_until
from e2e.control_plane import control_plane
from e2e.gpu_nodes import RUNTIME_CLASS, add_nodes
from e2e.kueue_worlds import World
from unit.policy import agreeing
from unit.policy.agreeing import NAMESPACE
from usher.authorities.verdict import Answer

pytestmark = [pytest.mark.oracle, real_controllers.needs("kueue")]

IN_A_WORLD: Final = 10
MOST_UNKNOWN: Final = 0.1
MOST_UNSURE: Final = 0.03
"""Shares of the cases; the second of those that could start and wait."""

KUEUE: Final = "kueue.x-k8s.io/v1beta2"
KINDS: Final = (
    *((KUEUE, kind) for kind in ("ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Topology")),
    ("v1", "Node"),
    ("v1", "Namespace"),
    ("v1", "ConfigMap"),
    ("node.k8s.io/v1", "RuntimeClass"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
)


@pytest.fixture(scope="module")
def queueing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with control_plane(tmp_path_factory.mktemp("kueue-decides")) as running, real_controllers.kueue(running):
        running.ensure_namespace(NAMESPACE)
        running.wait_for_service_account(NAMESPACE)
        add_nodes(running, *kueue_worlds.NODES)
        for each in (*kueue_worlds.TOPOLOGIES, RUNTIME_CLASS):
            running.create(each, strict=True)
        yield running


def set_up(cluster: Cluster, of: World) -> None:
    """Makes the queues of a world, and waits until Kueue has looked at each of them."""
    for each in of.objects:
        cluster.create(each, strict=True)

    def looked_at() -> bool:
        ready = [
            {each["metadata"]["name"]: condition(each, "Active").get("status") for each in found}
            for found in (
                cluster.objects("ClusterQueue", api_version=KUEUE),
                cluster.objects("LocalQueue", namespace=NAMESPACE, api_version=KUEUE),
            )
        ]
        # Each LocalQueue has the name of its ClusterQueue, and follows it.
        return all(ready[0].get(name) and ready[0][name] == ready[1].get(name) for name in of.queues)

    wait_until(looked_at, description=f"Kueue has looked at the queues of world {of.number}")


def facts_of(cluster: Cluster) -> list[Object]:
    return real_controllers.facts(
        cluster, KINDS, lambda each: each.get("kind") != "ConfigMap" or "kueue" in each["metadata"]["name"]
    )


def workload_of(cluster: Cluster, owner: Object) -> Object | None:
    found = cluster.objects("Workload", namespace=NAMESPACE, api_version=KUEUE)
    return next(
        (
            each
            for each in found
            if owner["metadata"]["uid"] in [one["uid"] for one in each["metadata"].get("ownerReferences", ())]
        ),
        None,
    )


def tried(cluster: Cluster, case: Object, *, patience: float) -> tuple[bool, str]:
    """Whether Kueue admits a workload, and else what it says."""
    try:
        made = cluster.create(case)
    except ApiError as error:
        return False, error.message

    def decided() -> Object | None:
        found = workload_of(cluster, made)
        if found is None:
            return None
        reserved = condition(found, "QuotaReserved")
        return (
            found if condition(found, "Admitted").get("status") == "True" or reserved.get("status") == "False" else None
        )

    try:
        found = wait_until(decided, description="Kueue has decided", timeout=patience)
    except TimeoutError:
        return False, "Kueue says nothing"
    if condition(found, "Admitted").get("status") == "True":
        return True, ""
    return False, str(condition(found, "QuotaReserved").get("message"))


def end(cluster: Cluster, case: Object, *, left: int) -> None:
    """Deletes a workload, and waits until Kueue counts only those that are left."""
    metadata = case["metadata"]
    try:
        cluster.delete(case["kind"], metadata["name"], namespace=NAMESPACE, api_version=case["apiVersion"])
    except ApiError as error:
        if error.status != 404:
            raise

    def gone() -> bool:
        if len(cluster.objects("Workload", namespace=NAMESPACE, api_version=KUEUE)) > left:
            return False
        return counted(cluster) == left

    wait_until(gone, description=f"Kueue counts {left} workloads")


def counted(cluster: Cluster) -> int:
    queues = cluster.objects("ClusterQueue", api_version=KUEUE)
    return sum(each.get("status", {}).get("reservingWorkloads", 0) for each in queues)


def world_seen(cluster: Cluster, number: int, cases: int) -> Iterator[Seen]:
    """The cases of one world, whose queues end with it."""
    of = kueue_worlds.world(SEED, number)
    set_up(cluster, of)
    choose = random.Random(f"{SEED}-{number}")
    kept: list[Object] = []
    for index in range(cases):
        case = kueue_worlds.workload(SEED, of, index)
        facts = facts_of(cluster)
        (outlook,), denials = agreeing.looked_at([case], facts, pools=kueue_worlds.POOLS)
        # Kueue admits pods that no node holds, unless it places them by topology.
        denying = [each for each in denials if each.startswith("queueing/")]
        starts, said = tried(cluster, case, patience=3)
        answer = next(each.answer for each in outlook.sections if each.authority == "Kueue")
        if answer is Answer.FITS and not starts:
            end(cluster, case, left=len(kept))
            starts, said = tried(cluster, case, patience=5)
        yield agreement.seen(
            number * IN_A_WORLD + index, case, outlook, denying, "Kueue", starts=starts, idle=not kept, said=said
        )
        if starts and choose.random() < 0.3:
            kept.append(case)
            wait_until(lambda: counted(cluster) == len(kept), description="Kueue counts the workloads")
        else:
            end(cluster, case, left=len(kept))
    for left, each in enumerate(reversed(kept)):
        end(cluster, each, left=len(kept) - left - 1)
    for each in reversed(of.objects):
        cluster.delete(each["kind"], each["metadata"]["name"], namespace=NAMESPACE, api_version=each["apiVersion"])


def test_kueue_does_what_usher_says(queueing: Cluster) -> None:
    found = [
        each
        for number in range(-(-CASES // IN_A_WORLD))
        for each in world_seen(queueing, number, min(IN_A_WORLD, CASES - number * IN_A_WORLD))
    ]

    agreement.record("kueue", real_controllers.version_of("kueue", "sigs.k8s.io/kueue"), found)
    assert [str(each) for each in found if each.false_never] == []
    assert [str(each) for each in found if each.false_fits] == []
    assert len(unsure := [str(each) for each in found if each.false_could]) <= MOST_UNSURE * len(found), unsure
    assert sum(each.answer is Answer.UNKNOWN for each in found) <= MOST_UNKNOWN * len(found)
