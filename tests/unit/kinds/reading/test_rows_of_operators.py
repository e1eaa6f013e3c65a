"""Rows of `known_keys.yaml` about operators of devices, clouds, drivers of GPUs and drivers of storage."""

import pytest
import yaml

from usher.kinds.reading import refused_values, value_forms
from usher.kinds.reading.values import Objects


def _findings(*texts: str) -> list[str]:
    """Messages and remedies about the first of several objects beside the others."""
    values = [yaml.safe_load(text) for text in texts]
    value, objects = values[0], Objects(values)
    key = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    found = [
        *refused_values.wrong_values(value, key),
        *refused_values.wrong_pods(value, value_forms.pod_specs(value)),
        *refused_values.beside_others(value, key, objects),
    ]
    return [f"{each.text}: {each.remedy}" for each in found]


def _policy(spec: str) -> str:
    return f"{{apiVersion: nvidia.com/v1, kind: ClusterPolicy, metadata: {{name: p}}, spec: {{{spec}}}}}"


def _node(labels: str = "", system: str = "Ubuntu 24.04", kubelet: str = "v1.33.1", offers: str = "cpu: 4") -> str:
    return (
        f"{{apiVersion: v1, kind: Node, metadata: {{name: n1, labels: {{{labels}}}}}, status: {{allocatable: "
        f"{{{offers}}}, nodeInfo: {{osImage: {system}, kubeletVersion: {kubelet}}}}}}}"
    )


def _object(version: str, kind: str, spec: str, metadata: str = "name: x") -> str:
    return f"{{apiVersion: {version}, kind: {kind}, metadata: {{{metadata}}}, spec: {{{spec}}}}}"


def _pod(container: str, spec: str = "", metadata: str = "name: x") -> str:
    return _object("v1", "Pod", f"{spec}containers: [{{name: c, image: lab/c:1, {container}}}]", metadata)


_NVIDIA = 'feature.node.kubernetes.io/pci-10de.present: "true"'
_TOOLKIT = "toolkit: {enabled: true%s}"
_PRIVILEGED_ALONE = "toolkit: {env: [{name: ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED, value: 'false'}]}"


@pytest.mark.parametrize(
    ("more", "node", "socket"),
    [
        ("", _node(_NVIDIA, kubelet="v1.33.1+k3s1"), "/run/k3s/containerd/containerd.sock"),
        ("", _node(_NVIDIA, kubelet="v1.33.1+rke2r1"), "/run/k3s/containerd/containerd.sock"),
        ("", _node(_NVIDIA, kubelet="v1.33.1+k0s"), "/run/k0s/containerd.sock"),
        ("", _node("microk8s.io/cluster: 'true'"), "/var/snap/microk8s/common/run/containerd.sock"),
        ("", _node(_NVIDIA), ""),
        ("", _node("a: b", kubelet="v1.33.1+k3s1"), ""),
        ("", _node(_NVIDIA, kubelet="v1.33.1+k3s1", offers="nvidia.com/gpu: 1"), ""),
        (", env: [{name: CONTAINERD_SOCKET, value: /x}]", _node(_NVIDIA, kubelet="v1.33.1+k3s1"), ""),
        (", env: [{name: RUNTIME_SOCKET, value: /x}]", _node("microk8s.io/cluster: 'true'"), ""),
    ],
)
def test_the_toolkit_finds_the_containerd_of_a_distribution(more: str, node: str, socket: str) -> None:
    found = _findings(_policy(_TOOLKIT % more), node)

    assert len(found) == bool(socket)
    assert all(socket in each for each in found)


@pytest.mark.parametrize(
    ("driver", "system", "count"),
    [
        ("enabled: true", "Amazon Linux 2023.5", 1),
        ("enabled: true", "Debian GNU/Linux 12", 1),
        ("enabled: true", "Ubuntu 22.04.4 LTS", 0),
        ("enabled: false", "Amazon Linux 2023.5", 0),
        ("enabled: true, repository: nvcr.io/nvidia", "Amazon Linux 2023.5", 1),
        ("enabled: true, repository: registry.lab", "Amazon Linux 2023.5", 0),
    ],
)
def test_images_with_a_driver_exist_for_some_systems(driver: str, system: str, count: int) -> None:
    assert len(_findings(_policy(f"driver: {{{driver}}}"), _node(_NVIDIA, system))) == count


def test_a_node_with_a_driver_pulls_no_image_of_it() -> None:
    node = _node(f"{_NVIDIA}, nvidia.com/gpu.deploy.driver: pre-installed", "Amazon Linux 2023.5")

    assert _findings(_policy("driver: {enabled: true}"), node) == []


@pytest.mark.parametrize(
    ("driver", "label", "remedy"),
    [
        ("version: 550.90.07", "nvidia.com/gpu.product: NVIDIA-B200", "570 or newer"),
        ("version: '550'", "nvidia.com/gpu.product: NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "570 or newer"),
        ("version: 570.86.15", "nvidia.com/gpu.product: NVIDIA-B200", ""),
        ("version: 570.86.15", "nvidia.com/gpu.product: NVIDIA-B300", "580 or newer"),
        ("version: 580.82.07", "nvidia.com/gpu.product: NVIDIA-B300", ""),
        ("version: 550.90.07", "node.kubernetes.io/instance-type: p6-b200.48xlarge", "570 or newer"),
        ("version: 550.90.07", "nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3", ""),
        ("version: 590.48.01", "nvidia.com/gpu.product: Tesla-V100-SXM2-32GB", "branch 580"),
        ("version: 580.82.07", "nvidia.com/gpu.product: Tesla-V100-SXM2-32GB", ""),
        ("version: 590.48.01", "nvidia.com/gpu.product: Tesla-T4", ""),
        ("useOpenKernelModules: true", "nvidia.com/gpu.product: Tesla-P40", "auto"),
        ("useOpenKernelModules: true", "nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB", ""),
        ("useOpenKernelModules: false", "nvidia.com/gpu.product: Tesla-P40", ""),
    ],
)
def test_a_branch_of_the_driver_serves_some_generations(driver: str, label: str, remedy: str) -> None:
    found = _findings(_policy(f"driver: {{enabled: true, {driver}}}"), _node(label))

    assert len(found) == bool(remedy)
    assert all(remedy in each for each in found)


def test_a_label_for_virtual_machines_needs_sandbox_workloads() -> None:
    node = _node("nvidia.com/gpu.workload.config: vm-passthrough")

    assert len(_findings(_policy("sandboxWorkloads: {enabled: false}"), node)) == 1
    assert _findings(_policy("sandboxWorkloads: {enabled: true}"), node) == []
    assert _findings(_policy(""), _node("nvidia.com/gpu.workload.config: container")) == []


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ("driver: {kernelModuleType: proprietary}, gds: {enabled: true}", 1),
        ("driver: {kernelModuleType: proprietary}, gds: {enabled: true, version: 2.16.1}", 0),
        ("driver: {kernelModuleType: open}, gds: {enabled: true}", 0),
        ("driver: {kernelModuleType: proprietary}, gds: {enabled: false}", 0),
        ("vgpuManager: {enabled: true}", 1),
        ("vgpuManager: {enabled: true, repository: registry.lab}", 0),
        (_TOOLKIT % "" + ", devicePlugin: {env: [{name: DEVICE_LIST_STRATEGY, value: volume-mounts}]}", 1),
        (_TOOLKIT % "" + ", devicePlugin: {env: [{name: DEVICE_LIST_STRATEGY, value: envvar}]}", 0),
        (
            _TOOLKIT % ", env: [{name: ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS, value: 'true'}]"
            + ", devicePlugin: {env: [{name: DEVICE_LIST_STRATEGY, value: volume-mounts}]}",
            0,
        ),
        (
            f"cdi: {{enabled: false}}, devicePlugin: {{enabled: true}}, {_PRIVILEGED_ALONE}",
            1,
        ),
        (
            f"cdi: {{enabled: true}}, devicePlugin: {{enabled: true}}, {_PRIVILEGED_ALONE}",
            0,
        ),
    ],
)
def test_parts_of_the_gpu_operator_fit_together(spec: str, count: int) -> None:
    assert len(_findings(_policy(spec))) == count


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ("draDriver: {enable: true}", 1),
        ("draDriver: {enable: true}, devicePlugin: {enableDevicePlugin: false}", 0),
        ("devicePlugin: {devicePluginArguments: {resource_naming_strategy: mixed}}", 0),
        ("devicePlugin: {devicePluginArguments: {resource_naming_strategy: both}}", 1),
        ("devicePlugin: {devicePluginArguments: {pulse: '5'}}", 1),
        ("remediationWorkflow: {enable: true}", 1),
        ("remediationWorkflow: {enable: true, config: {name: c}}", 0),
    ],
)
def test_the_operator_of_amd_takes_certain_values(spec: str, count: int) -> None:
    assert len(_findings(_object("amd.com/v1alpha1", "DeviceConfig", spec))) == count


@pytest.mark.parametrize(
    ("container", "spec", "count"),
    [
        ("resources: {limits: {aws.amazon.com/neurondevice: 1}}", "", 1),
        ("resources: {limits: {aws.amazon.com/neuron: 1}}", "", 0),
        ("resources: {limits: {nvidia.com/gpu: 1}}", "runtimeClassName: kata-qemu-nvidia-gpu, ", 1),
        ("resources: {limits: {nvidia.com/pgpu: 1}}", "runtimeClassName: kata-qemu-nvidia-gpu, ", 0),
        ("resources: {limits: {nvidia.com/gpu: 1}}", "runtimeClassName: nvidia, ", 0),
        ("env: [{name: NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY, value: /dev/aperture_devices}]", "", 1),
        (
            "env: [{name: NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY, value: /dev/aperture_devices}]",
            "volumes: [{name: a, hostPath: {path: /dev/aperture_devices}}], ",
            0,
        ),
        ("command: [vllm, serve, m], resources: {limits: {nvidia.com/mig-1g.10gb: 2}}", "", 1),
        ("command: [vllm, serve, m], resources: {limits: {nvidia.com/mig-1g.10gb: 1}}", "", 0),
        ("command: [bash, run.sh], resources: {limits: {nvidia.com/mig-1g.10gb: 2}}", "", 0),
    ],
)
def test_devices_and_what_a_container_needs_for_them(container: str, spec: str, count: int) -> None:
    assert len(_findings(_pod(container, spec))) == count


def _node_pool(group: str, keys: str, taint: str = "") -> str:
    requirements = ", ".join(f"{{key: {key}, operator: In, values: [{value}]}}" for key, value in yaml.safe_load(keys))
    taints = f"taints: [{{key: {taint}, effect: NoSchedule}}], " if taint else ""
    return _object(
        "karpenter.sh/v1",
        "NodePool",
        f"template: {{spec: {{{taints}nodeClassRef: {{group: {group}, name: g}}, requirements: [{requirements}]}}}}",
    )


@pytest.mark.parametrize(
    ("group", "key", "count"),
    [
        ("karpenter.k8s.aws", "karpenter.k8s.aws/instance-gpu-name", 0),
        ("karpenter.k8s.aws", "karpenter.k8s.aws/instance-gpu-type", 1),
        ("karpenter.k8s.aws", "karpenter.azure.com/sku-gpu-name", 1),
        ("karpenter.azure.com", "karpenter.azure.com/sku-gpu-name", 0),
        ("karpenter.azure.com", "karpenter.azure.com/sku-gpu-names", 1),
        ("karpenter.azure.com", "karpenter.k8s.aws/instance-family", 1),
    ],
)
def test_a_node_pool_has_the_labels_of_its_provider(group: str, key: str, count: int) -> None:
    assert len(_findings(_node_pool(group, f"[['{key}', a]]"))) == count


_CLASS = "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: g}, spec: {%s}}"


@pytest.mark.parametrize(
    ("keys", "taint", "spec", "count"),
    [
        ("[['karpenter.k8s.aws/instance-family', g5]]", "", "amiFamily: AL2023", 1),
        ("[['node.kubernetes.io/instance-type', p5.48xlarge]]", "", "amiFamily: AL2023", 1),
        ("[['karpenter.k8s.aws/instance-family', c5]]", "nvidia.com/gpu", "amiFamily: AL2023", 1),
        ("[['karpenter.k8s.aws/instance-family', m5]]", "", "amiFamily: AL2023", 0),
        ("[['karpenter.k8s.aws/instance-family', g5]]", "", "blockDeviceMappings: [{deviceName: /dev/xvda}]", 0),
        ("[['karpenter.k8s.aws/instance-family', g5]]", "", "instanceStorePolicy: RAID0", 0),
        ("[['karpenter.k8s.aws/instance-family', g5]]", "", "amiFamily: Custom", 0),
    ],
)
def test_nodes_with_gpus_have_a_disk_for_large_images(keys: str, taint: str, spec: str, count: int) -> None:
    assert len(_findings(_node_pool("karpenter.k8s.aws", keys, taint), _CLASS % spec)) == count


@pytest.mark.parametrize(
    ("group", "count"),
    [
        ("instanceType: g5.2xlarge, volumeSize: 20", 1),
        ("instanceType: g5.2xlarge, volumeSize: 200", 0),
        ("instanceTypes: [p5.48xlarge], volumeSize: 30", 1),
        ("instanceType: m5.large, volumeSize: 20", 0),
    ],
)
def test_a_node_group_with_gpus_has_a_disk_for_large_images(group: str, count: int) -> None:
    config = "{apiVersion: eksctl.io/v1alpha5, kind: ClusterConfig, metadata: {name: c}, managedNodeGroups: [{%s}]}"

    assert len(_findings(config % f"name: g, {group}")) == count


@pytest.mark.parametrize(
    ("class_", "seconds", "count"),
    [
        ("queued-provisioning.gke.io", 1209600, 1),
        ("queued-provisioning.gke.io", 604800, 0),
        ("check-capacity.autoscaling.x-k8s.io", 1209600, 0),
    ],
)
def test_gke_gives_queued_nodes_for_seven_days(class_: str, seconds: int, count: int) -> None:
    spec = f"provisioningClassName: {class_}, parameters: {{maxRunDurationSeconds: '{seconds}'}}"

    assert len(_findings(_object("autoscaling.x-k8s.io/v1", "ProvisioningRequest", spec))) == count


@pytest.mark.parametrize(
    ("labels", "machine", "target", "count"),
    [
        ("", "g5.2xlarge", "gpu", 1),
        ("cluster-api/accelerator: a10g", "g5.2xlarge", "gpu", 0),
        ("", "m5.large", "gpu", 0),
        ("", "g5.2xlarge", "other", 0),
    ],
)
def test_the_autoscaler_of_openshift_knows_machines_with_gpus(
    labels: str, machine: str, target: str, count: int
) -> None:
    provider = f"providerSpec: {{value: {{instanceType: {machine}}}}}"
    spec = f"template: {{spec: {{metadata: {{labels: {{{labels}}}}}, {provider}}}}}"
    machines = _object("machine.openshift.io/v1beta1", "MachineSet", spec, "name: gpu")
    scaler = _object("autoscaling.openshift.io/v1beta1", "MachineAutoscaler", f"scaleTargetRef: {{name: {target}}}")

    assert len(_findings(machines, scaler)) == count


@pytest.mark.parametrize(
    ("name", "labels", "system", "count"),
    [
        ("gpu-operator", "", "Talos (v1.10.2)", 1),
        ("nvidia-device-plugin", "", "Talos (v1.10.2)", 1),
        ("gpu-operator", "pod-security.kubernetes.io/enforce: privileged", "Talos (v1.10.2)", 0),
        ("gpu-operator", "", "Ubuntu 24.04", 0),
        ("train", "", "Talos (v1.10.2)", 0),
    ],
)
def test_talos_admits_agents_of_devices_in_a_privileged_namespace(
    name: str, labels: str, system: str, count: int
) -> None:
    namespace = f"{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}, labels: {{{labels}}}}}}}"

    assert len(_findings(namespace, _node(_NVIDIA, system))) == count


@pytest.mark.parametrize(
    ("claim", "volume", "count"),
    [
        ("", "storageClassName: ''", 1),
        ("", "capacity: {storage: 1Gi}", 1),
        ("storageClassName: '', ", "storageClassName: ''", 0),
        ("", "storageClassName: fast", 0),
    ],
)
def test_a_claim_of_a_volume_without_a_class_says_that_it_has_no_class(claim: str, volume: str, count: int) -> None:
    objects = (
        _object("v1", "PersistentVolumeClaim", f"{claim}volumeName: v", "name: c, namespace: a"),
        _object("v1", "PersistentVolume", volume, "name: v"),
    )

    assert len(_findings(*objects)) == count


@pytest.mark.parametrize(
    ("attributes", "remedy"),
    [
        ("", "add dnsname"),
        ("dnsname: fs-1.fsx.us-east-1.amazonaws.com", "add the mountname"),
        ("dnsname: fs-1.fsx.us-east-1.amazonaws.com, mountname: abc", ""),
    ],
)
def test_a_file_system_of_fsx_has_its_names(attributes: str, remedy: str) -> None:
    spec = f"csi: {{driver: fsx.csi.aws.com, volumeHandle: fs-1, volumeAttributes: {{{attributes}}}}}"
    found = _findings(_object("v1", "PersistentVolume", spec))

    assert len(found) == bool(remedy)
    assert all(remedy in each for each in found)


def test_volumes_of_efs_need_a_file_system() -> None:
    made = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: c}, provisioner: efs.csi.aws.com%s}"

    assert len(_findings(made % ", parameters: {provisioningMode: efs-ap}")) == 1
    assert _findings(made % ", parameters: {provisioningMode: efs-ap, fileSystemId: fs-1}") == []
    assert _findings(made % "") == []


@pytest.mark.parametrize(
    ("type_", "count"),
    [
        ("", 1),
        (", type: Opaque", 1),
        (", type: kubernetes.io/dockerconfigjson", 0),
        (", type: kubernetes.io/dockercfg", 0),
    ],
)
def test_kubelets_read_secrets_of_registries(type_: str, count: int) -> None:
    pod = "imagePullSecrets: [{name: s}], containers: [{name: c, image: lab/c:1}]"
    secret = f"{{apiVersion: v1, kind: Secret, metadata: {{name: s, namespace: a}}{type_}}}"
    job = _object("batch/v1", "Job", f"template: {{spec: {{{pod}}}}}", "name: j, namespace: a")

    assert len(_findings(job, secret)) == count
    assert _findings(job.replace("namespace: a", "namespace: b"), secret) == []


def _kubevirt(more: str) -> str:
    device = f"{{pciVendorSelector: '10DE:2331', resourceName: nvidia.com/GH100{more}}}"
    spec = f"configuration: {{permittedHostDevices: {{pciHostDevices: [{device}]}}}}"
    return _object("kubevirt.io/v1", "KubeVirt", spec)


def _machine(domain: str, more: str = "") -> str:
    spec = f"{more}template: {{spec: {{domain: {{{domain}}}}}}}"
    return _object("kubevirt.io/v1", "VirtualMachine", spec)


def _device_config(driver: str, plugin: str) -> str:
    return _object("amd.com/v1alpha1", "DeviceConfig", f"driver: {driver}, devicePlugin: {plugin}")


def _config_map(data: str) -> str:
    return f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m}}, data: {{{data}}}}}"


def _claim(expression: str) -> str:
    request = (
        f"{{name: g, exactly: {{deviceClassName: gpu.nvidia.com, selectors: [{{cel: {{expression: {expression}}}}}]}}}}"
    )
    return _object("resource.k8s.io/v1", "ResourceClaim", f"devices: {{requests: [{request}]}}")


def _agent(image: str, container: str = "") -> str:
    spec = f"template: {{spec: {{containers: [{{name: c, image: {image}, {container}}}]}}}}"
    return _object("apps/v1", "DaemonSet", spec)


_EXPORTER = "dcgmExporter: {env: [{name: %s, value: '%s'}]%s}%s"
_LICENCE = "driver: {enabled: false, licensingConfig: {configMapName: m, nlsEnabled: %s}}"
_SANDBOX = "sandboxWorkloads: {enabled: true, defaultWorkload: vm-passthrough}"
_UPGRADE = "driver: {enabled: false, upgradePolicy: {autoUpgrade: %s, maxUnavailable: %s}}"
_SHARE = "resources: {limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: %s}}"
_NUMA = "cpu: {dedicatedCpuPlacement: %s, numa: {guestMappingPassthrough: {}}}%s"
_WORKER = "nfd-worker.conf: 'core: {%s}'"
_ONE = "cpu: 4, nvidia.com/gpu: 1"
_RUNS_ON = """{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: n}, handler: runc,
  scheduling: {nodeSelector: {%s: a}}}"""
_MEMORY = """affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
  {matchExpressions: [{key: nvidia.com/gpu.memory, operator: %s, values: ["%s"]}]}]}}}, """
_NICS = "{apiVersion: mellanox.com/v1alpha1, kind: NicClusterPolicy, metadata: {name: n}, spec: {%s}}"
_TEMPLATE = """{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: t%s},
  spec: {spec: {devices: {requests: []}}}}"""
_DOMAIN = """{apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomain, metadata: {name: d},
  spec: {channel: {resourceClaimTemplate: {name: t}}}}"""
_SLICE = "resources: {limits: {nvidia.com/mig-1g.10gb: 1}}"
_POOL = "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: k}, spec: {template: {spec: {}}}}"
_GATES = "DynamicMIG=true,MPSSupport=%s"


@pytest.mark.parametrize(
    ("value", "others", "count"),
    [
        (_policy(_EXPORTER % ("DCGM_EXPORTER_COLLECTORS", "/etc/dcgm-exporter/mine.csv", "", "")), (), 1),
        (_policy(_EXPORTER % ("DCGM_EXPORTER_COLLECTORS", "/etc/dcgm-exporter/default-counters.csv", "", "")), (), 0),
        (_policy(_EXPORTER % ("DCGM_EXPORTER_COLLECTORS", "/etc/dcgm-exporter/a", ", config: {name: m}", "")), (), 0),
        (
            _policy(_EXPORTER % ("DCGM_REMOTE_HOSTENGINE_INFO", "nvidia-dcgm:5555", "", ", dcgm: {enabled: false}")),
            (),
            1,
        ),
        (_policy(_EXPORTER % ("DCGM_REMOTE_HOSTENGINE_INFO", "nvidia-dcgm:5555", "", "")), (), 0),
        (_policy(_UPGRADE % ("true", "0")), (), 1),
        (_policy(_UPGRADE % ("true", "0%")), (), 1),
        (_policy(_UPGRADE % ("true", "10%")), (), 0),
        (_policy(_UPGRADE % ("false", "0")), (), 0),
        (_policy(_LICENCE % "true"), (_config_map("gridd.conf: a"),), 1),
        (_policy(_LICENCE % "true"), (_config_map("gridd.conf: a, client_configuration_token.tok: b"),), 0),
        (_policy(_LICENCE % "false"), (_config_map("gridd.conf: a"),), 0),
        (_policy("driver: {kernelModuleConfig: {name: m}}"), (_config_map("options: a"),), 1),
        (_policy("driver: {kernelModuleConfig: {name: m}}"), (_config_map("nvidia.conf: a"),), 0),
        (_kubevirt(""), (_policy(_SANDBOX),), 1),
        (_kubevirt(", externalResourceProvider: true"), (_policy(_SANDBOX),), 0),
        (_kubevirt(""), (_policy("sandboxWorkloads: {enabled: false}"),), 0),
        (_pod("resources: {limits: {nvidia.com/gpu: 1}}"), (_policy(_SANDBOX),), 1),
        (_pod("resources: {limits: {nvidia.com/gpu: 1}}"), (_policy(_SANDBOX), _node()), 0),
        (_pod("resources: {limits: {nvidia.com/gpu: 1}}"), (_policy("sandboxWorkloads: {enabled: true}"),), 0),
        (_machine(_NUMA % ("false", "")), (), 1),
        (_machine(_NUMA % ("true", "")), (), 1),
        (_machine(_NUMA % ("true", ", memory: {hugepages: {pageSize: 1Gi}}")), (), 0),
        (_machine(_NUMA % ("false", ""), "instancetype: {name: u}, "), (), 0),
        (_machine("resources: {limits: {nvidia.com/gpu: 1}}"), (), 1),
        (_machine("resources: {limits: {memory: 1Gi}}"), (), 0),
        (_node("nvidia.com/mig.config: all-1g.12gb, nvidia.com/gpu.product: NVIDIA-L40S"), (), 1),
        (_node("nvidia.com/mig.config: all-1g.12gb, nvidia.com/gpu.product: NVIDIA-L40S-SHARED"), (), 1),
        (_node("nvidia.com/mig.config: all-disabled, nvidia.com/gpu.product: Tesla-T4"), (), 0),
        (_node("nvidia.com/mig.config: all-1g.10gb, nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB"), (), 0),
        (_node("nvidia.com/mig.config: all-1g.10gb, nvidia.com/mig.capable: 'false'"), (), 1),
        (_node("nvidia.com/vgpu.config: A40-8Q"), (_config_map("config.yaml: 'vgpu-configs: {small: []}'"),), 1),
        (_node("nvidia.com/vgpu.config: small"), (_config_map("config.yaml: 'vgpu-configs: {small: []}'"),), 0),
        (_pod("resources: {limits: {aws.amazon.com/neuron: 1, aws.amazon.com/neuroncore: 2}}"), (), 1),
        (_pod("resources: {limits: {aws.amazon.com/neuroncore: 2}}"), (), 0),
        (_pod("resources: {limits: {aws.amazon.com/neuron: 3}}", "nodeSelector: {a: trn1.32xlarge}, "), (), 1),
        (_pod("resources: {limits: {aws.amazon.com/neuron: 8}}", "nodeSelector: {a: trn1.32xlarge}, "), (), 0),
        (_pod("resources: {limits: {aws.amazon.com/neuron: 3}}", "nodeSelector: {a: inf2.48xlarge}, "), (), 0),
        (_pod(_SHARE % "8Gi"), (), 1),
        (_pod(_SHARE % "24000000000"), (), 1),
        (_pod(_SHARE % "3000"), (), 0),
        (_pod(_SHARE % "8k"), (), 0),
        (_pod("resources: {limits: {volcano.sh/vgpu-number: 1}}"), (), 1),
        (_pod("resources: {limits: {volcano.sh/vgpu-number: 1}}", "schedulerName: volcano, "), (), 0),
        (_claim("""'device.capacity["gpu.nvidia.com"].memory >= quantity("40Gi")'"""), (), 1),
        (_claim("""'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0'"""), (), 0),
        (_claim("""'device.attributes["gpu.nvidia.com"].driverVersion >= "550.0.0"'"""), (), 1),
        (_claim("""'device.attributes["gpu.nvidia.com"].driverVersion.isGreaterThan(semver("5.0.0"))'"""), (), 0),
        (_claim("""'device.attributes["gpu.nvidia.com"].type == "gpu"'"""), (), 0),
        (_agent("projecthami/hami:v2.5.0", "command: [nvidia-device-plugin]"), (_policy("gfd: {}"),), 1),
        (_agent("projecthami/hami:v2.5.0", "command: [scheduler]"), (_policy("gfd: {}"),), 0),
        (
            _agent("projecthami/hami:v2.5.0", "command: [nvidia-device-plugin]"),
            (_policy("devicePlugin: {enabled: false}"),),
            0,
        ),
        (_agent("lab/dra-driver-gpu:1", f"env: [{{name: FEATURE_GATES, value: '{_GATES % 'true'}'}}]"), (), 1),
        (_agent("lab/dra-driver-gpu:1", f"env: [{{name: FEATURE_GATES, value: '{_GATES % 'false'}'}}]"), (), 0),
        (_agent("nvcr.io/nvidia/k8s-device-plugin:v0.17.1"), (_node(kubelet="v1.33.1+k3s1"),), 1),
        (_agent("nvcr.io/nvidia/k8s-device-plugin:v0.17.1"), (_node(system="Talos (v1.10.2)"),), 1),
        (_agent("nvcr.io/nvidia/k8s-device-plugin:v0.17.1"), (_node(),), 0),
        (
            _agent("nvcr.io/nvidia/k8s-device-plugin:v0.17.1"),
            (_node(kubelet="v1.33.1+k3s1"), _node(kubelet="v1.33.1+k3s1", offers=_ONE).replace("n1", "n2")),
            0,
        ),
        (_agent("nvcr.io/nvidia/k8s-device-plugin:v0.17.1"), (_node(kubelet="v1.33.1+k3s1", offers=_ONE),), 0),
        (
            _agent("nvcr.io/nvidia/k8s-device-plugin:v0.17.1").replace("spec: {con", "spec: {runtimeClassName: n, con"),
            (_node(kubelet="v1.33.1+k3s1"),),
            0,
        ),
        (_pod("resources: {}", _MEMORY % ("Gt", "40")), (), 1),
        (_pod("resources: {}", _MEMORY % ("Gt", "40Gi")), (), 1),
        (_pod("resources: {}", _MEMORY % ("Gt", "40000")), (), 0),
        (_pod("resources: {}", _MEMORY % ("In", "40")), (), 0),
        (_pod("resources: {}", "nodeSelector: {nvidia.com/gpu.product: Tesla T4}, "), (), 1),
        (_pod("resources: {}", "nodeSelector: {nvidia.com/gpu.product: Tesla-T4}, "), (), 0),
        (_device_config("{enable: true, blacklist: true}", "{enableNodeLabeller: false}"), (), 1),
        (_device_config("{enable: true, blacklist: true}", "{}"), (), 0),
        (_device_config("{enable: true, blacklist: true}", "{}"), (_node("node.openshift.io/os_id: rhel"),), 1),
        (_device_config("{enable: true, blacklist: false}", "{}"), (_node("node.openshift.io/os_id: rhel"),), 0),
        (_policy("gds: {enabled: true}, driver: {usePrecompiled: true}"), (), 1),
        (_policy("gdrcopy: {enabled: true}, driver: {usePrecompiled: true}"), (), 1),
        (_policy("gds: {enabled: true}, driver: {usePrecompiled: false}"), (), 0),
        (_policy("driver: {rdma: {enabled: true, useHostMofed: true}}"), (_NICS % "ofedDriver: {image: a}",), 1),
        (_policy("driver: {rdma: {enabled: true, useHostMofed: true}}"), (_NICS % "",), 0),
        (_pod("resources: {limits: {nvidia.com/pgpu: 1}}"), (_policy("gfd: {}"),), 1),
        (_pod("resources: {limits: {nvidia.com/pgpu: 1}}"), (_policy(_SANDBOX),), 0),
        (_TEMPLATE % "", (_DOMAIN,), 1),
        (_TEMPLATE % ", labels: {resource.nvidia.com/computeDomain: a}", (_DOMAIN,), 0),
        (_TEMPLATE.replace("name: t", "name: u") % "", (_DOMAIN,), 0),
        (_pod(_SLICE), (_agent("nvcr.io/nvidia/k8s-device-plugin:v0.17.1"),), 1),
        (_pod(_SLICE), (_agent("nvcr.io/nvidia/k8s-device-plugin:v0.17.1", "args: [--mig-strategy=mixed]"),), 0),
        (_pod(_SLICE), (_agent("nvcr.io/nvidia/k8s-device-plugin:v0.17.1", "env: [{name: CONFIG_FILE}]"),), 0),
        (_pod(_SLICE), (_POOL,), 1),
        (_pod(_SLICE), (_POOL, _node()), 0),
        (_agent("nvcr.io/nvidia/k8s-device-plugin:v0.17.1"), (_policy("gfd: {}"),), 1),
        (_agent("nvcr.io/nvidia/k8s-device-plugin:v0.17.1"), (_policy("devicePlugin: {enabled: false}"),), 0),
        (_RUNS_ON % "gpu", (_node("gpu: a"),), 0),
        (_RUNS_ON % "gpu", (_node("cpu: a"),), 1),
        (_config_map(_WORKER % "labelSources: [all, -pci]"), (), 1),
        (_config_map(_WORKER % "labelSources: [cpu]"), (_policy("gfd: {}"),), 1),
        (_config_map(_WORKER % "labelSources: [cpu, pci]"), (_policy("gfd: {}"),), 0),
        (_config_map(_WORKER % "featureSources: [cpu]"), (_policy("gfd: {}"),), 1),
        (_config_map(_WORKER % "featureSources: [all]"), (_policy("gfd: {}"),), 0),
        (
            "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: n}, handler: nvidia-container-runtime}",
            (_node(kubelet="v1.33.1+k3s1"),),
            1,
        ),
        (
            "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: n}, handler: nvidia}",
            (_node(kubelet="v1.33.1+k3s1"),),
            0,
        ),
        (
            "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: n}, handler: nvidia-container-runtime}",
            (_node(),),
            0,
        ),
    ],
)
def test_operators_and_their_objects_agree(value: str, others: tuple[str, ...], count: int) -> None:
    assert len(_findings(value, *others)) == count
