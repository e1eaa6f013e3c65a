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


_RELEASE = (
    "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: %s}, "
    "spec: {chart: {spec: {chart: %s}}, values: {%s}}}"
)
_WITHOUT_GPUS = "resources: {gpus: {enabled: false}}"


@pytest.mark.parametrize(
    ("values", "count"),
    [("", 1), (_WITHOUT_GPUS, 0), ("gpuResourcesEnabledOverride: true", 0), ("resources: {gpus: {enabled: true}}", 1)],
)
def test_the_chart_of_the_dra_driver_wants_a_word_about_gpus(values: str, count: int) -> None:
    assert len(_findings(_RELEASE % ("d", "nvidia-dra-driver-gpu", values))) == count


@pytest.mark.parametrize(
    ("root", "other", "count"),
    [
        ("", _policy("driver: {enabled: true}"), 1),
        ("", _policy("driver: {enabled: false}"), 0),
        (", nvidiaDriverRoot: /", _policy("driver: {enabled: true}"), 1),
        (", nvidiaDriverRoot: /run/nvidia/driver", _policy("driver: {enabled: true}"), 0),
        ("", _RELEASE % ("g", "gpu-operator", ""), 1),
        ("", _RELEASE % ("g", "gpu-operator", "driver: {enabled: false}"), 0),
        ("", _RELEASE % ("g", "prometheus", ""), 0),
    ],
)
def test_the_dra_driver_looks_for_the_driver_where_it_is(root: str, other: str, count: int) -> None:
    assert len(_findings(_RELEASE % ("d", "nvidia-dra-driver-gpu", _WITHOUT_GPUS + root), other)) == count


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
