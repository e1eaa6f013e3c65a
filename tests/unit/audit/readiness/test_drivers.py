"""The checklist: drivers and their software, and metrics of GPUs."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from builders import custom, replaced
from builders.checklists import checklist, definitions
from builders.estates import devices, estate, gpu_node
from usher import paths
from usher.audit.document import ReadinessItem, Standing
from usher.audit.gather.estate import Estate
from usher.audit.gather.needed_inputs import CLUSTER_POLICY, DAEMON_SET, POD_MONITOR, SERVICE, SERVICE_MONITOR
from usher.audit.readiness.checklist import ESCAPES, read_version
from usher.check.devices import Amount, Devices
from usher.kinds.kind import DEFINITION
from usher.policy.checks import catalogue

CATALOGUE = Path(__file__).parents[4] / "policies" / "catalogue.json"

MONITORS = [SERVICE_MONITOR.key, POD_MONITOR.key, SERVICE.key, CLUSTER_POLICY.key]


def policy(*, state: str = "ready", **spec: Any) -> paths.Object:
    value = custom("nvidia.com/v1", "ClusterPolicy", spec, name="cluster-policy", namespace=None)
    return {**value, "status": {"state": state}}


def daemon(image: str, *, ready: int = 2, wanted: int = 2, name: str = "stack") -> paths.Object:
    spec: paths.Object = {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}
    value = custom("apps/v1", "DaemonSet", spec, name=name, namespace="gpu-operator")
    return {**value, "status": {"numberReady": ready, "desiredNumberScheduled": wanted}}


def nvidia(*objects: paths.Object, **fields: Any) -> Estate:
    return estate(nodes=[gpu_node()], objects=objects, **fields)


def eight(name: str) -> Devices:
    return {name: Amount(number=8)}


def told(item: ReadinessItem) -> tuple[Standing, tuple[str, ...]]:
    return item.standing, item.evidence


def test_an_operator_that_is_ready_passes_with_all_its_texts() -> None:
    assert checklist(nvidia(policy()))["gpu-operator"] == ReadinessItem(
        id="gpu-operator",
        area="drivers",
        title="NVIDIA's GPU operator is ready",
        standing=Standing.PASS,
        evidence=("ClusterPolicy cluster-policy is ready",),
        reference="https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/getting-started.html",
        conformance="driver_runtime_management",
    )


def test_an_operator_that_is_not_ready_fails_with_a_remedy() -> None:
    found = checklist(nvidia(policy(state="notReady")))["gpu-operator"]

    assert told(found) == (Standing.FAIL, ("ClusterPolicy cluster-policy is notReady",))
    assert found.remedy == "Read the pods of the operator: kubectl get pods -n gpu-operator"


@pytest.mark.parametrize(
    ("seen", "standing"),
    [
        (nvidia(daemon("k8s-device-plugin:v1"), without=[CLUSTER_POLICY.key]), Standing.NOT_APPLICABLE),
        (nvidia(without=[CLUSTER_POLICY.key, DAEMON_SET.key]), Standing.NOT_APPLICABLE),
        (
            estate(nodes=[gpu_node(allocatable=0)], without=[CLUSTER_POLICY.key, DAEMON_SET.key]),
            Standing.FAIL,
        ),
        (nvidia(without=[CLUSTER_POLICY.key]), Standing.NOT_KNOWN),
        (nvidia(unknown=[CLUSTER_POLICY.key]), Standing.NOT_KNOWN),
        (estate(nodes=None), Standing.NOT_KNOWN),
        (estate(nodes=[gpu_node(capacity={"amd.com/gpu": devices(1)["nvidia.com/gpu"]})]), Standing.NOT_APPLICABLE),
    ],
    ids=[
        "plugin alone",
        "plugin of the node",
        "neither",
        "DaemonSets unknown",
        "policies unknown",
        "nodes unknown",
        "other vendor",
    ],
)
def test_a_cluster_without_the_operator(seen: Estate, standing: Standing) -> None:
    assert checklist(seen)["gpu-operator"].standing is standing


def test_a_kind_without_a_definition_does_not_exist_even_if_it_was_not_read() -> None:
    without_operator = checklist(nvidia(daemon("k8s-device-plugin:v1")), definitions("x.example.com"))

    assert told(without_operator["gpu-operator"]) == (
        Standing.NOT_APPLICABLE,
        ("no ClusterPolicy; the device plugin was installed without the GPU operator",),
    )
    assert checklist(nvidia(daemon("k8s-device-plugin:v1")))["gpu-operator"].standing is Standing.NOT_KNOWN
    there = checklist(nvidia(daemon("k8s-device-plugin:v1")), definitions("clusterpolicies.nvidia.com"))
    assert there["gpu-operator"].standing is Standing.NOT_KNOWN


def test_the_rule_that_the_auditor_lacks_is_named() -> None:
    found = checklist(nvidia(unknown=[CLUSTER_POLICY.key]))["gpu-operator"]

    assert found.evidence == (
        "not read: clusterpolicies.nvidia.com; an audit of a live cluster needs the verb list on them",
    )


@pytest.mark.parametrize(
    ("version", "escapes"),
    [
        ("v1.16.1", ["CVE-2024-0132", "CVE-2025-23359", "CVE-2025-23266", "CVE-2026-24260"]),
        ("v1.17.3-ubuntu20.04", ["CVE-2025-23359", "CVE-2025-23266", "CVE-2026-24260"]),
        ("v1.17.7", ["CVE-2025-23266", "CVE-2026-24260"]),
        ("v1.17.8", ["CVE-2026-24260"]),
        ("1.19.1", []),
    ],
)
def test_each_container_escape_is_named_up_to_its_last_version(version: str, escapes: list[str]) -> None:
    found = checklist(nvidia(policy(toolkit={"version": version})))["toolkit-version"]

    assert found.standing is (Standing.FAIL if escapes else Standing.PASS)
    assert [text.split(" has ")[1].split()[0] for text in found.evidence if " has " in text] == escapes


def test_the_lowest_version_that_the_check_allows_has_no_known_escape() -> None:
    check = catalogue.parse(CATALOGUE.read_bytes()).checks["objects/toolkit_version_vulnerable"]
    lowest = read_version(str(check.parameters["minimum"].default))
    last = max(each.last for each in ESCAPES)

    assert lowest == (*last[:2], last[2] + 1)


def test_the_image_of_the_daemon_set_shows_the_version_too() -> None:
    image = "nvcr.io/nvidia/k8s/container-toolkit:v1.17.4-ubuntu20.04"
    found = checklist(nvidia(daemon(image, name="toolkit"), without=[CLUSTER_POLICY.key]))["toolkit-version"]

    assert found.evidence == (
        "DaemonSet toolkit: 1.17.4 has CVE-2025-23266 (up to 1.17.7)",
        "DaemonSet toolkit: 1.17.4 has CVE-2026-24260 (up to 1.19.0)",
    )


@pytest.mark.parametrize("image", ["container-toolkit@sha256:0123", "registry:5000/container-toolkit", "toolkit:main"])
def test_an_image_without_a_version_leaves_it_open(image: str) -> None:
    found = checklist(nvidia(daemon(image), without=[CLUSTER_POLICY.key]))["toolkit-version"]

    assert found.standing is Standing.NOT_KNOWN


def test_drivers_of_one_pool_that_differ_are_named() -> None:
    key, pool = "nvidia.com/cuda.driver-version.full", {"cloud.google.com/gke-nodepool": "h100"}
    nodes = [gpu_node(f"n{index}", labels={key: version, **pool}) for index, version in enumerate(("570.1", "580.2"))]
    other = gpu_node("other", labels={key: "999.1", "cloud.google.com/gke-nodepool": "t4"})

    assert told(checklist(estate(nodes=[*nodes, other]))["driver-versions"]) == (
        Standing.FAIL,
        ("pool h100: 570.1 on 1, 580.2 on 1",),
    )
    assert told(checklist(estate(nodes=[nodes[0], other]))["driver-versions"]) == (
        Standing.PASS,
        ("pool h100: 570.1", "pool t4: 999.1"),
    )
    assert checklist(estate(nodes=[gpu_node()]))["driver-versions"].standing is Standing.NOT_KNOWN


@pytest.mark.parametrize(
    ("item", "image"),
    [
        ("device-plugin", "k8s-device-plugin:v0.17.1"),
        ("feature-discovery", "gpu-feature-discovery:v1"),
        ("dcgm-exporter", "dcgm-exporter:4"),
    ],
)
def test_a_daemon_set_passes_if_all_its_pods_are_ready(item: str, image: str) -> None:
    assert checklist(nvidia(daemon(image)))[item].standing is Standing.PASS
    assert told(checklist(nvidia(daemon(image, ready=1)))[item]) == (
        Standing.FAIL,
        ("DaemonSet gpu-operator/stack: 1 of 2 pods are ready",),
    )
    assert checklist(nvidia(daemon(image, ready=0, wanted=0)))[item].standing is Standing.FAIL
    assert checklist(estate(nodes=[gpu_node(allocatable=0)], without=[DAEMON_SET.key]))[item].standing is Standing.FAIL
    assert checklist(nvidia({**daemon(image), "status": "x"}))[item].standing is Standing.NOT_KNOWN
    assert checklist(nvidia(unknown=[DAEMON_SET.key]))[item].standing is Standing.NOT_KNOWN


def test_where_the_nodes_offer_gpus_without_a_daemon_set_no_device_plugin_is_missing() -> None:
    claimed = gpu_node(capacity=eight("gpu.nvidia.com"), allocatable_devices=eight("gpu.nvidia.com"))

    assert told(checklist(nvidia(without=[DAEMON_SET.key]))["device-plugin"]) == (
        Standing.NOT_APPLICABLE,
        ("no DaemonSet of the device plugin; the nodes offer GPUs, as where the image of a node brings the plugin",),
    )
    assert told(checklist(estate(nodes=[claimed], without=[DAEMON_SET.key]))["device-plugin"]) == (
        Standing.NOT_APPLICABLE,
        ("no DaemonSet of the device plugin; drivers of device claims offer the GPUs",),
    )


def test_labels_of_a_service_stand_for_those_of_feature_discovery() -> None:
    labels = {"cloud.google.com/gke-accelerator": "nvidia-h100-80gb"}
    of_service = replace(gpu_node(product="nvidia-h100-80gb"), labels=labels)

    assert told(checklist(estate(nodes=[of_service], without=[DAEMON_SET.key]))["feature-discovery"]) == (
        Standing.NOT_APPLICABLE,
        ("no DaemonSet of the GPU feature discovery; labels of the service say the board of each node",),
    )
    assert checklist(nvidia(without=[DAEMON_SET.key]))["feature-discovery"].standing is Standing.FAIL


def test_feature_discovery_is_known_by_its_name_where_it_shares_the_image_of_the_device_plugin() -> None:
    found = checklist(nvidia(daemon("nvcr.io/nvidia/k8s-device-plugin:v0.17.4", name="gpu-feature-discovery")))

    assert told(found["feature-discovery"]) == (
        Standing.PASS,
        ("DaemonSet gpu-operator/gpu-feature-discovery: 2 of 2 pods are ready",),
    )


def monitor(kind: str, **selector: str) -> paths.Object:
    return custom("monitoring.coreos.com/v1", kind, {"selector": {"matchLabels": selector}}, name="gpus")


@pytest.mark.parametrize(
    "value",
    [
        monitor("ServiceMonitor", app="nvidia-dcgm-exporter"),
        monitor("PodMonitor", app="dcgm-exporter"),
        policy(dcgmExporter={"serviceMonitor": {"enabled": True}}),
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": "nvidia-dcgm-exporter",
                "namespace": "gpu-operator",
                "annotations": {"prometheus.io/scrape": "true"},
            },
        },
        replaced(
            daemon("dcgm-exporter:4", name="dcgm-exporter"),
            "/spec/template/metadata",
            {"annotations": {"prometheus.io/scrape": "true"}},
        ),
    ],
    ids=["ServiceMonitor", "PodMonitor", "operator", "annotation", "annotation of its pods"],
)
def test_whatever_has_the_exporter_scraped_passes(value: paths.Object) -> None:
    assert checklist(nvidia(value))["dcgm-scraped"].standing is Standing.PASS


def test_an_exporter_that_is_not_scraped_fails_only_if_all_ways_are_known() -> None:
    other = monitor("ServiceMonitor", app="node-exporter")

    assert checklist(nvidia(other, without=MONITORS[1:]))["dcgm-scraped"].standing is Standing.FAIL
    assert checklist(nvidia(other, without=MONITORS[2:]))["dcgm-scraped"].standing is Standing.NOT_KNOWN


def test_how_other_systems_find_the_exporter_is_not_known() -> None:
    google = definitions("podmonitorings.monitoring.googleapis.com")
    without_operator = estate(
        nodes=[gpu_node()],
        without=MONITORS[2:],
        missing_kinds=MONITORS[:2],
    )

    assert checklist(nvidia(without=MONITORS), google)["dcgm-scraped"].standing is Standing.NOT_KNOWN
    assert told(checklist(without_operator)["dcgm-scraped"]) == (
        Standing.NOT_KNOWN,
        ("the kinds of the Prometheus operator are not there; files that configure it cannot be seen",),
    )


def test_metrics_of_services() -> None:
    there = definitions("servicemonitors.monitoring.coreos.com")

    assert checklist(nvidia(), there)["service-metrics"].standing is Standing.PASS
    assert checklist(nvidia(), without=[DEFINITION])["service-metrics"].standing is Standing.NOT_KNOWN
    assert checklist(nvidia())["service-metrics"].standing is Standing.NOT_KNOWN
