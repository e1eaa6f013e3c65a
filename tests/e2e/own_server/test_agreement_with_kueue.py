"""usher and Kueue agree about workloads in queues of Kueue.

Sixty cases, the same each time: worlds of ClusterQueues, cohorts, flavors and Topologies over seven nodes, and ten Jobs
and JobSets in each. Some workloads stay, so that later ones find their queues in use. AGREEMENT_SEED gives other cases,
AGREEMENT_CASES more of them.
"""

import contextlib
import json
import random
from collections.abc import Iterator, Sequence
from typing import Final

import pytest

from e2e import agreement, kueue_worlds, real_controllers, real_operators, remedies
from e2e.agreement import CASES, SEED, Seen
from e2e.cluster import ApiError, Cluster, Object, condition, wait_until
from e2e.control_plane import control_plane
from e2e.gpu_nodes import RUNTIME_CLASS, add_nodes
from e2e.kueue_worlds import World
from e2e.remedies import Followed
from unit.policy import agreeing
from unit.policy.agreeing import NAMESPACE
from usher.authorities.verdict import Answer

pytestmark = [pytest.mark.oracle, real_controllers.needs("kueue")]

IN_A_WORLD: Final = 10
MOST_UNKNOWN: Final = 0.1
ADVISED: Final = (20261128, (2, 5, 9, 17, 42))
"""A seed and worlds of it in which usher has remedies of each kind."""
MOST_UNSURE: Final = 0.03
"""Shares of the cases; the second of those that could start and wait."""

VERSION: Final = real_controllers.version_of("kueue", "sigs.k8s.io/kueue")
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


def pods_of(cluster: Cluster) -> list[Object]:
    return cluster.objects("Pod", namespace=NAMESPACE)


def wait_for_the_end_of_pods(cluster: Cluster, left: set[str]) -> None:
    wait_until(lambda: {each["metadata"]["name"] for each in pods_of(cluster)} <= left, description="the pods end")


def placed(cluster: Cluster, case: Object, before: set[str]) -> tuple[bool, bool, str]:
    """Whether the scheduler places pods of each part of an admitted workload, whether all of them, and what it says."""

    def told() -> list[Object] | None:
        found = [each for each in pods_of(cluster) if each["metadata"]["name"] not in before]
        waiting = [condition(each, "PodScheduled") for each in found if not each["spec"].get("nodeName")]
        done = all(each.get("reason") == "Unschedulable" for each in waiting)
        return found if len(found) == expected_pods(cluster, case) and done else None

    with contextlib.suppress(TimeoutError):
        wait_until(told, description="the scheduler has tried the pods", timeout=5)
    found = [each for each in pods_of(cluster) if each["metadata"]["name"] not in before]
    parts = {each["name"] for each in case["spec"].get("replicatedJobs", ())} or {""}
    running = [each for each in found if each["spec"].get("nodeName")]
    there = {each["metadata"]["labels"].get("jobset.sigs.k8s.io/replicatedjob-name", "") for each in running}
    said = {condition(each, "PodScheduled").get("message", "") for each in found if each not in running}
    return parts <= there, len(running) == expected_pods(cluster, case), "; ".join(sorted(said))


def expected_pods(cluster: Cluster, case: Object) -> int:
    """How many pods a workload has now: Kueue may admit fewer than it asks for."""
    about = {"namespace": NAMESPACE, "api_version": case["apiVersion"]}
    spec = cluster.get(case["kind"], case["metadata"]["name"], **about)["spec"]
    parts = spec.get("replicatedJobs", ())
    return sum(each["replicas"] * each["template"]["spec"]["parallelism"] for each in parts) or spec["parallelism"]


def world_seen(cluster: Cluster, number: int, cases: int, authority: str = "Kueue") -> Iterator[Seen]:
    """The cases of one world, whose queues end with it; without an authority, all that decide about a start."""
    of = kueue_worlds.world(SEED, number)
    set_up(cluster, of)
    choose = random.Random(f"{SEED}-{number}")
    kept: list[Object] = []
    for index in range(cases):
        case = kueue_worlds.workload(SEED, of, index)
        facts = facts_of(cluster)
        (outlook,), denials = agreeing.looked_at([case], facts, pools=kueue_worlds.POOLS)
        # Kueue admits pods that no node holds, unless it places them by topology.
        denying = [each for each in denials if each.startswith("queueing/") or not authority]
        before = {each["metadata"]["name"] for each in pods_of(cluster)}
        starts, said = tried(cluster, case, patience=3)
        whole = starts
        answer = next(each.answer for each in outlook.sections if each.authority == "Kueue")
        if answer is Answer.FITS and not starts:
            end(cluster, case, left=len(kept))
            starts, said = tried(cluster, case, patience=5)
        keeps = starts and choose.random() < 0.3
        if starts and not authority:
            starts, whole, said = placed(cluster, case, before)
        did = {"starts": starts, "whole": whole, "idle": not kept, "said": said}
        yield agreement.seen(number * IN_A_WORLD + index, case, outlook, denying, authority, **did)
        if keeps:
            kept.append(case)
            wait_until(lambda: counted(cluster) == len(kept), description="Kueue counts the workloads")
        else:
            end(cluster, case, left=len(kept))
            wait_for_the_end_of_pods(cluster, before)
    for left, each in enumerate(reversed(kept)):
        end(cluster, each, left=len(kept) - left - 1)
    tear_down(cluster, of)


def tear_down(cluster: Cluster, of: World) -> None:
    for each in reversed(of.objects):
        cluster.delete(each["kind"], each["metadata"]["name"], namespace=NAMESPACE, api_version=each["apiVersion"])


def found_in_worlds(cluster: Cluster, authority: str = "Kueue") -> list[Seen]:
    return [
        each
        for number in range(-(-CASES // IN_A_WORLD))
        for each in world_seen(cluster, number, min(IN_A_WORLD, CASES - number * IN_A_WORLD), authority)
    ]


def assert_agrees(found: list[Seen], most_in_use: float = 0) -> None:
    """Fails on answers that are wrong, but for a share of those about nodes that other pods use."""
    assert [str(each) for each in found if each.false_never] == []
    fits = [each for each in found if each.false_fits]
    assert [str(each) for each in fits if each.idle] == []
    assert len(fits) <= most_in_use * len(found), [str(each) for each in fits]
    assert len(unsure := [str(each) for each in found if each.false_could]) <= MOST_UNSURE * len(found), unsure
    assert sum(each.answer is Answer.UNKNOWN for each in found) <= MOST_UNKNOWN * len(found)


def test_kueue_does_what_usher_says(queueing: Cluster) -> None:
    found = found_in_worlds(queueing)

    agreement.record("kueue", VERSION, found)
    assert_agrees(found)


@real_controllers.needs("jobset")
def test_kueue_and_the_scheduler_do_together_what_usher_says(queueing: Cluster) -> None:
    with real_operators.running(queueing, "jobset"):
        found = found_in_worlds(queueing, "")

    agreement.record("kueue-and-nodes", VERSION, found)
    # usher does not know the pods on nodes.
    assert_agrees(found, most_in_use=0.01)


def test_what_usher_advises_starts_workloads_in_kueue(queueing: Cluster) -> None:
    """Remedies of workloads that never start, each carried out alone."""
    tried_kinds, waiting = set[str](), list[str]()
    seed, worlds = ADVISED
    for number in worlds:
        of = kueue_worlds.world(seed, number)
        set_up(queueing, of)
        for index in range(IN_A_WORLD):
            case = kueue_worlds.workload(seed, of, index)
            for change in advised(queueing, case, of.objects):
                for each in change.queues if change.kind == "more quota" else ():
                    queueing.merge(each, {"spec": each["spec"]})
                (outlook,), _ = agreeing.looked_at([change.workload], facts_of(queueing), pools=kueue_worlds.POOLS)
                if outlook.answer not in (Answer.COULD, Answer.FITS):
                    continue
                starts, said = tried(queueing, change.workload, patience=5)
                tried_kinds.add(change.kind)
                if starts and change.workload["kind"] == "Job":
                    starts, _, said = placed(queueing, change.workload, set())
                if not starts:
                    waiting.append(f"{number}, {index}: {change.kind}: {said}; {json.dumps(change.workload)}")
                end(queueing, change.workload, left=0)
                wait_for_the_end_of_pods(queueing, set())
        tear_down(queueing, of)

    assert waiting == []
    assert tried_kinds == {"another queue", "a toleration", "more quota", "fewer pods", "other nodes"}


def advised(cluster: Cluster, case: Object, objects: Sequence[Object]) -> list[Followed]:
    """A workload that never starts, after its remedies are followed."""
    (outlook,), _ = agreeing.looked_at([case], facts_of(cluster), pools=kueue_worlds.POOLS)
    queues = [each for each in objects if each["kind"] == "ClusterQueue"]
    return [*remedies.followed(outlook.remedies, case, [], queues)] if outlook.answer is Answer.NEVER else []
