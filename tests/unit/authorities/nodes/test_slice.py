"""Policies see only what keeps pods off all nodes, and nothing that other checks report."""

from collections.abc import Sequence
from typing import Any

import pytest

import builders
from builders import toleration
from unit.authorities.knowing import case, knowing
from usher import paths, quantities
from usher.authorities.nodes import present as nodes_present
from usher.authorities.nodes.present import NodesInput
from usher.cluster.facts.store import Store
from usher.config import models
from usher.config import pools as config_pools
from usher.model.placement import Requirement

GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"
GPU_NODE = builders.node("gpu-0", gpus=8, labels={"pool": "h100", "zone": "a"}, taints=[GPU_TAINT])
POOL = config_pools.Pool(
    name="h100", node_selector={"pool": "h100"}, taints=[config_pools.Taint(key="nvidia.com/gpu", value="present")]
)


def of(value: paths.Object, *facts: paths.Object, pools: Sequence[config_pools.Pool] = ()) -> NodesInput | None:
    return nodes_present.input_slice(case(value), knowing(Store.of(facts), models.Config(pools=list(pools))))


def gpu_pod(gpus: int = 1, **spec: Any) -> paths.Object:
    return builders.pod(builders.container(gpus=gpus), **spec)


def verdict(found: NodesInput | None, path: str = "") -> str:
    assert found is not None
    return found["pods"][path]["verdict"]


def obstacles(found: NodesInput | None) -> dict[str, Any]:
    assert found is not None
    return dict(found["pods"][""]["nearest"])


def test_pods_that_fit_have_no_slice() -> None:
    assert of(gpu_pod(8), GPU_NODE) is None


def test_without_facts_about_nodes_the_slice_is_empty() -> None:
    assert of(gpu_pod(16)) is None


def test_workloads_without_accelerators_have_no_slice() -> None:
    assert of(builders.pod(builders.container(limits={"cpu": "200"})), GPU_NODE) is None


def test_a_shortage_names_its_place_in_the_manifest() -> None:
    assert of(gpu_pod(16), GPU_NODE, pools=[POOL]) == {
        "pods": {
            "": {
                "verdict": "never",
                "declared": True,
                "nearest": {
                    "place": "pool h100",
                    "shortages": [
                        {
                            "resource": "nvidia.com/gpu",
                            "asked": "16",
                            "most": "8",
                            "path": "/spec/containers/0/resources/limits/nvidia.com~1gpu",
                        }
                    ],
                    "taints": [],
                    "labels": [],
                    "nowhere": False,
                },
            }
        }
    }


def test_a_sum_over_containers_stands_nowhere() -> None:
    pod = builders.pod(builders.container(gpus=8), builders.container("other", gpus=8))

    assert "path" not in obstacles(of(pod, GPU_NODE))["shortages"][0]


@pytest.mark.parametrize("pools", [[], [POOL]], ids=["usual taints", "declared taints"])
def test_a_toleration_that_another_check_asks_for_is_not_told_again(pools: list[config_pools.Pool]) -> None:
    assert of(gpu_pod(8), GPU_NODE, pools=pools) is None
    assert obstacles(of(gpu_pod(9), GPU_NODE, pools=pools))["taints"] == []


def test_an_undeclared_taint_is_an_obstacle() -> None:
    node = builders.node("gpu-0", gpus=8, labels={"pool": "h100"}, taints=[GPU_TAINT, "team=a:NoSchedule"])

    assert obstacles(of(gpu_pod(8), node, pools=[POOL]))["taints"] == ["team=a:NoSchedule"]


def test_a_pod_that_runs_has_found_its_node() -> None:
    """One that the cluster knows and that waits has not."""
    waiting: paths.Object = {**gpu_pod(16), "status": {"conditions": [{"type": "PodScheduled", "status": "False"}]}}
    running = builders.replaced(waiting, "/spec/nodeName", "gpu-0")

    assert of(running, GPU_NODE) is None
    assert verdict(of(waiting, GPU_NODE)) == "never"


def test_a_missing_label_comes_with_the_existing_values() -> None:
    found = of(gpu_pod(nodeSelector={"zone": "c"}), GPU_NODE, builders.node("cpu-0", labels={"zone": "b"}))

    assert obstacles(found)["labels"] == [{"wants": "zone=c", "there": ["a", "b"], "elsewhere": False}]


def test_a_label_of_other_nodes_is_marked_elsewhere() -> None:
    found = of(gpu_pod(nodeSelector={"zone": "b"}), GPU_NODE, builders.node("cpu-0", labels={"zone": "b"}))

    assert obstacles(found)["labels"] == [{"wants": "zone=b", "there": ["a", "b"], "elsewhere": True}]


TOLERATIONS: list[paths.Json] = [toleration("team", value="a", effect="NoSchedule")]


class TestTolerationsThatOthersGive:
    NODE = builders.node("gpu-0", gpus=8, taints=["team=a:NoSchedule"])

    def test_come_with_a_flavor_where_kueue_finds_one(self) -> None:
        flavor = builders.custom("kueue.x-k8s.io/v1beta1", "ResourceFlavor", {"tolerations": TOLERATIONS}, name="f")
        template = builders.template(builders.container(gpus=8))
        queued = builders.job(template, labels={"kueue.x-k8s.io/queue-name": "research"})

        assert of(queued, self.NODE, flavor) is None
        assert verdict(of(builders.job(template), self.NODE, flavor), "/spec/template") == "never"

    def test_come_with_a_runtime_class(self) -> None:
        runtime: paths.Object = {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": "nvidia"},
            "scheduling": {"tolerations": TOLERATIONS},
        }

        assert of(gpu_pod(runtimeClassName="nvidia"), self.NODE, runtime) is None
        assert verdict(of(gpu_pod(runtimeClassName="other"), self.NODE, runtime)) == "never"

    @pytest.mark.parametrize("scheduling", [None, [], {"tolerations": 1}, {"tolerations": ["x"]}])
    def test_do_not_count_if_they_cannot_be_read(self, scheduling: Any) -> None:
        runtime: paths.Object = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"}}

        found = of(gpu_pod(runtimeClassName="nvidia"), self.NODE, {**runtime, "scheduling": scheduling})
        assert verdict(found) == "never"


def test_a_resource_that_a_device_class_serves_is_unknown_where_no_node_has_it() -> None:
    spec: paths.Object = {"extendedResourceName": "nvidia.com/gpu"}
    device_class = builders.custom("resource.k8s.io/v1", "DeviceClass", spec, name="gpu.nvidia.com", namespace=None)

    found = of(gpu_pod(), builders.node("cpu-0"), device_class)
    assert verdict(found) == "unknown"


def test_a_gang_that_does_not_fit_learns_how_many_of_its_pods_could_run() -> None:
    template = builders.template(
        builders.container(gpus=8), tolerations=[toleration("nvidia.com/gpu", operator="Exists")]
    )

    expected: NodesInput = {"pods": {}, "gang": {"wanted": 3, "most": 1, "sure": False}}
    assert of(builders.pytorch_job(template, workers=3), GPU_NODE) == expected
    assert of(builders.pytorch_job(template, workers=1), GPU_NODE) is None


def test_answers_follow_the_current_nodes() -> None:
    known, pod = knowing(Store.of([GPU_NODE])), case(gpu_pod(16))
    assert verdict(nodes_present.input_slice(pod, known)) == "never"

    known.facts.put(builders.node("gpu-1", gpus=16))
    assert nodes_present.input_slice(pod, known) is None


@pytest.mark.parametrize(
    ("resource", "number", "asked", "there"),
    [
        ("cpu", 3500, "3500m", "3500m"),
        ("cpu", 96_000, "96", "96"),
        ("nvidia.com/gpu", 8, "8", "8"),
        ("memory", 2**40, "1024Gi", "1024Gi"),
        ("memory", 2**40 + 1, "1024.1Gi", "1024Gi"),
        ("memory", 2**29, "512Mi", "512Mi"),
        ("memory", 1000, "1000", "1000"),
        ("hugepages-2Mi", 2**21, "2Mi", "2Mi"),
    ],
)
def test_amounts_are_rounded_so_that_an_excess_never_looks_equal(
    resource: str, number: int, asked: str, there: str
) -> None:
    assert quantities.amount(resource, number, up=True) == asked
    assert quantities.amount(resource, number, up=False) == there


@pytest.mark.parametrize(
    ("operator", "values", "text"),
    [
        ("In", ("a",), "zone=a"),
        ("In", ("a", "b"), "zone in (a, b)"),
        ("NotIn", tuple("abcdefg"), "zone not in (a, b, c, d, e, ...)"),
        ("Gt", ("3",), "zone > 3"),
        ("Exists", (), "zone Exists"),
    ],
)
def test_requirements_are_shown_as_people_write_them(operator: str, values: tuple[str, ...], text: str) -> None:
    assert nodes_present.requirement_text(Requirement(key="zone", operator=operator, values=values)) == text


SELECTS: dict[str, Any] = {"nodeSelector": {"node-role.kubernetes.io/control-plane": ""}}


def controller(kind: str = "Deployment", **spec: Any) -> paths.Object:
    pod: dict[str, Any] = {"containers": [{"name": "manager"}], **spec}
    template: paths.Object = {"metadata": {"labels": {"app": "operator"}}, "spec": pod}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "operator", "namespace": "gpu"},
        "spec": {"selector": {"matchLabels": {"app": "operator"}}, "template": template},
    }


def test_ordinary_pods_that_select_a_label_of_no_node_fit_no_node() -> None:
    path = "/spec/template"
    assert verdict(of(controller(**SELECTS), GPU_NODE), path) == "never"
    assert of(controller(nodeSelector={"zone": "a"}), GPU_NODE) is None


def test_taints_and_amounts_are_not_compared_for_ordinary_pods() -> None:
    large = controller(nodeSelector={"zone": "a"}, resources={"requests": {"cpu": "9999"}})
    assert of(large, GPU_NODE) is None


def test_taints_of_all_selected_nodes_keep_ordinary_pods_off_beside_other_nodes() -> None:
    selecting = controller(nodeSelector={"zone": "a"})
    tolerating = controller(nodeSelector={"zone": "a"}, tolerations=[{"operator": "Exists"}])

    assert verdict(of(selecting, GPU_NODE, builders.node("cpu")), "/spec/template") == "never"
    assert of(tolerating, GPU_NODE, builders.node("cpu")) is None


def test_a_daemon_set_and_a_pod_may_select_what_no_node_has() -> None:
    assert of(controller("DaemonSet", **SELECTS), GPU_NODE) is None
    assert of(builders.pod(builders.container(), **SELECTS), GPU_NODE) is None


def _replicas(count: int, node_selector: dict[str, str] | None = None, **spec: Any) -> paths.Object:
    pod = builders.pod(builders.container(gpus=1), nodeSelector=node_selector or {}, **spec)
    template: paths.Object = {"metadata": {"labels": {"app": "llm"}}, "spec": pod["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "llm", "namespace": "ns"},
        "spec": {
            "replicas": count,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": {"app": "llm"}},
            "template": template,
        },
    }


def _spread(**rule: Any) -> dict[str, Any]:
    own = {"labelSelector": {"matchLabels": {"app": "llm"}}, "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}
    return {"topologySpreadConstraints": [{"topologyKey": "zone", **own, **rule}]}


def _apart(value: paths.Object, *facts: paths.Object) -> list[tuple[int, list[str]]]:
    found = of(value, *facts)
    return [(each["most"], each["empty"]) for each in (found.get("apart", []) if found is not None else [])]


_ZONES = (
    builders.node("a", gpus=8, labels={"zone": "a", "sort": "gpu"}),
    builders.node("b", gpus=8, labels={"zone": "b", "sort": "gpu"}),
    builders.node("c", labels={"zone": "c"}, taints=["control-plane:NoSchedule"]),
)


def test_values_that_hold_no_pod_count_as_empty_in_a_spread_constraint() -> None:
    assert _apart(_replicas(3, **_spread()), *_ZONES) == [(2, ["c"])]
    assert _apart(_replicas(3, **_spread(maxSkew=2)), *_ZONES) == []
    assert _apart(_replicas(3, {"sort": "gpu"}, **_spread()), *_ZONES) == []


@pytest.mark.parametrize(
    "rule",
    [
        {"nodeTaintsPolicy": "Honor"},
        {"nodeAffinityPolicy": "Ignore"},
        {"whenUnsatisfiable": "ScheduleAnyway"},
        {"labelSelector": {"matchLabels": {"app": "other"}}},
        {"labelSelector": None},
        {"matchLabelKeys": ["group"]},
    ],
)
def test_a_spread_constraint_that_lets_the_pods_start_says_nothing(rule: dict[str, Any]) -> None:
    assert _apart(_replicas(3, **_spread(**rule)), *_ZONES) == []


def _anti_affinity(key: str = "kubernetes.io/hostname", **term: Any) -> dict[str, Any]:
    own = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "llm"}}}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{**own, **term}]}}}


def test_pods_that_keep_apart_by_host_name_need_as_many_nodes() -> None:
    assert _apart(_replicas(3, **_anti_affinity()), *_ZONES) == [(2, [])]
    assert _apart(_replicas(2, **_anti_affinity()), *_ZONES) == []


def test_pods_are_not_kept_apart_on_nodes_without_the_label_nor_from_other_pods() -> None:
    assert _apart(_replicas(3, **_anti_affinity("rack")), *_ZONES) == []
    assert _apart(_replicas(3, **_anti_affinity(namespaces=["other"])), *_ZONES) == []
    assert _apart(_replicas(3, **_anti_affinity(mismatchLabelKeys=["group"])), *_ZONES) == []
    assert _apart(_replicas(3, **_anti_affinity(labelSelector={"matchLabels": {"app": "other"}})), *_ZONES) == []


def test_a_pool_that_grows_may_add_nodes_for_pods_that_keep_apart() -> None:
    pool = config_pools.Pool(name="gpu", node_selector={"sort": "gpu"}, scales_from_zero=True)
    found = nodes_present.input_slice(
        case(_replicas(3, **_anti_affinity())), knowing(Store.of(_ZONES), models.Config(pools=[pool]))
    )
    assert found is None or "apart" not in found
