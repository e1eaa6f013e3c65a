"""How many pods the nodes of a Topology hold (KQ:pkg/cache/scheduler/tas_flavor_snapshot.go:1336, 1930)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from builders import GPU, container, template
from builders.queues import cluster_queue, configuration, flavor, gpu_group, group, quota, topology
from unit.authorities.knowing import knowing
from unit.authorities.kueue.judging import RACK, judged
from unit.workloads.normalised import workload
from usher import paths
from usher.authorities.kueue import demand as kueue_demand
from usher.authorities.kueue import judge as kueue_judge
from usher.authorities.kueue import queues as kueue_queues
from usher.authorities.kueue import topology as kueue_topology
from usher.authorities.kueue.flavor_fit import KueueVerdict
from usher.authorities.verdict import Answer
from usher.cluster.facts.store import Store
from usher.config import models

HOST: Final = "kubernetes.io/hostname"
PODSET: Final = "kueue.x-k8s.io/podset-"
IN_ONE_HOST: Final = {PODSET + "required-topology": HOST}
IN_ONE_RACK: Final = {PODSET + "required-topology": RACK}

POOL: Final = {"pool": "a100"}
FLAVOR: Final = flavor("a100", labels=POOL, topologyName="racks")
QUEUE: Final = cluster_queue("research", gpu_group(1000))
WORLD: Final = (QUEUE, FLAVOR, topology("racks", RACK, HOST))


def node(name: str, rack: str, gpus: int = 8, **more: str | int) -> paths.Object:
    labels = {"kubernetes.io/hostname": name, RACK: rack, **POOL}
    return builders.node(name, gpus=gpus or None, labels=labels, allocatable=dict(more))


NODES: Final = (node("a-0", "a"), node("a-1", "a"), node("b-0", "b"), node("b-1", "b"))
"""Two racks of two hosts with 8 GPUs each."""


def job(pods: int, gpus: int, annotations: Mapping[str, str] | None = None, **requests: str | int) -> paths.Object:
    found = template(container(gpus=gpus, requests=dict(requests)), annotations=dict(annotations or {}))
    return builders.job(found, parallelism=pods, completions=pods)


def told(verdict: KueueVerdict) -> list[tuple[str, int | None]]:
    return [(each.reason, each.held) for unmatched in verdict.unmatched for each in unmatched.refusals]


def test_five_pods_of_two_gpus_never_fit_into_one_host_of_eight() -> None:
    verdict = judged(job(5, 2, IN_ONE_HOST), *WORLD, *NODES)

    assert verdict.answer is Answer.NEVER
    assert told(verdict) == [("its nodes hold at most 4 of the 5 pods in one kubernetes.io/hostname", 4)]
    assert judged(job(4, 2, IN_ONE_HOST), *WORLD, *NODES).answer is Answer.COULD


@pytest.mark.parametrize(
    ("annotations", "most"),
    [
        (IN_ONE_HOST, 4),
        (IN_ONE_RACK, 8),
        ({PODSET + "preferred-topology": HOST}, 16),
        ({PODSET + "preferred-topology": RACK}, 16),
        ({PODSET + "unconstrained-topology": "true"}, 16),
        ({}, 16),
    ],
)
def test_what_pods_require_bounds_them_and_what_they_prefer_does_not(annotations: dict[str, str], most: int) -> None:
    """Pods of a queue with nothing but Topologies are placed by topology without asking for it."""
    assert judged(job(most, 2, annotations), *WORLD, *NODES).answer is Answer.COULD
    assert judged(job(most + 1, 2, annotations), *WORLD, *NODES).answer is Answer.NEVER


@pytest.mark.parametrize(
    ("gpus", "requests", "fits"),
    [(1, {"cpu": 24}, 4), (1, {"memory": "512Gi"}, 2), (1, {"example.com/nic": 1}, 0), (0, {"cpu": 1}, 96)],
)
def test_all_resources_of_a_pod_count_also_those_without_quota(gpus: int, requests: dict[str, str], fits: int) -> None:
    """KQ:pkg/scheduler/flavorassigner/tas_flavorassigner.go:113."""
    lenient = configuration("resources: {quotaCheckStrategy: IgnoreUndeclared}")
    queue = cluster_queue("research", group(("a100", [quota(1000), quota(1000, resource="cpu")])))
    facts = (queue, *WORLD[1:], *NODES, lenient)
    if fits:
        assert judged(job(fits, gpus, IN_ONE_HOST, **requests), *facts).answer is Answer.COULD
    assert judged(job(fits + 1, gpus, IN_ONE_HOST, **requests), *facts).answer is Answer.NEVER


def test_a_host_has_a_number_of_pods() -> None:
    few = node("a-0", "a", pods=3)

    assert judged(job(3, 1, IN_ONE_HOST), *WORLD, few).answer is Answer.COULD
    assert judged(job(4, 1, IN_ONE_HOST), *WORLD, few).answer is Answer.NEVER


def test_only_nodes_of_the_flavor_that_have_all_levels_count() -> None:
    """KQ:pkg/util/tas/node.go:21."""
    others = builders.node("other", gpus=64, labels={RACK: "a", "pool": "h100"})
    outside = builders.node("outside", gpus=64, labels=POOL)

    assert judged(job(5, 2, IN_ONE_HOST), *WORLD, *NODES, others, outside).answer is Answer.NEVER
    assert told(judged(job(1, 1, IN_ONE_HOST), *WORLD, others)) == [
        ("its nodes hold at most 0 of the 1 pods in one kubernetes.io/hostname", 0)
    ]


class TestSlices:
    @staticmethod
    def sliced(pods: int, size: str, *, level: str = HOST, within: str = RACK) -> paths.Object:
        required = {PODSET + "required-topology": within} if within else {}
        slices = {PODSET + "slice-required-topology": level, PODSET + "slice-size": size}
        return job(pods, 2, {**required, **slices})

    def test_each_slice_must_be_in_one_domain(self) -> None:
        """A host holds four pods, so one slice of three."""
        assert judged(self.sliced(6, "3"), *WORLD, *NODES).answer is Answer.COULD
        verdict = judged(self.sliced(9, "3"), *WORLD, *NODES)
        assert told(verdict) == [(f"its nodes hold at most 6 of the 9 pods in one {RACK}, 3 in one {HOST}", 6)]

    def test_slices_that_need_not_be_together_have_all_nodes(self) -> None:
        assert judged(self.sliced(12, "3", within=""), *WORLD, *NODES).answer is Answer.COULD
        assert judged(self.sliced(15, "3", within=""), *WORLD, *NODES).answer is Answer.NEVER

    def test_pods_that_are_left_over_do_not_count(self) -> None:
        """KQ:pkg/cache/scheduler/tas_flavor_snapshot.go:1348 divides and drops the rest."""
        assert judged(self.sliced(8, "3"), *WORLD, *NODES).answer is Answer.COULD

    @pytest.mark.parametrize("size", ["0", "three", "-1", "9" * 30])
    def test_an_invalid_slice_size_decides_nothing(self, size: str) -> None:
        assert judged(self.sliced(99, size), *WORLD, *NODES).answer is Answer.COULD


def together(leader_gpus: int, workers: int, level: str = HOST) -> paths.Object:
    annotations = {PODSET + "required-topology": level, "kueue.x-k8s.io/podset-group-name": "ring"}
    leader = template(container(gpus=leader_gpus), annotations=annotations)
    worker = template(container(gpus=2), annotations=annotations)
    return builders.job_set(
        builders.replicated_job("leader", leader), builders.replicated_job("workers", worker, replicas=workers)
    )


def test_a_leader_and_its_workers_need_room_in_the_same_place() -> None:
    """KQ:pkg/cache/scheduler/tas_flavor_snapshot.go:1899-1928."""
    assert judged(together(2, 3), *WORLD, *NODES).answer is Answer.COULD
    assert judged(together(1, 4), *WORLD, *NODES).answer is Answer.NEVER
    assert judged(together(1, 7, RACK), *WORLD, *NODES).answer is Answer.COULD
    assert told(judged(together(1, 8, RACK), *WORLD, *NODES)) == [
        (f"its nodes hold at most 7 of the 8 pods in one {RACK} beside the leader", 7)
    ]


class TestTheLowestLevel:
    def test_hosts_must_admit_the_pods(self) -> None:
        taint = "dedicated=b:NoSchedule"
        guarded = builders.node("b-0", gpus=64, labels={RACK: "b", **POOL}, taints=[taint])
        tolerating = flavor(
            "a100", labels=POOL, topologyName="racks", tolerations=[{"key": "dedicated", "operator": "Exists"}]
        )

        assert judged(job(5, 2, IN_ONE_HOST), *WORLD, guarded, NODES[0]).answer is Answer.NEVER
        facts = (QUEUE, tolerating, WORLD[2], guarded, NODES[0])
        assert judged(job(5, 2, IN_ONE_HOST), *facts).answer is Answer.COULD

    def test_hosts_that_the_pods_do_not_select_do_not_count(self) -> None:
        large = builders.node("large", gpus=64, labels={RACK: "a", "size": "large", **POOL})
        value = builders.replaced(job(5, 2, IN_ONE_HOST), "/spec/template/spec/nodeSelector", {"size": "small"})

        assert judged(value, *WORLD, large).answer is Answer.NEVER
        assert judged(job(5, 2, IN_ONE_HOST), *WORLD, large).answer is Answer.COULD

    def test_without_hosts_the_nodes_of_a_domain_are_counted_as_one(self) -> None:
        """Two hosts hold one pod of 5 GPUs each, and a rack of 16 GPUs three of them."""
        racks = (*WORLD[:2], topology("racks", RACK))

        assert judged(job(3, 5, IN_ONE_RACK), *WORLD, *NODES).answer is Answer.NEVER
        assert judged(job(3, 5, IN_ONE_RACK), *racks, *NODES).answer is Answer.COULD
        assert judged(job(4, 5, IN_ONE_RACK), *racks, *NODES).answer is Answer.NEVER


@pytest.mark.parametrize("levels", [(RACK, HOST, HOST), (*(f"level-{index}" for index in range(2000)), HOST), ()])
def test_levels_that_kueue_refuses_decide_nothing(levels: tuple[str, ...]) -> None:
    labels = {**dict.fromkeys(levels, "a"), **POOL}
    large = builders.node("a-0", gpus=8, labels=labels)

    assert judged(job(5, 2), QUEUE, FLAVOR, topology("racks", *levels), large).answer is Answer.COULD


class TestWhatMayChangeTheAnswer:
    VALUE = job(5, 2, IN_ONE_HOST)

    def test_nodes_that_are_not_known(self) -> None:
        assert judged(self.VALUE, *WORLD).answer is Answer.COULD

    def test_a_node_that_cannot_be_read(self) -> None:
        broken = builders.replaced(NODES[0], "/status/allocatable", {"cpu": "many"})

        verdict = judged(self.VALUE, *WORLD, broken, NODES[1])

        assert verdict.answer is Answer.UNKNOWN
        assert verdict.unknowns[0].startswith("Node a-0 cannot be read: ")

    def test_nodes_that_an_autoscaler_may_add(self) -> None:
        def scaling(gpus: int) -> paths.Object:
            return {
                "name": "spare",
                "nodeSelector": {"pool": "a100", "spare": "true"},
                "resources": [GPU],
                "scalesFromZero": True,
                "allocatable": {GPU: str(gpus)},
            }

        assert judged(self.VALUE, *WORLD, *NODES, pools=[scaling(8)]).answer is Answer.NEVER
        verdict = judged(self.VALUE, *WORLD, *NODES, pools=[scaling(16)])
        assert verdict.unknowns == (
            "the nodes of flavor a100 hold too few of the pods, but pool spare may get more nodes",
        )
        in_racks = job(9, 2, IN_ONE_RACK)
        assert judged(in_racks, *WORLD, *NODES, pools=[scaling(2)]).answer is Answer.UNKNOWN

    @pytest.mark.parametrize("field", ["admissionChecks", "admissionChecksStrategy"])
    def test_admission_checks_which_may_make_nodes(self, field: str) -> None:
        """KQ:pkg/scheduler/flavorassigner/tas_flavorassigner.go:105 delays the placement."""
        checks: paths.Json = ["provision"] if field == "admissionChecks" else {"admissionChecks": [{"name": "a"}]}
        queue = builders.replaced(QUEUE, f"/spec/{field}", checks)

        assert judged(self.VALUE, queue, *WORLD[1:], *NODES).answer is Answer.COULD

    def test_a_kueue_that_does_not_place_pods_by_topology(self) -> None:
        off = configuration("featureGates: {TopologyAwareScheduling: false}")

        assert judged(self.VALUE, *WORLD, *NODES, off).answer is Answer.COULD

    def test_another_flavor_whose_nodes_hold_them(self) -> None:
        """Kueue may try the first flavor, and look at the second one only later."""
        queue = cluster_queue("research", group(("a100", [quota(99)]), ("h100", [quota(99)])))
        other = flavor("h100", labels={"pool": "h100"}, topologyName="racks")
        large = builders.node("large", gpus=16, labels={RACK: "a", "pool": "h100"})

        verdict = judged(self.VALUE, queue, FLAVOR, other, WORLD[2], *NODES, large)

        assert (verdict.answer, verdict.takes_all) == (Answer.COULD, False)

    def test_resources_that_device_classes_serve(self) -> None:
        device_class: paths.Object = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": "gpu"},
            "spec": {"extendedResourceName": GPU},
        }

        assert judged(self.VALUE, *WORLD, *NODES, device_class).answer is Answer.COULD


RACKS = st.lists(st.lists(st.integers(0, 8), min_size=1, max_size=4), min_size=1, max_size=4)
"""The GPUs of each host, by rack."""


def _most(racks: Sequence[Sequence[int]], gpus: int, size: int, *, level: str) -> int:
    """The most pods in slices of one host that one domain of a level holds, counted host by host."""
    hosts = [[amount // gpus // size * size for amount in rack] for rack in racks]
    match level:
        case "host":
            return max(each for rack in hosts for each in rack)
        case "rack":
            return max(map(sum, hosts))
    return sum(map(sum, hosts))


@given(RACKS, st.integers(1, 4), st.integers(1, 3), st.integers(1, 12), st.sampled_from(["host", "rack", ""]))
def test_never_is_said_exactly_where_no_domain_holds_the_pods(
    racks: list[list[int]], gpus: int, size: int, slices: int, level: str
) -> None:
    """The suggestion holds: with as many pods as usher names, the answer is not never."""
    nodes = [
        node(f"{row}-{index}", str(row), gpus) for row, rack in enumerate(racks) for index, gpus in enumerate(rack)
    ]
    required = {"host": IN_ONE_HOST, "rack": IN_ONE_RACK, "": {}}[level]
    sliced = {PODSET + "slice-required-topology": HOST, PODSET + "slice-size": str(size)}

    verdict = judged(job(slices * size, gpus, {**required, **sliced}), *WORLD, *nodes)

    most = _most(racks, gpus, size, level=level)
    assert (verdict.answer is Answer.NEVER) == (slices * size > most)
    for _, held in told(verdict):
        assert held == most
        if held:
            fewer = judged(job(held, gpus, {**required, **sliced}), *WORLD, *nodes)
            assert fewer.answer is Answer.COULD


def test_one_count_of_the_nodes_serves_every_number_of_pods_and_every_flavor_of_the_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = []
    count = kueue_topology._most_slices

    def counting(*arguments: Any) -> int:
        counts.append(arguments)
        return count(*arguments)

    monkeypatch.setattr(kueue_topology, "_most_slices", counting)
    known = knowing(Store.of([*WORLD, flavor("other", labels=POOL, topologyName="racks"), *NODES]), models.Config())
    queue = cluster_queue("both", group(("a100", [quota(1000)]), ("other", [quota(1000)])))
    seen = kueue_judge.for_namespace("research", known)
    for pods in (2, 4, 5):
        (demand,) = kueue_demand.demands(workload(job(pods, 2, IN_ONE_HOST)), seen.configuration, seen.additions)
        kueue_judge.judge(demand, kueue_queues.cluster_queue("both", queue), seen.cluster, seen.configuration)

    assert len(counts) == 1
