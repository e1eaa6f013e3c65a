"""usher and the scheduler of Kubernetes agree about the start of groups of pods.

The same sixty cases each time: groups of Kubernetes itself, affinity, spreads, claims, gates and RuntimeClasses on four
nodes in two racks. Between cases the nodes are empty.
"""

import random
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pytest

import builders
from builders import GPU
from e2e import agreement, real_controllers
from e2e.agreement import CASES, SEED, Seen
from e2e.cluster import Cluster, Object, condition, create_pods, wait_until
from e2e.control_plane import control_plane
from e2e.gpu_nodes import accelerator_node, add_nodes
from unit.policy import agreeing
from unit.policy.agreeing import NAMESPACE
from usher import paths
from usher.authorities.verdict import Answer

pytestmark = pytest.mark.thorough

MOST_UNKNOWN: Final = 0.3
"""The share of unknown answers of several seeds; fewer are better."""

GROUPS: Final = "scheduling.k8s.io/v1alpha2"
POOLS: Final[paths.Json] = [
    {"name": "all", "nodeSelector": {"pool": "all"}, "resources": [GPU], "scalesFromZero": False}
]
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
NODES: Final = [
    accelerator_node(
        f"agreement-{index}",
        labels={"pool": "all", "rack": f"r{index // 2}", **({"kata": "yes"} if index == 0 else {})},
        resources={GPU: "8", "cpu": "32", "memory": "64Gi", "pods": "20"},
    )
    for index in range(4)
]
CLASSES: Final[list[Object]] = [
    {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
        "overhead": {"podFixed": {"cpu": "16"}},
        "scheduling": {"nodeSelector": {"kata": "yes"}},
    }
]


class Case(NamedTuple):
    job: Object
    groups: list[Object]
    minimum: int
    """How many pods must be placed for a start."""


def generated(number: int) -> Case:
    """A Job, always the same for a number, with the PodGroup that it may name."""
    choose = random.Random(SEED + number)
    pods = choose.choice([1, 2, 3, 4, 5, 6])
    spec: dict[str, Any] = {"nodeSelector": {"pool": "all"}}
    groups, minimum = list[Object](), 1
    if choose.random() < 0.7:
        minimum = choose.randint(1, pods + 1)
        policy: Object = choose.choice([{"basic": {}}, *3 * [{"gang": {"minCount": minimum}}]])
        minimum = minimum if "gang" in policy else 1
        name = f"group-{number}"
        spec["schedulingGroup"] = {"podGroupName": choose.choice([*4 * [name], "missing"])}
        group: Object = {"schedulingPolicy": policy}
        groups = [{"apiVersion": GROUPS, "kind": "PodGroup", "metadata": {"name": name}, "spec": group}]
    limits = {GPU: choose.choice([1, 2, 4, 4, 8, 8, 9]), "cpu": choose.choice([1, 8, 17])}
    for change in choose.sample(CHANGES, choose.choice([0, 0, 1, 1, 2])):
        change(choose, spec)
    template = builders.template(builders.container(limits=limits), labels={"app": "ours"}, **spec)
    job = builders.job(template, name=f"case-{number}", namespace=NAMESPACE, parallelism=pods, completions=pods)
    return Case(job, groups, minimum)


def _selector(choose: random.Random, spec: dict[str, Any]) -> None:
    spec["nodeSelector"] = {**spec["nodeSelector"], "rack": choose.choice(["r0", "r1", "r7"])}


def _spread(choose: random.Random, spec: dict[str, Any]) -> None:
    spec["topologySpreadConstraints"] = [
        {
            "maxSkew": 8,
            "topologyKey": choose.choice(["rack", "row"]),
            "whenUnsatisfiable": choose.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
            "labelSelector": {"matchLabels": {"app": "ours"}},
        }
    ]


def _apart(choose: random.Random, spec: dict[str, Any]) -> None:
    selected = {"matchLabels": {"app": "ours"}}
    term = {"topologyKey": choose.choice(["kubernetes.io/hostname", "rack"]), "labelSelector": selected}
    spec["affinity"] = {"podAntiAffinity": {REQUIRED: [term]}}


def _beside(choose: random.Random, spec: dict[str, Any]) -> None:
    selected = {"matchLabels": {"app": choose.choice(["ours", "theirs"])}}
    spec["affinity"] = {
        "podAffinity": {REQUIRED: [{"topologyKey": choose.choice(["rack", "row"]), "labelSelector": selected}]}
    }


def _claim(_choose: random.Random, spec: dict[str, Any]) -> None:
    spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "gone"}}]


def _gate(_choose: random.Random, spec: dict[str, Any]) -> None:
    spec["schedulingGates"] = [{"name": "example.com/wait"}]


def _runtime_class(_choose: random.Random, spec: dict[str, Any]) -> None:
    spec["runtimeClassName"] = "kata"


def _scheduler(_choose: random.Random, spec: dict[str, Any]) -> None:
    spec["schedulerName"] = "ours"


CHANGES: Final = (_selector, _spread, _apart, _beside, _claim, _gate, _runtime_class, _scheduler)


@pytest.fixture(scope="module")
def scheduling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with control_plane(tmp_path_factory.mktemp("groups"), pod_groups=True) as running:
        running.ensure_namespace(NAMESPACE)
        running.wait_for_service_account(NAMESPACE)
        add_nodes(running, *NODES)
        for each in CLASSES:
            running.create(each)
        yield running


def placed(cluster: Cluster, case: Case) -> int:
    """How many pods the scheduler places where it has all nodes for them."""
    for group in case.groups:
        cluster.create({**group, "metadata": {**group["metadata"], "namespace": NAMESPACE}})
    create_pods(cluster, case.job, namespace=NAMESPACE)

    def tried() -> list[Object] | None:
        found = list(cluster.objects("Pod", namespace=NAMESPACE))
        waiting = [each for each in found if not each["spec"].get("nodeName")]
        told = [each for each in waiting if condition(each, "PodScheduled").get("status")]
        return found if len(told) == len(waiting) else None

    try:
        found = wait_until(tried, description="the scheduler has tried the pods", timeout=2)
    except TimeoutError:
        # Of groups that lack pods, of gates and of other schedulers the scheduler says nothing.
        found = list(cluster.objects("Pod", namespace=NAMESPACE))
    count = sum(bool(each["spec"].get("nodeName")) for each in found)
    path = f"/api/v1/namespaces/{NAMESPACE}/pods"
    cluster.request("DELETE", path, query={"gracePeriodSeconds": "0"})
    for group in case.groups:
        cluster.delete("PodGroup", group["metadata"]["name"], namespace=NAMESPACE, api_version=GROUPS)
    wait_until(lambda: not list(cluster.objects("Pod", namespace=NAMESPACE)), description="the pods are gone")
    return count


def test_the_scheduler_starts_no_group_that_usher_says_never_starts(scheduling: Cluster) -> None:
    found = list[Seen]()
    for number in range(CASES):
        case = generated(number)
        groups = [{**each, "metadata": {**each["metadata"], "namespace": NAMESPACE}} for each in case.groups]
        (outlook,), denying = agreeing.looked_at([case.job], [*NODES, *CLASSES, *groups], pools=POOLS)
        starts = placed(scheduling, case) >= case.minimum
        did = {"starts": starts, "idle": True, "said": ""}
        found.append(agreement.seen(number, case._asdict(), outlook, denying, "", **did))

    agreement.record("in-tree", real_controllers.version_of("", "k8s.io/kubernetes"), found)
    assert [str(each) for each in found if each.false_never] == []
    assert [str(each) for each in found if each.false_fits or each.false_could] == []
    assert sum(each.answer is Answer.UNKNOWN for each in found) <= MOST_UNKNOWN * len(found)
