"""Machine types, slices and nodes that objects choose, and what others of the same files give."""

from typing import Any

import pytest
import yaml

from unit.workloads.normalised import VOCABULARY
from usher.kinds import registry
from usher.kinds.reading import chosen_boards, device_stack, inner_names, refused_values, value_forms
from usher.kinds.reading.values import Objects
from usher.workloads.normalise import normalise

_Json = dict[str, Any]


def _objects(text: str) -> list[_Json]:
    return list(yaml.safe_load_all(text))


def _found(text: str) -> list[str]:
    """The remedies of the findings about the first object beside all of a text."""
    values = _objects(text)
    value, objects = values[0], Objects(values)
    key = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    specs = value_forms.pod_specs(value)
    workload = normalise(value, vocabulary=VOCABULARY)
    found = [
        *chosen_boards.machines_of_no_cloud(value, " ".join(key), specs),
        *(chosen_boards.slices_other_than_pods(workload) if workload is not None else ()),
        *chosen_boards.beside_others(value, key, objects),
        *device_stack.disagreements(value, key, objects),
        *registry.unmet(value, key, objects),
        *refused_values.wrong_values(value, key),
    ]
    return [each.remedy for each in found]


def _pod(selector: _Json, limits: _Json | None = None) -> str:
    containers = [{"name": "main", "image": "lab/main:1", "resources": {"limits": limits or {}}}]
    spec = {"nodeSelector": selector, "containers": containers}
    return yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("p5.48xlage", "did you mean p5.48xlarge?"),
        ("g6.9xlarge", "choose one of: xlarge, 2xlarge, 4xlarge, 8xlarge, 12xlarge, 16xlarge, 24xlarge, 48xlarge"),
        ("a3-highgpu-8", "did you mean a3-highgpu-8g?"),
        ("Standard_NC24ads_A100v4", "did you mean Standard_NC24ads_A100_v4?"),
    ],
)
def test_a_machine_type_that_no_cloud_has_is_found(name: str, remedy: str) -> None:
    assert _found(_pod({"node.kubernetes.io/instance-type": name})) == [remedy]


@pytest.mark.parametrize(
    "name",
    [
        "p5.48xlarge", "g6f.xlarge", "p7.48xlarge", "trn2.3xlarge", "a4-ultragpu-8g", "a9-highgpu-8g", "m5.huge",
        "Standard_ND96isrf_H100_v5", "Standard_NC24ads_A100_v9", "gpu-h100", "$(TYPE)", "",
        "ct5l-hightpu-4t", "ct6e-standard-4t-tpu", "a3-ultragpu-8g-nolssd",
    ],
)  # fmt: skip
def test_machine_types_that_may_be_newer_than_the_table_pass(name: str) -> None:
    assert _found(_pod({"node.kubernetes.io/instance-type": name})) == []


@pytest.mark.parametrize(
    ("tpu", "topology", "chips", "remedy"),
    [
        ("tpu-v5p-slice", "2x2", 4, "select one of its topologies, for example 2x2x1"),
        ("tpu-v6e-slice", "2x2x1", 4, "select one of its topologies, for example 2x4"),
        ("tpu-v4-podslice", "2x2x2", 8, "ask for 4 in each of 2 pods"),
        ("tpu-v5-lite-podslice", "2x2", 8, "ask for 4"),
        ("tpu-v6e-slice", "4x4", 1, "ask for 4 in each of 4 pods"),
    ],
)
def test_chips_that_no_node_of_a_slice_has_are_found(tpu: str, topology: str, chips: int, remedy: str) -> None:
    labels = {"cloud.google.com/gke-tpu-accelerator": tpu, "cloud.google.com/gke-tpu-topology": topology}

    assert _found(_pod(labels, {"google.com/tpu": chips})) == [remedy]


@pytest.mark.parametrize(
    ("tpu", "topology", "chips"),
    [
        ("tpu-v6e-slice", "2x4", 8),
        ("tpu-v6e-slice", "2x4", 4),
        ("tpu-v5-lite-podslice", "1x1", 1),
        ("tpu-v5p-slice", "2x2x1", 4),
        ("tpu-v6e-slice", "4x4", 4),
        ("tpu9", "4x4", 64),
        ("tpu-v6e-slice", "4xN", 64),
    ],
)
def test_chips_of_a_node_of_the_slice_pass(tpu: str, topology: str, chips: int) -> None:
    labels = {"cloud.google.com/gke-tpu-accelerator": tpu, "cloud.google.com/gke-tpu-topology": topology}

    assert _found(_pod(labels, {"google.com/tpu": chips})) == []


@pytest.mark.parametrize(("parallelism", "remedies"), [(4, []), (8, []), (3, ["run 4 pods for each slice"])])
def test_a_slice_needs_a_pod_on_each_of_its_nodes(parallelism: int, remedies: list[str]) -> None:
    labels = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "4x4"}
    template = {"spec": yaml.safe_load(_pod(labels, {"google.com/tpu": "4"}))["spec"]}
    job = {"template": {"spec": {"parallelism": parallelism, "template": template}}}
    value = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "j"}}

    assert _found(yaml.safe_dump({**value, "spec": {"replicatedJobs": [{"name": "w", **job}]}})) == remedies


@pytest.mark.parametrize(("size", "remedies"), [(4, []), (5, ["run 4 pods for each slice"] * 2)])
def test_leader_and_workers_share_a_slice_and_a_rollout_does_not_count(size: int, remedies: list[str]) -> None:
    labels = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "4x4"}
    template = {"spec": yaml.safe_load(_pod(labels, {"google.com/tpu": "4"}))["spec"]}
    group = {"size": size, "leaderTemplate": template, "workerTemplate": template}
    rollout = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxSurge": 1}}
    spec = {"replicas": 2, "rolloutStrategy": rollout, "leaderWorkerTemplate": group}
    value = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "l"}}

    assert _found(yaml.safe_dump({**value, "spec": spec})) == remedies


def _plugin(*configurations: str) -> str:
    data = {str(index): text for index, text in enumerate(configurations)}
    return "---\n" + yaml.safe_dump(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plugin"}, "data": data}
    )


_SHARED = "resources: [{name: nvidia.com/gpu, replicas: 4}]}}"
_ALONE = "version: v1\nsharing: {timeSlicing: {failRequestsGreaterThanOne: true, " + _SHARED
_MANY = _ALONE.replace("true", "false")


@pytest.mark.parametrize(
    ("configurations", "asked", "count"),
    [
        ([_ALONE], 2, 1),
        ([_ALONE], 1, 0),
        ([_ALONE], "9" * 5000, 0),
        ([_MANY], 2, 0),
        ([_ALONE, _MANY], 2, 0),
        ([_ALONE, "version: v1\nflags: {migStrategy: none}"], 2, 0),
        ([_ALONE.replace("timeSlicing: {failRequestsGreaterThanOne: true, ", "mps: {")], 2, 1),
        ([_ALONE.replace("timeSlicing: {", "timeSlicing: {renameByDefault: true, ")], 2, 1),
        ([_ALONE.replace("nvidia.com/gpu,", "nvidia.com/gpu, rename: nvidia.com/part,")], 2, 0),
    ],
)
def test_several_shares_are_wrong_where_the_plugin_gives_one_at_a_time(
    configurations: list[str], asked: int | str, count: int
) -> None:
    assert len(_found(_pod({}, {"nvidia.com/gpu": asked}) + _plugin(*configurations))) == count


_RENAMED = _MANY.replace("timeSlicing: {", "timeSlicing: {renameByDefault: true, ")
_FREE = "version: v1\nflags: {migStrategy: none}"


@pytest.mark.parametrize(
    ("configurations", "asked", "remedy"),
    [
        ([_RENAMED], "nvidia.com/gpu", "ask for nvidia.com/gpu.shared, or set renameByDefault to false"),
        ([_RENAMED], "nvidia.com/gpu.shared", ""),
        ([_RENAMED, _FREE], "nvidia.com/gpu", ""),
        ([_RENAMED.replace("replicas", "devices: [0], replicas")], "nvidia.com/gpu.shared", ""),
        ([_MANY], "nvidia.com/gpu.shared", "ask for nvidia.com/gpu, or set renameByDefault to true"),
        ([_MANY, _RENAMED], "nvidia.com/gpu.shared", ""),
    ],
)
def test_pods_ask_for_shares_by_the_name_that_the_configuration_gives_them(
    configurations: list[str], asked: str, remedy: str
) -> None:
    assert _found(_pod({}, {asked: 1}) + _plugin(*configurations)) == ([remedy] if remedy else [])


_DRIVER = """
apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata: {name: a}
spec: {nodeSelector: {pool: a}%s}
---
apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata: {name: b}
spec: %s
"""


@pytest.mark.parametrize(
    ("own", "other", "count"),
    [
        ("", "{}", 1),
        ("", "{nodeSelector: {pool: b}}", 0),
        ("", "{default: true}", 0),
        ("", "{nodeSelector: {pool: a, board: h100}}", 0),
    ],
)
def test_drivers_for_the_same_nodes_are_found_once(own: str, other: str, count: int) -> None:
    assert len(_found(_DRIVER % (own, other))) == count


_NODE = """
---
apiVersion: v1
kind: Node
metadata: {name: g1, labels: {feature.node.kubernetes.io/pci-0302_10de.present: "true", %s}}
spec: {taints: [{key: gpu, value: "true", effect: NoSchedule}]}
status: {capacity: {cpu: 4%s}}
"""


def _agent(image: str, spec: str) -> str:
    return f"""
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: agent, namespace: gpu}}
spec: {{template: {{spec: {{containers: [{{name: c, image: "{image}"}}], {spec}}}}}}}
"""


@pytest.mark.parametrize(
    ("image", "spec", "labels", "capacity", "remedies"),
    [
        ("nvcr.io/nvidia/k8s-device-plugin:v1", "", "a: b", "", ["add a toleration for gpu"]),
        ("nvcr.io/nvidia/k8s-device-plugin:v1", "", "a: b", ", nvidia.com/gpu: 4", []),
        ("nvcr.io/nvidia/k8s-device-plugin:v1", "tolerations: [{operator: Exists}]", "a: b", "", []),
        ("nvcr.io/nvidia/k8s-device-plugin:v1", "nodeSelector: {x: y}", "a: b", "", []),
        ("lab/agent:1", "", "a: b", "", []),
        (
            "lab/agent:1",
            'nodeSelector: {feature.node.kubernetes.io/pci-10de.present: "true"}',
            "a: b",
            "",
            ["did you mean feature.node.kubernetes.io/pci-0302_10de.present?"],
        ),
        ("lab/agent:1", "nodeSelector: {other.example.com/role: gpu}", "a: b", "", []),
    ],
)
def test_agents_are_compared_with_the_nodes_of_the_files(
    image: str, spec: str, labels: str, capacity: str, remedies: list[str]
) -> None:
    assert _found(_agent(image, spec) + _NODE % (labels, capacity)) == remedies


def test_an_exporter_beside_shares_needs_its_variable() -> None:
    exporter = _agent("nvcr.io/nvidia/k8s/dcgm-exporter:4.4.1", "")
    aware = exporter.replace("image:", "args: [--kubernetes-virtual-gpus], image:")

    assert _found(exporter + _plugin(_ALONE)) == ["set KUBERNETES_VIRTUAL_GPUS to true (dcgm-exporter 4.0 or later)"]
    assert _found(aware + _plugin(_ALONE)) == []
    assert _found(exporter) == []


_POLICY = """
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: p}
spec:
  daemonsets: {tolerations: [{operator: Exists}]}
  devicePlugin: {enabled: %s}
  mig: {strategy: %s}
  toolkit: {env: [%s]}
"""


@pytest.mark.parametrize(
    ("enabled", "strategy", "labels", "count"),
    [
        ("true", "single", "cloud.google.com/gke-accelerator: nvidia-l4", 1),
        ("false", "single", "cloud.google.com/gke-accelerator: nvidia-l4", 0),
        ("true", "single", "cloud.google.com/gke-accelerator: a, gke-no-default-nvidia-gpu-device-plugin: 'true'", 0),
        ("true", "single", "nvidia.com/mig.config: all-balanced", 1),
        ("true", "mixed", "nvidia.com/mig.config: all-balanced", 0),
        ("true", "single", "nvidia.com/mig.config: all-1g.10gb", 0),
    ],
)
def test_an_operator_is_compared_with_the_nodes_of_the_files(
    enabled: str, strategy: str, labels: str, count: int
) -> None:
    assert len(_found(_POLICY % (enabled, strategy, "") + _NODE % (labels, ""))) == count


_K3S = "{name: CONTAINERD_CONFIG, value: /var/lib/rancher/k3s/agent/etc/containerd/config.toml%s}"


@pytest.mark.parametrize(
    ("env", "count"),
    [
        (_K3S % "", 1),
        (f"{_K3S % ''}, {{name: CONTAINERD_SOCKET, value: /run/k3s/containerd/containerd.sock}}", 0),
        (_K3S % ".tmpl", 1),
        ("{name: CONTAINERD_CONFIG, value: /etc/containerd/config.toml}", 0),
    ],
)
def test_containerd_of_k3s_needs_its_socket(env: str, count: int) -> None:
    assert len(_found(_POLICY % ("true", "mixed", env))) == count


_CLASS = "kueue.x-k8s.io/v1beta1 ProvisioningRequestConfig"
_SELECTS = (
    "device.attributes['gpu.nvidia.com'].productName == 'a' && "
    "device.capacity['gpu.nvidia.com'].memry.compareTo(quantity('1Gi')) > 0"
)
_NICS, _NETWORK = "mellanox.com/v1alpha1", "k8s.cni.cncf.io/v1 NetworkAttachmentDefinition"
_OF_KIND = '{"type": "%s", "master": "ibp5s0"}'
_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io"


@pytest.mark.parametrize(
    ("kind", "spec", "remedies"),
    [
        (_CLASS, {"provisioningClassName": "own"}, []),
        (_CLASS, {"provisioningClassName": "queued-provisioning.gke"}, ["did you mean queued-provisioning.gke.io?"]),
        (
            "kueue.x-k8s.io/v1beta1 AdmissionCheck",
            {"controllerName": "kueue.x-k8s.io/multi-kueue"},
            ["did you mean kueue.x-k8s.io/multikueue?"],
        ),
        (
            "kubeflow.org/v1 Profile",
            {"resourceQuotaSpec": {"hard": {"limits.nvidia.com/gpu": 1, "requests.nvidia.com/gpu": 1, "cpu": 4}}},
            ["write requests.nvidia.com/gpu"],
        ),
        ("v1 ResourceQuota", {"hard": {"requests.nvidia.com/gpumem": 1, "count/jobs.batch": 3}}, []),
        (
            "resource.k8s.io/v1 DeviceClass",
            {"selectors": [{"cel": {"expression": _SELECTS}}]},
            ["did you mean memory?"],
        ),
        (
            f"{_NICS} MacvlanNetwork",
            {"master": "ib1"},
            ["make an IPoIBNetwork of it, or name an interface of Ethernet"],
        ),
        (f"{_NICS} MacvlanNetwork", {"master": "ens1f0"}, []),
        (
            f"{_NICS} IPoIBNetwork",
            {"master": "ens1f0"},
            ["make a MacvlanNetwork of it, or name an InfiniBand interface"],
        ),
        (f"{_NICS} IPoIBNetwork", {"master": "ibs2"}, []),
        (_NETWORK, {"config": _OF_KIND % "macvlan"}, ["use the plugin ipoib, or name an interface of Ethernet"]),
        (_NETWORK, {"config": _OF_KIND % "ipoib"}, []),
    ],
)
def test_rows_of_values_name_the_right_value(kind: str, spec: _Json, remedies: list[str]) -> None:
    version, _, name = kind.partition(" ")

    assert _found(yaml.safe_dump({"apiVersion": version, "kind": name, "spec": spec})) == remedies


@pytest.mark.parametrize(("selector", "count"), [("gke-tpu-accelerator", 1), ("gke-tpu-topology", 0)])
def test_workers_of_ray_on_tpus_select_their_topology(selector: str, count: int) -> None:
    containers = [{"name": "w", "resources": {"limits": {"google.com/tpu": 4}}}]
    spec = {"nodeSelector": {f"cloud.google.com/{selector}": "2x2"}, "containers": containers}
    groups = {"workerGroupSpecs": [{"groupName": "g", "template": {"spec": spec}}]}
    value = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r"}, "spec": groups}

    assert len([each for each in _found(yaml.safe_dump(value)) if "gke-tpu-topology" in each]) == count


@pytest.mark.parametrize(
    ("version", "kind", "name", "count"),
    [
        ("sparkoperator.k8s.io/v1beta2", "SparkApplication", "28478459-clicks", 1),
        ("sparkoperator.k8s.io/v1beta2", "SparkApplication", "clicks-28478459", 0),
        ("jobset.x-k8s.io/v1alpha2", "JobSet", "82ac-set", 1),
        ("batch/v1", "Job", "28478459-clicks", 0),
    ],
)
def test_names_that_begin_with_a_digit_are_found_where_services_get_them(
    version: str, kind: str, name: str, count: int
) -> None:
    assert len(_found(yaml.safe_dump({"apiVersion": version, "kind": kind, "metadata": {"name": name}}))) == count


@pytest.mark.parametrize(
    ("keys", "count"),
    [
        (["gpu-type", "gpu-count"], 0),
        (["gpu-type"], 1),
        (["gpu-count"], 1),
        (["gpu-count", "dra-driver"], 0),
        (["gpu"], 1),
        (["nvidia.com/gpu"], 1),
    ],
)
def test_annotations_that_the_autoscaler_does_not_read_or_that_lack_their_other_half_are_found(
    keys: list[str], count: int
) -> None:
    annotations = {f"{_CAPACITY}/{key}": "1" for key in keys}
    value = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineSet", "metadata": {"annotations": annotations}}

    assert len(_found(yaml.safe_dump(value))) == count


_NAMESPACE = """
---
apiVersion: v1
kind: Namespace
metadata: {name: lab, labels: {pod-security.kubernetes.io/enforce: %s}}
"""
_SAFE = (
    "securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, containers: [{name: c, image: x, "
    "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]"
)


@pytest.mark.parametrize(
    ("level", "spec", "count"),
    [
        ("baseline", "hostNetwork: true, containers: [{name: c, image: x}]", 1),
        ("baseline", "volumes: [{name: v, hostPath: {path: /dev}}], containers: [{name: c, image: x}]", 1),
        ("baseline", "containers: [{name: c, image: x, securityContext: {capabilities: {add: [IPC_LOCK]}}}]", 1),
        ("baseline", "containers: [{name: c, image: x, securityContext: {privileged: false}}]", 0),
        ("restricted", "containers: [{name: c, image: x}]", 1),
        ("restricted", _SAFE, 0),
        ("privileged", "hostPID: true, containers: [{name: c, image: x}]", 0),
    ],
)
def test_the_level_of_a_namespace_is_compared_with_its_pods(level: str, spec: str, count: int) -> None:
    pod = f"{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: lab}}, spec: {{{spec}}}}}"
    values = _objects(pod + _NAMESPACE % level)
    objects = Objects(values)
    files = inner_names.Files("", objects, objects, None)
    found = inner_names.names_of_nothing(values[0], ("", "Pod"), value_forms.pod_specs(values[0]), files)

    assert len(list(found)) == count
