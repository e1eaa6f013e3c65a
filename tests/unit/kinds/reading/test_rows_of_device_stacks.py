"""Values that device stacks, networks and autoscalers of nodes refuse or leave out, by rows of `known_keys.yaml`."""

import pytest
import yaml

from usher.kinds import registry
from usher.kinds.reading import chosen_boards, device_stack, refused_values, value_forms
from usher.kinds.reading.values import Objects


def _remedies(*texts: str) -> list[str]:
    """The remedies of the findings about the first of several objects beside the others."""
    values = [yaml.safe_load(text) for text in texts]
    value, objects = values[0], Objects(values)
    key = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    found = [
        *refused_values.wrong_values(value, key),
        *refused_values.wrong_pods(value, value_forms.pod_specs(value)),
        *chosen_boards.beside_others(value, key, objects, None, value_forms.pod_specs(value)),
        *device_stack.disagreements(value, key, objects),
        *registry.unmet(value, key, objects),
    ]
    return [each.remedy for each in found]


def _object(version: str, kind: str, spec: str, metadata: str = "name: x") -> str:
    return f"{{apiVersion: {version}, kind: {kind}, metadata: {{{metadata}}}, spec: {{{spec}}}}}"


def _node(labels: str = "", system: str = "Ubuntu 24.04", offers: str = "", taint: str = "", name: str = "n1") -> str:
    taints = f"taints: [{{key: {taint}, effect: NoSchedule}}]" if taint else ""
    return (
        f"{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{{labels}}}}}, spec: {{{taints}}}, "
        f"status: {{allocatable: {{cpu: 4{offers}}}, nodeInfo: {{osImage: {system}}}}}}}"
    )


def _pod(spec: str, limits: str = "nvidia.com/gpu: 1", metadata: str = "name: x") -> str:
    containers = f"containers: [{{name: c, image: lab/c:1, resources: {{limits: {{{limits}}}}}}}]"
    return _object("v1", "Pod", f"{spec}, {containers}" if spec else containers, metadata)


_NVIDIA = 'feature.node.kubernetes.io/pci-10de.present: "true"'


def _policy(more: str, tolerations: str = "operator: Exists") -> str:
    return _object("nvidia.com/v1", "ClusterPolicy", f"daemonsets: {{tolerations: [{{{tolerations}}}]}}, {more}")


@pytest.mark.parametrize(
    ("tolerations", "node", "count"),
    [
        ("key: nvidia.com/gpu, operator: Exists", _node(_NVIDIA, taint="dedicated"), 1),
        ("key: dedicated, operator: Exists", _node(_NVIDIA, taint="dedicated"), 0),
        ("key: nvidia.com/gpu, operator: Exists", _node(_NVIDIA, taint="nvidia.com/gpu"), 0),
        ("key: nvidia.com/gpu, operator: Exists", _node("a: b", taint="dedicated"), 0),
        ("key: nvidia.com/gpu, operator: Exists", _node(_NVIDIA, taint="dedicated", offers=", nvidia.com/gpu: 1"), 0),
        ("key: nvidia.com/gpu, operator: Exists", _node(_NVIDIA, taint="node.kubernetes.io/unschedulable"), 0),
        ("key: nvidia.com/gpu, operator: Exists", _node(_NVIDIA, taint="karpenter.sh/disrupted"), 0),
    ],
)
def test_an_operator_tolerates_the_taints_of_nodes_with_its_devices(tolerations: str, node: str, count: int) -> None:
    assert len(_remedies(_policy("driver: {enabled: false}", tolerations), node)) == count


def test_an_operator_without_tolerations_has_those_of_its_own() -> None:
    amd = _object("amd.com/v1alpha1", "DeviceConfig", "selector: {feature.node.kubernetes.io/amd-gpu: 'true'}")
    label = "feature.node.kubernetes.io/amd-gpu: 'true'"

    assert _remedies(_object("nvidia.com/v1", "ClusterPolicy", ""), _node(_NVIDIA, taint="nvidia.com/gpu")) == []
    assert _remedies(amd, _node(label, taint="amd.com/gpu")) == ["add a toleration for amd.com/gpu"]
    assert _remedies(amd, _node(taint="amd.com/gpu")) == []


@pytest.mark.parametrize(
    "image",
    [
        "nvcr.io/nvidia/cloud-native/vgpu-device-manager:v0.4.1",
        "nvcr.io/nvidia/cloud-native/k8s-mig-manager:v0.12.3",
        "nvcr.io/nvidia/cloud-native/nvidia-sandbox-device-plugin:v0.0.1",
        "nvcr.io/nvidia/kubevirt-gpu-device-plugin:v1.4.0",
        "nvcr.io/nvidia/k8s/container-toolkit:v1.18.0",
    ],
)
def test_agents_that_make_devices_tolerate_the_taints_of_nodes_without_them(image: str) -> None:
    made = "template: {spec: {nodeSelector: {vgpu: 'true'}, %scontainers: [{name: c, image: '" + image + "'}]}}"
    bare, tolerating = (
        _object("apps/v1", "DaemonSet", made % each)
        for each in ("", "tolerations: [{key: nvidia.com/gpu, operator: Exists}], ")
    )
    node = _node("vgpu: 'true'", taint="nvidia.com/gpu")

    assert "add a toleration for nvidia.com/gpu" in _remedies(bare, node)
    assert "add a toleration for nvidia.com/gpu" not in _remedies(tolerating, node)
    assert "add a toleration for nvidia.com/gpu" not in _remedies(bare, _node("a: b", taint="nvidia.com/gpu"))


def test_an_agent_is_not_compared_with_control_planes() -> None:
    plugin = _object(
        "apps/v1",
        "DaemonSet",
        "template: {spec: {containers: [{name: c, image: nvcr.io/nvidia/k8s-device-plugin:v1}]}}",
    )
    control_plane = "node-role.kubernetes.io/control-plane"

    assert _remedies(plugin, _node(taint=control_plane)) == []
    assert len(_remedies(plugin, _node(_NVIDIA, taint=control_plane))) == 1


@pytest.mark.parametrize(
    ("spec", "system", "count"),
    [
        ("driver: {enabled: true}, toolkit: {enabled: true}", "Talos (v1.10.2)", 2),
        ("driver: {enabled: false}, toolkit: {enabled: false}", "Talos (v1.10.2)", 0),
        ("driver: {enabled: false}, toolkit: {enabled: true}", "Bottlerocket OS 1.39.0", 1),
        ("driver: {enabled: true}, toolkit: {enabled: true}", "Container-Optimized OS from Google", 2),
        (
            "driver: {enabled: false}, toolkit: {enabled: true, installDir: /home/kubernetes/bin/nvidia}",
            "Container-Optimized OS from Google",
            0,
        ),
        ("driver: {enabled: true}, toolkit: {enabled: true}", "Ubuntu 24.04", 0),
    ],
)
def test_operators_install_nothing_on_systems_that_cannot_be_changed(spec: str, system: str, count: int) -> None:
    assert len(_remedies(_policy(spec), _node(_NVIDIA, system))) == count


@pytest.mark.parametrize(("spec", "count"), [("", 1), ("dcgm: {enabled: true}, ", 0), ("dcgm: {enabled: false}, ", 1)])
def test_the_exporter_of_the_operator_gets_the_memory_that_dcgm_takes(spec: str, count: int) -> None:
    for memory, found in (("300Mi", count), ("512Mi", 0)):
        exporter = f"dcgmExporter: {{resources: {{limits: {{memory: {memory}}}}}}}"
        assert len(_remedies(_policy(f"{spec}{exporter}"))) == found


_PRIORITIES = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {priorities: "10:\\n- .*"}\n'
_CALLS = "args: [--hub, hub.ml.svc:80], image:"
_L4 = "cloud.google.com/gke-accelerator: nvidia-l4"


@pytest.mark.parametrize(
    ("selector", "node", "count"),
    [
        (_L4, _node(_L4), 1),
        (_L4, _node(_L4, offers=", nvidia.com/gpu: 1"), 0),
        (_L4, _node("cloud.google.com/gke-accelerator: nvidia-h100-80gb"), 0),
        (_L4, _node(f"{_L4}, gke-no-default-nvidia-gpu-device-plugin: 'true'"), 0),
        (f"{_L4}, cloud.google.com/gke-gpu-driver-version: latest", _node(_L4), 0),
    ],
)
def test_a_node_of_gke_without_a_driver_is_named(selector: str, node: str, count: int) -> None:
    assert len(_remedies(_pod(f"nodeSelector: {{{selector}}}"), node)) == count


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            _pod("nodeSelector: {kubernetes.azure.com/scalesetpriority: spot}"),
            _pod(
                "nodeSelector: {kubernetes.azure.com/scalesetpriority: spot}, "
                "tolerations: [{key: kubernetes.azure.com/scalesetpriority, operator: Exists}]"
            ),
        ),
        (
            _pod("nodeSelector: {kubernetes.azure.com/scalesetpriority: spot}, tolerations: [{key: a}]"),
            _pod("nodeSelector: {kubernetes.azure.com/scalesetpriority: spot}, tolerations: [{operator: Exists}]"),
        ),
        (
            _pod("schedulerName: volcano", "nvidia.com/gpu: 1, nvidia.com/gpumem: 100"),
            _pod("schedulerName: hami-scheduler", "nvidia.com/gpu: 1, nvidia.com/gpumem: 100"),
        ),
        (
            _object("kubevirt.io/v1", "VirtualMachineInstance", "evictionStrategy: LiveMigrate, domain: {devices: "
                    "{gpus: [{name: g, deviceName: nvidia.com/GA102GL_A10}]}}"),
            _object("kubevirt.io/v1", "VirtualMachineInstance", "evictionStrategy: LiveMigrate, domain: {devices: "
                    "{gpus: [{name: g, deviceName: nvidia.com/GRID_A10-4Q}]}}"),
        ),
        (
            _PRIORITIES % "priorities",
            _PRIORITIES % "cluster-autoscaler-priority-expander",
        ),
        (
            _pod("hostNetwork: true").replace("image:", _CALLS),
            _pod("hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet").replace("image:", _CALLS),
        ),
    ],
)  # fmt: skip
def test_one_value_is_named_and_the_right_one_is_not(wrong: str, right: str) -> None:
    assert len(_remedies(wrong)) == 1
    assert _remedies(right) == []


def _scaled(query: str, most: int = 4) -> str:
    trigger = f"{{type: prometheus, metadata: {{serverAddress: 'http://p.m', threshold: '5', query: '{query}'}}}}"
    return _object(
        "keda.sh/v1alpha1",
        "ScaledObject",
        f"maxReplicaCount: {most}, scaleTargetRef: {{name: a}}, triggers: [{trigger}]",
    )


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ('vllm:num_requests_waiting{namespace="ml"}', 1),
        ("rate(vllm:request_success_total[1m])", 1),
        ("sum(vllm:num_requests_waiting)", 0),
        ("max by (pod) (vllm:num_requests_waiting)", 0),
        ('vllm:num_requests_waiting{pod="a-0"}', 0),
        ("queue_length", 0),
    ],
)
def test_a_query_of_keda_gives_one_series(query: str, count: int) -> None:
    assert len(_remedies(_scaled(query))) == count
    assert _remedies(_scaled(query, most=1)) == []


@pytest.mark.parametrize(("honors", "label", "count"), [("false", "pod", 1), ("true", "pod", 0), ("false", "gpu", 0)])
def test_metrics_of_gpus_have_the_labels_that_a_monitor_leaves(honors: str, label: str, count: int) -> None:
    monitor = _object(
        "monitoring.coreos.com/v1",
        "ServiceMonitor",
        f"selector: {{matchLabels: {{app: dcgm-exporter}}}}, endpoints: [{{port: metrics, honorLabels: {honors}}}]",
    )

    assert len(_remedies(_scaled(f'sum(DCGM_FI_DEV_GPU_UTIL{{{label}="a"}})'), monitor)) == count


def test_machines_of_kubevirt_need_the_gate_of_host_devices() -> None:
    machine = _object(
        "kubevirt.io/v1", "VirtualMachineInstance", "domain: {devices: {hostDevices: [{deviceName: a/b}]}}"
    )
    config = (
        "configuration: {permittedHostDevices: {pciHostDevices: [{resourceName: a/b}]}, developerConfiguration: %s}"
    )
    without = _object("kubevirt.io/v1", "KubeVirt", config % "{}")
    gate = _object("kubevirt.io/v1", "KubeVirt", config % "{featureGates: [HostDevices]}")

    assert len(_remedies(machine, without)) == 1
    assert _remedies(machine, gate) == []


def test_slices_have_the_name_of_the_strategy() -> None:
    pod = _pod("", "nvidia.com/mig-1g.10gb: 1")

    assert len(_remedies(pod, _policy("mig: {strategy: single}"))) == 1
    assert _remedies(pod, _policy("mig: {strategy: mixed}")) == []
    assert _remedies(pod, _policy("mig: {strategy: single}, devicePlugin: {config: {name: c}}")) == []
    assert _remedies(_pod(""), _policy("mig: {strategy: single}")) == []


@pytest.mark.parametrize(
    ("kind", "link", "count"), [("SriovNetwork", "ib", 1), ("SriovNetwork", "eth", 0), ("SriovIBNetwork", "ETH", 1)]
)
def test_a_network_is_of_the_link_of_its_functions(kind: str, link: str, count: int) -> None:
    network = _object("sriovnetwork.openshift.io/v1", kind, "resourceName: vf")
    policy = _object("sriovnetwork.openshift.io/v1", "SriovNetworkNodePolicy", f"resourceName: vf, linkType: {link}")

    assert len(_remedies(network, policy)) == count


_NETWORK = _object(
    "k8s.cni.cncf.io/v1",
    "NetworkAttachmentDefinition",
    'config: \'{"type": "sriov"}\'',
    "name: net, namespace: %s, annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/vf}",
)
_ATTACHED = "name: x, namespace: ml, annotations: {k8s.v1.cni.cncf.io/networks: %s}"


def test_a_device_of_a_network_needs_its_annotation() -> None:
    here = _NETWORK % "ml"

    assert len(_remedies(_pod("", "nvidia.com/vf: 1", "name: x, namespace: ml"), here)) == 1
    assert _remedies(_pod("", "nvidia.com/vf: 1", _ATTACHED % "net"), here) == []
    assert _remedies(_pod("hostNetwork: true", "nvidia.com/vf: 1"), here) == []


@pytest.mark.parametrize(
    ("named", "home", "count"), [("net", "default", 1), ("default/net", "default", 0), ("net", "ml", 0)]
)
def test_a_network_is_in_the_namespace_that_the_annotation_says(named: str, home: str, count: int) -> None:
    assert len(_remedies(_pod("", "nvidia.com/vf: 1", _ATTACHED % named), _NETWORK % home)) == count


@pytest.mark.parametrize(
    ("named", "devices", "count"),
    [
        ("net", 1, 0),
        ("'net,net'", 1, 1),
        ("'net,net'", 2, 0),
        ("nett", 1, 1),
        ('\'[{"name": "net"}]\'', 0, 1),
        ('\'[{"name": "net", "cni-args": {"deviceID": "0000:01:00.1"}}]\'', 0, 0),
    ],
)
def test_each_network_of_an_annotation_needs_a_device(named: str, devices: int, count: int) -> None:
    pod = _pod("", f"nvidia.com/vf: {devices}", _ATTACHED % named)

    assert len(_remedies(pod, _NETWORK % "ml")) == count


@pytest.mark.parametrize("spec", ["containers: [{name: c, securityContext: {privileged: true}}]",
                                  "containers: [{name: c}], volumes: [{name: v, hostPath: {path: /dev}}]"])  # fmt: skip
def test_autopilot_gives_pods_no_part_of_its_nodes(spec: str) -> None:
    pod = _object("v1", "Pod", spec)

    assert len(_remedies(pod, _node(name="gk3-a-1"))) == 1
    assert _remedies(pod, _node(name="gke-a-1")) == []
    assert _remedies(pod.replace("/dev", "/var/log/pods").replace("true", "false"), _node(name="gk3-a-1")) == []


def _pool(requirements: str, more: str = "") -> str:
    reference = "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}"
    return _object(
        "karpenter.sh/v1", "NodePool", f"template: {{spec: {{{reference}, requirements: [{requirements}]{more}}}}}"
    )


_FAMILY = "{key: karpenter.k8s.aws/instance-family, operator: In, values: [g5, g6]}"
_P5 = _FAMILY.replace("g5, g6", "p5")
_ANY = "{key: node.kubernetes.io/instance-type, operator: Exists, minValues: %d}"


@pytest.mark.parametrize(
    ("requirements", "count"),
    [
        (f"{_FAMILY}, {{key: kubernetes.io/arch, operator: In, values: [arm64]}}", 1),
        (f"{_FAMILY}, {{key: kubernetes.io/arch, operator: In, values: [amd64]}}", 0),
        (f"{_FAMILY}, {{key: karpenter.k8s.aws/instance-gpu-count, operator: Gt, values: ['8']}}", 1),
        (f"{_FAMILY}, {{key: karpenter.k8s.aws/instance-gpu-count, operator: Gt, values: ['1']}}", 0),
        ("{key: kubernetes.io/arch, operator: In, values: [arm64]}", 0),
        (f"{_P5.replace('p5', 'p99')}, {{key: kubernetes.io/arch, operator: In, values: [arm64]}}", 0),
        (f"{_P5}, {_ANY % 5}", 1),
        (f"{_P5}, {_ANY % 1}", 0),
        (f"{_FAMILY}, {_ANY % 5}", 0),
        ("{key: karpenter.sh/capacity-type, operator: In, values: [on_demand]}", 1),
        ("{key: karpenter.sh/capacity-type, operator: In, values: [on-demand, spot]}", 0),
    ],
)
def test_requirements_of_a_node_pool_allow_machine_types(requirements: str, count: int) -> None:
    taints = ", taints: [{key: nvidia.com/gpu, effect: NoSchedule}]"

    assert len(_remedies(_pool(requirements, taints))) == count


def test_a_taint_that_an_agent_removes_is_a_startup_taint() -> None:
    taint = "[{key: efs.csi.aws.com/agent-not-ready, effect: NoExecute}]"

    assert len(_remedies(_pool(_FAMILY, f", taints: {taint}"))) == 1
    assert _remedies(_pool(_FAMILY, f", startupTaints: {taint}")) == []


@pytest.mark.parametrize(
    ("version", "kind", "spec"),
    [
        ("kubeflow.org/v1", "PyTorchJob", "pytorchReplicaSpecs: {Worker: {replicas: 2, template: {spec: {%s}}}}"),
        ("ray.io/v1", "RayCluster", "workerGroupSpecs: [{template: {spec: {%s}}}]"),
        ("batch.volcano.sh/v1alpha1", "Job", "plugins: {svc: []}, tasks: [{template: {spec: {%s}}}]"),
    ],
)
def test_pods_on_the_network_of_their_node_find_each_other(version: str, kind: str, spec: str) -> None:
    remedy = "set dnsPolicy: ClusterFirstWithHostNet"

    assert _remedies(_object(version, kind, spec % "hostNetwork: true")) == [remedy]
    assert _remedies(_object(version, kind, spec % "hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet")) == []
    assert _remedies(_object(version, kind, spec % "hostNetwork: false")) == []


_RELEASE = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: x}
spec: {chart: {spec: {chart: %s}}, values: {config: {%s}}}
"""


@pytest.mark.parametrize(
    ("chart", "config", "count"),
    [
        ("nvidia-device-plugin", "default: four", 1),
        ("nvidia-device-plugin", "default: four, name: plugin", 0),
        ("nvidia-device-plugin", "default: four, map: {four: 'version: v1'}", 0),
        ("other", "default: four", 0),
    ],
)
def test_the_chart_of_the_device_plugin_needs_the_name_of_a_configuration(chart: str, config: str, count: int) -> None:
    assert len(_remedies(_RELEASE % (chart, config))) == count


@pytest.mark.parametrize(
    ("limits", "command", "count"),
    [
        ("nvidia.com/mig-1g.20gb: 3", "command: [python, a.py], ", 1),
        ("nvidia.com/mig-1g.20gb: 1", "command: [python, a.py], ", 0),
        ("nvidia.com/mig-1g.20gb: 3", "", 0),
        ("nvidia.com/mig-1g.20gb: 3", "command: [torchrun], ", 0),
        ("nvidia.com/gpu: 3", "", 0),
    ],
)
def test_containers_use_the_devices_that_they_ask_for(limits: str, command: str, count: int) -> None:
    assert len(_remedies(_pod("", limits).replace("image:", f"{command}image:"))) == count


@pytest.mark.parametrize(
    ("alias", "size", "count"),
    [
        ("bottlerocket@latest", "2Gi", 1),
        ("bottlerocket@latest", "4Gi", 0),
        ("bottlerocket@latest", "40Gi", 0),
        ("bottlerocket@latest", "4096Mi", 0),
        ("al2023@latest", "10Gi", 1),
        ("al2023@latest", "20Gi", 0),
        ("al2023@latest", "200Gi", 0),
    ],
)
def test_a_disk_is_as_large_as_its_image(alias: str, size: str, count: int) -> None:
    devices = f"[{{deviceName: /dev/xvda, ebs: {{volumeSize: {size}}}}}, {{deviceName: /dev/xvdb}}]"
    spec = f"amiSelectorTerms: [{{alias: {alias}}}], blockDeviceMappings: {devices}"

    assert len(_remedies(_object("karpenter.k8s.aws/v1", "EC2NodeClass", spec))) == count


@pytest.mark.parametrize(
    ("labels", "count"),
    [
        ('feature.node.kubernetes.io/pci-10de_26b9.present: "true"', 1),
        (f'feature.node.kubernetes.io/pci-10de_26b9.present: "true", {_NVIDIA}', 0),
        (f"{_NVIDIA}, nvidia.com/mig.config: all-enabled", 1),
        (f"{_NVIDIA}, nvidia.com/mig.config: all-1g.10gb", 0),
        (f"{_NVIDIA}, nvidia.com/gpu.deploy.driver: pre-installed", 1),
        (f"{_NVIDIA}, nvidia.com/gpu.deploy.driver: 'true'", 0),
    ],
)
def test_labels_of_nodes_say_what_an_operator_does_there(labels: str, count: int) -> None:
    assert len(_remedies(_policy("driver: {enabled: true, version: 570.1.2}"), _node(labels))) == count


def test_an_exporter_on_gke_knows_the_names_of_gpus() -> None:
    exporter = _object(
        "apps/v1",
        "DaemonSet",
        "template: {spec: {containers: [{name: c, image: nvcr.io/nvidia/k8s/dcgm-exporter:4.2.0, env: [%s]}]}}",
    )
    pods, names = "{name: DCGM_EXPORTER_KUBERNETES}", "{name: DCGM_EXPORTER_KUBERNETES_GPU_ID_TYPE, value: device-name}"

    assert len(_remedies(exporter % pods, _node(_L4))) == 1
    assert _remedies(exporter % f"{pods}, {names}", _node(_L4)) == []
    assert _remedies(exporter % pods, _node("a: b")) == []


def test_nodes_of_karpenter_on_gke_have_the_label_of_their_board() -> None:
    reference = "nodeClassRef: {group: karpenter.k8s.gcp, kind: GCENodeClass, name: x}"
    types = "requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [g2-standard-12]}]"
    pool = _object(
        "karpenter.sh/v1", "NodePool", f"template: {{metadata: {{labels: {{%s}}}}, spec: {{{reference}, {types}}}}}"
    )
    bare = _object("karpenter.k8s.gcp/v1alpha1", "GCENodeClass", "")
    labelled = _object(
        "karpenter.k8s.gcp/v1alpha1", "GCENodeClass", "metadata: {kube-labels: 'gke-accelerator=nvidia-l4'}"
    )

    assert len(_remedies(pool % "", bare)) == 1
    assert _remedies(pool % "", labelled) == []
    assert _remedies(pool % _L4, bare) == []


def test_labels_of_features_need_node_feature_discovery() -> None:
    plugin = _object(
        "deviceplugin.intel.com/v1", "GpuDevicePlugin", "nodeSelector: {intel.feature.node.kubernetes.io/gpu: 'true'}"
    )

    assert len(_remedies(plugin, _node("a: b"))) == 1
    assert _remedies(plugin, _node("feature.node.kubernetes.io/cpu-model.id: '1'")) == []


def test_values_of_the_chart_of_an_operator_are_judged_as_its_policy() -> None:
    values = "daemonsets: {tolerations: [{operator: Exists}]}, driver: {enabled: false}, toolkit: {enabled: true}"
    release = _object(
        "helm.toolkit.fluxcd.io/v2", "HelmRelease", f"chart: {{spec: {{chart: gpu-operator}}}}, values: {{{values}}}"
    )
    application = _object(
        "argoproj.io/v1alpha1", "Application", f"source: {{chart: gpu-operator, helm: {{valuesObject: {{{values}}}}}}}"
    )
    chart = _object("helm.cattle.io/v1", "HelmChart", f"chart: nvidia/gpu-operator, valuesContent: '{{{values}}}'")
    other = release.replace("gpu-operator", "other")

    for each, count in ((release, 1), (application, 1), (chart, 1), (other, 0)):
        assert len(_remedies(each, _node(_NVIDIA, "Talos (v1.10.2)"))) == count
    assert _remedies(release, _node(_NVIDIA)) == []


@pytest.mark.parametrize(
    ("labels", "selector", "count"),
    [
        ("app: dcgm", "matchLabels: {release: kps}", 1),
        ("release: kps", "matchLabels: {release: kps}", 0),
        ("app: dcgm", "", 0),
    ],
)
def test_a_prometheus_selects_the_labels_of_monitors(labels: str, selector: str, count: int) -> None:
    monitor = _object("monitoring.coreos.com/v1", "ServiceMonitor", "endpoints: []", f"name: x, labels: {{{labels}}}")
    prometheus = _object("monitoring.coreos.com/v1", "Prometheus", f"serviceMonitorSelector: {{{selector}}}", "name: p")

    assert len(_remedies(monitor, prometheus)) == count
    assert _remedies(monitor) == []


@pytest.mark.parametrize(
    ("image", "machine", "count"),
    [
        ("AL2023_x86_64_STANDARD", "g5.xlarge", 1),
        ("AL2023_x86_64_NVIDIA", "g5.xlarge", 0),
        ("AL2_x86_64", "m5.xlarge", 0),
    ],
)
def test_images_of_gpu_machines_have_a_driver(image: str, machine: str, count: int) -> None:
    spec = f"amiType: {image}, instanceTypes: [{machine}]"

    assert len(_remedies(_object("eks.services.k8s.aws/v1alpha1", "Nodegroup", spec))) == count


def test_keda_needs_the_kind_of_a_stateful_set_and_a_metric_type_that_it_takes() -> None:
    scaled = _object(
        "keda.sh/v1alpha1", "ScaledObject", "scaleTargetRef: {name: a%s}, triggers: [{type: prometheus%s}]"
    )
    target = _object("apps/v1", "StatefulSet", "", "name: a")

    assert len(_remedies(scaled % ("", ""), target)) == 1
    assert _remedies(scaled % (", kind: StatefulSet", ", metricType: Value"), target) == []
    assert len(_remedies(scaled % (", kind: StatefulSet", ", metricType: Utilization"))) == 1


def test_profiling_metrics_need_a_capability() -> None:
    exporter = _object(
        "apps/v1", "DaemonSet", "template: {spec: {containers: [{name: c, image: lab/dcgm-exporter:4%s}]}}"
    )
    metrics = "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {metrics: '%s, gauge, Use.'}}"
    allowed = ", securityContext: {capabilities: {add: [SYS_ADMIN]}}"

    assert len(_remedies(exporter % "", metrics % "DCGM_FI_PROF_SM_ACTIVE")) == 1
    assert _remedies(exporter % allowed, metrics % "DCGM_FI_PROF_SM_ACTIVE") == []
    assert _remedies(exporter % "", metrics % "DCGM_FI_DEV_GPU_UTIL") == []


@pytest.mark.parametrize(
    ("limits", "labels", "offers", "count"),
    [
        ("nvidia.com/gpu: 1", 'nvidia.com/gpu.deploy.operands: "false"', "", 1),
        ("nvidia.com/gpu: 1", 'nvidia.com/gpu.deploy.operands: "false"', ", nvidia.com/gpu: 1", 0),
        ("nvidia.com/gpu: 1", 'nvidia.com/gpu.deploy.device-plugin: "true"', "", 0),
        ("nvidia.com/gpu: 1", "nvidia.com/gpu.workload.config: vm-passthrough", "", 1),
        ("nvidia.com/gpu: 1", "nvidia.com/gpu.workload.config: container", "", 0),
        ("nvidia.com/mig-1g.10gb: 1", "nvidia.com/mig.config.state: failed", "", 1),
        ("nvidia.com/mig-1g.10gb: 1", "nvidia.com/mig.config.state: success", "", 0),
        ("nvidia.com/gpu: 1", "nvidia.com/mig.config.state: failed", "", 0),
    ],
)
def test_labels_of_nodes_say_why_they_offer_no_device(limits: str, labels: str, offers: str, count: int) -> None:
    assert len(_remedies(_pod("", limits), _node(labels, offers=offers))) == count


def test_a_layout_of_mig_needs_its_manager() -> None:
    node = _node(f"{_NVIDIA}, nvidia.com/mig.config: all-1g.10gb")

    assert len(_remedies(_policy("migManager: {enabled: false}"), node)) == 1
    assert _remedies(_policy("migManager: {enabled: true}"), node) == []


@pytest.mark.parametrize(("amount", "count"), [(1, 0), (2, 1)])
def test_a_program_uses_one_partition_of_gke(amount: int, count: int) -> None:
    selector = "nodeSelector: {cloud.google.com/gke-gpu-partition-size: 1g.5gb}"

    assert len(_remedies(_pod(selector, f"nvidia.com/gpu: {amount}"))) == count
