"""Whether any node could ever hold a pod, and what is missing where the least is."""

from fractions import Fraction
from typing import Any

import pytest
from msgspec.structs import replace

import builders
from builders import expression, node_affinity, term
from unit.authorities.clusters import cluster, demand, judge
from unit.authorities.nodes.judging import CPU_NODE, GPU_NODE, GPU_TAINT, H100, gpu_pod, obstacles, place
from usher import paths
from usher.authorities.nodes import judge as nodes_judge
from usher.authorities.nodes.judge import NodeVerdict, NodeVerdicts
from usher.authorities.nodes.places import MissingAmount, Obstacles
from usher.authorities.verdict import Answer
from usher.cluster.facts.nodes import Taint
from usher.config import pools
from usher.model.placement import Requirement


def asking(**limits: Any) -> paths.Object:
    return builders.pod(builders.container(limits={name.replace("_", "-"): text for name, text in limits.items()}))


def test_a_pod_fits_a_node_that_has_all_it_asks_for() -> None:
    assert judge(gpu_pod(8), GPU_NODE, CPU_NODE) == NodeVerdict(answer=Answer.COULD)


def test_more_of_a_resource_than_any_node_has_never_fits() -> None:
    found = judge(gpu_pod(16), GPU_NODE, CPU_NODE)

    assert place(found) == "nodes like gpu-0"
    assert obstacles(found) == Obstacles(amounts=(MissingAmount(resource="nvidia.com/gpu", asked=16, most=8),))


@pytest.mark.parametrize(
    ("asked", "there", "instead"),
    [
        ("gpu.intel.com/i915", {"gpu.intel.com/xe": "1", "gpu.intel.com/xe_monitoring": "1"}, "gpu.intel.com/xe"),
        ("nvidia.com/gpu", {"nvidia.com/gpu.shared": "4", "nvidia.com/mig-1g.10gb": "0"}, "nvidia.com/gpu.shared"),
        ("nvidia.com/mig-1g.10gb", {"nvidia.com/gpu": "8"}, ""),
        (
            "nvidia.com/mig-1g.5gb",
            {"nvidia.com/mig-1g.10gb": "7", "nvidia.com/mig-2g.20gb": "1"},
            "nvidia.com/mig-1g.10gb",
        ),
        ("example.com/fpga", {"nvidia.com/gpu": "8"}, ""),
    ],
)
def test_devices_of_the_same_vendor_are_named_in_place_of_a_missing_one(
    asked: str, there: dict[str, str], instead: str
) -> None:
    node = builders.replaced(GPU_NODE, "/status/allocatable", {"cpu": "8", "memory": "64Gi", "pods": "110", **there})
    found = judge(builders.pod(builders.container(limits={asked: "1"}), tolerations=[{"operator": "Exists"}]), node)

    assert [each.instead for each in obstacles(found).amounts] == [instead]


def test_a_class_of_a_declared_pool_is_called_by_its_name() -> None:
    assert place(judge(gpu_pod(16), GPU_NODE, CPU_NODE, pools=[H100])) == "pool h100"


@pytest.mark.parametrize(
    ("pod", "resource"),
    [
        (asking(cpu="97"), "cpu"),
        (asking(memory="1025Gi"), "memory"),
        (asking(ephemeral_storage="3Ti"), "ephemeral-storage"),
        (asking(hugepages_2Mi="2Mi"), "hugepages-2Mi"),
        (builders.pod(builders.container(limits={"rdma/ib": 1})), "rdma/ib"),
    ],
)
def test_every_resource_counts(pod: paths.Object, resource: str) -> None:
    assert [each.resource for each in obstacles(judge(pod, CPU_NODE)).amounts] == [resource]


def test_init_containers_sidecars_and_overhead_count_as_the_scheduler_counts_them() -> None:
    containers = [builders.container(gpus=6)]
    peak = builders.pod(*containers, initContainers=[builders.sidecar(gpus=2), builders.container("load", gpus=7)])

    assert [each.asked for each in obstacles(judge(peak, builders.node(gpus=8))).amounts] == [9]


def test_resources_of_several_nodes_are_not_added_together() -> None:
    """One node has the cpus and another the memory."""
    wide = builders.node("wide", allocatable={"cpu": "200", "memory": "16Gi"})
    deep = builders.node("deep", allocatable={"cpu": "8", "memory": "2Ti"})

    assert judge(asking(cpu="100", memory="64Gi"), wide, deep).answer is Answer.NEVER


def test_nor_are_those_of_several_nodes_of_one_class() -> None:
    one = builders.node("one", allocatable={"memory": 2**40 + 1, "ephemeral-storage": 2**41 + 2})
    other = builders.node("other", allocatable={"memory": 2**40 + 2, "ephemeral-storage": 2**41 + 1})
    both = asking(memory=str(2**40 + 2), ephemeral_storage=str(2**41 + 2))

    assert len(cluster(one, other).nodes.classes) == 1
    assert [each.resource for each in obstacles(judge(both, one, other)).amounts] == ["ephemeral-storage"]
    assert judge(asking(memory=str(2**40 + 2), ephemeral_storage=str(2**41 + 1)), one, other).answer is Answer.COULD


def test_a_taint_that_is_not_tolerated_keeps_the_pod_off() -> None:
    found = judge(gpu_pod(tolerations=[]), GPU_NODE, CPU_NODE)

    assert place(found) == "nodes like gpu-0", "a node without GPUs is farther away than one with a taint"
    assert [str(taint) for taint in obstacles(found).taints] == [GPU_TAINT]
    assert obstacles(found).amounts == ()


@pytest.mark.parametrize(
    "spec",
    [{"taints": ["node.kubernetes.io/not-ready:NoSchedule"]}, {"unschedulable": True}],
)
def test_the_state_of_the_moment_decides_nothing(spec: Any) -> None:
    assert judge(builders.pod(), builders.node(**spec)).answer is Answer.COULD


def test_a_label_value_that_no_node_has_never_fits() -> None:
    found = judge(gpu_pod(nodeSelector={"nvidia.com/gpu.product": "H100"}), GPU_NODE, CPU_NODE)

    (missing,) = obstacles(found).labels
    assert (missing.key, missing.operator, missing.values) == ("nvidia.com/gpu.product", "In", ("H100",))


def test_the_verdict_names_the_alternative_that_lacks_the_fewest_labels() -> None:
    affinity = node_affinity(
        term(expression("a", "In", "1"), expression("b", "In", "2")), term(expression("zone", "In", "x"))
    )

    (missing,) = obstacles(judge(builders.pod(affinity=affinity), CPU_NODE)).labels
    assert missing.key == "zone"


@pytest.mark.parametrize("terms", [[term()], [term(expression("a", "In"))], []], ids=["empty", "no values", "no terms"])
def test_affinity_that_matches_no_node_fits_nowhere(terms: list[paths.Object]) -> None:
    assert obstacles(judge(builders.pod(affinity=node_affinity(*terms)), CPU_NODE)).nowhere


HOSTS = [builders.node(f"n-{index}", labels={"zone": f"z{index % 2}"}) for index in range(6)]


@pytest.mark.parametrize(
    ("requirements", "fits"),
    [
        ([expression("kubernetes.io/hostname", "In", "n-1")], True),
        ([expression("kubernetes.io/hostname", "In", "n-1"), expression("zone", "In", "z0")], False),
        ([expression("kubernetes.io/hostname", "In", "n-7")], False),
        ([expression("kubernetes.io/hostname", "NotIn", "n-0", "n-2"), expression("zone", "In", "z0")], True),
        ([expression("kubernetes.io/hostname", "NotIn", "n-0", "n-2", "n-4"), expression("zone", "In", "z0")], False),
        ([expression("kubernetes.io/hostname", "Exists")], True),
        ([expression("kubernetes.io/hostname", "DoesNotExist")], False),
        ([expression("kubernetes.io/hostname", "Gt", "1")], False),
    ],
)
def test_selecting_by_the_name_of_a_host_is_exact(requirements: list[paths.Object], fits: bool) -> None:
    found = judge(builders.pod(affinity=node_affinity(term(*requirements))), *HOSTS)

    assert found.answer is (Answer.COULD if fits else Answer.NEVER)


@pytest.mark.parametrize(("name", "fits"), [("n-3", True), ("n-9", False)])
def test_so_is_selecting_by_the_field(name: str, fits: bool) -> None:
    affinity = node_affinity(term(fields=[expression("metadata.name", "In", name)]))

    found = judge(builders.pod(affinity=affinity), *HOSTS)
    assert found.answer is (Answer.COULD if fits else Answer.NEVER)
    if not fits:
        assert [each.values for each in obstacles(found).names] == [("n-9",)]


class TestAPodThatNamesItsNode:
    def test_fits_where_no_scheduler_looks_at_taints(self) -> None:
        assert judge(gpu_pod(tolerations=[], nodeName="gpu-0"), GPU_NODE).answer is Answer.COULD

    def test_is_evicted_by_a_taint_all_the_same(self) -> None:
        node = builders.node("gpu-0", gpus=8, taints=["dedicated=a:NoExecute"])

        assert [each.key for each in obstacles(judge(gpu_pod(nodeName="gpu-0"), node)).taints] == ["dedicated"]

    def test_finds_what_that_node_has_and_no_other(self) -> None:
        found = judge(gpu_pod(nodeName="cpu-0"), GPU_NODE, CPU_NODE)

        assert place(found) == "node cpu-0"
        assert obstacles(found).amounts == (MissingAmount(resource="nvidia.com/gpu", asked=1, most=0),)

    def test_never_starts_if_the_node_does_not_exist(self) -> None:
        found = judge(builders.pod(nodeName="gone"), CPU_NODE)

        assert place(found) == ""
        assert [each.values for each in obstacles(found).names] == [("gone",)]

    def test_must_select_that_node(self) -> None:
        found = judge(builders.pod(nodeName="cpu-0", nodeSelector={"kubernetes.io/hostname": "gpu-0"}), CPU_NODE)

        assert [each.key for each in obstacles(found).labels] == ["kubernetes.io/hostname"]

    def test_must_be_meant_for_it_by_its_affinity(self) -> None:
        elsewhere = node_affinity(term(fields=[expression("metadata.name", "In", "gpu-0")]))

        assert obstacles(judge(builders.pod(nodeName="cpu-0", affinity=elsewhere), CPU_NODE)).nowhere


def test_a_node_that_cannot_be_read_might_do() -> None:
    broken = builders.replaced(builders.node("broken"), "/status/allocatable/cpu", "many")

    found = judge(gpu_pod(), CPU_NODE, broken)
    assert found.answer is Answer.UNKNOWN
    assert found.reason.startswith("Node broken cannot be read: cpu in status.allocatable")
    assert judge(builders.pod(), CPU_NODE, broken).answer is Answer.COULD
    assert judge(builders.pod(nodeName="broken"), CPU_NODE, broken).answer is Answer.UNKNOWN
    ill = builders.replaced(builders.node("an-ill-one"), "/status/allocatable/cpu", "many")
    assert judge(builders.pod(nodeName="broken"), broken, ill).reason.startswith("Node broken cannot be read")
    either = judge(gpu_pod(), broken, ill).reason
    assert either.startswith("Node an-ill-one cannot be read")
    assert either.endswith("; nor can 1 more")


def test_a_cluster_without_nodes_holds_nothing() -> None:
    assert obstacles(judge(builders.pod())) == Obstacles()


def test_more_terms_than_anybody_means_are_not_looked_through() -> None:
    affinity = node_affinity(*(term(expression("a", "In", str(index))) for index in range(100)))

    assert judge(builders.pod(affinity=affinity), CPU_NODE).answer is Answer.UNKNOWN
    values = node_affinity(term(expression("a", "In", *map(str, range(5000)))))
    assert judge(builders.pod(affinity=values), CPU_NODE).answer is Answer.UNKNOWN


def test_more_gpus_than_a_numa_node_has_are_refused_by_kubelets_that_want_one() -> None:
    pool = H100.model_copy(update={"gpu": pools.Gpus(per_node=8, per_numa_node=4)})

    found = judge(gpu_pod(8), GPU_NODE, pools=[pool])
    assert found.answer is Answer.COULD
    assert found.crowded is not None
    assert found.crowded.name == "pool h100"
    assert judge(gpu_pod(4), GPU_NODE, pools=[pool]).crowded is None
    loose = builders.node("other", gpus=8)
    assert judge(gpu_pod(8), GPU_NODE, loose, pools=[pool]).crowded is None
    named = judge(gpu_pod(8, nodeName="gpu-0"), CPU_NODE, GPU_NODE, pools=[pool]).crowded
    assert named is not None
    unborn = pools.Pool(name="unborn", node_selector={"pool": "unborn"}, allocatable={"nvidia.com/gpu": "8"})
    scaling = pool.model_copy(update={"scales_from_zero": True})
    beside = judge(gpu_pod(8), CPU_NODE, pools=[unborn, scaling])
    assert beside.crowded is not None
    assert beside.crowded.name == "pool h100"


def test_the_verdict_names_what_hosts_lack_for_the_alternative_that_their_class_meets() -> None:
    affinity = node_affinity(
        term(expression("zone", "In", "z9")),
        term(expression("zone", "In", "z0"), expression("kubernetes.io/hostname", "DoesNotExist")),
    )

    (missing,) = obstacles(judge(builders.pod(affinity=affinity), HOSTS[0])).labels
    assert missing.key == "kubernetes.io/hostname"


def test_the_verdict_names_the_alternative_that_hosts_come_closest_to() -> None:
    hostname = expression("kubernetes.io/hostname", "DoesNotExist")
    affinity = node_affinity(
        term(hostname, expression("kubernetes.io/hostname", "In", "n-9")),
        term(hostname, fields=[expression("metadata.name", "In", "n-8"), expression("metadata.name", "NotIn", "n-7")]),
        term(fields=[expression("metadata.name", "In", "n-9")]),
    )

    found = obstacles(judge(builders.pod(affinity=affinity), HOSTS[0]))
    assert (found.labels, [each.values for each in found.names]) == ((), [("n-9",)])


BY_ZONE = Requirement(key="zone", operator="In", values=("a",))


@pytest.mark.parametrize("kind", ["taints", "labels", "names", "amounts"])
def test_each_obstacle_more_makes_a_place_farther_away(kind: str) -> None:
    one: Any = {
        "taints": Taint("dedicated", "a", "NoSchedule"),
        "labels": BY_ZONE,
        "names": Requirement(key="metadata.name", operator="In", values=("a",)),
        "amounts": MissingAmount(resource="cpu", asked=4, most=2),
    }[kind]
    several = [replace(Obstacles(), **{kind: (one,) * number}).weight for number in range(3)]  # type: ignore[arg-type]  # each field is a tuple

    assert several == sorted(set(several))
    assert [kinds for kinds, _ in several] == [0, 1, 1]
    assert Obstacles(nowhere=True).weight == Obstacles(labels=(BY_ZONE,)).weight


def test_the_more_of_a_resource_is_there_the_nearer_is_a_place() -> None:
    weights = [Obstacles(amounts=(MissingAmount(resource="cpu", asked=8, most=most),)).weight for most in (6, 2, 0)]

    assert weights == [(1, Fraction(1, 4)), (1, Fraction(3, 4)), (2, 2)]


def test_a_tainted_node_with_too_few_devices_is_nearer_than_one_without_any() -> None:
    few = MissingAmount(resource="google.com/tpu", asked=8, most=4)
    tainted = Obstacles(amounts=(few,), taints=(Taint("google.com/tpu", "present", "NoSchedule"),))

    assert tainted.weight < Obstacles(amounts=(replace(few, most=0),)).weight


def test_the_nodes_of_equal_pods_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = NodeVerdicts(cluster(GPU_NODE, CPU_NODE))
    small, large = (gpu_pod(gpus) for gpus in (8, 16))

    found = [[each.name for each in verdicts.holding(demand(pod))] for pod in (small, large)]
    monkeypatch.setattr(nodes_judge, "could_hold", None)

    assert found == [["nodes like gpu-0"], []]
    assert [[each.name for each in verdicts.holding(demand(pod))] for pod in (small, large)] == found
