"""Fields of kubelets, and the agents of operators, that their nodes or namespaces refuse."""

import pytest

from unit.kinds.reading.rows_written import findings, pod_of, written


def _policy(spec: str) -> str:
    return written("nvidia.com/v1", "ClusterPolicy", spec)


def _agent(image: str, spec: str = "") -> str:
    return written("apps/v1", "DaemonSet", f"template: {{spec: {{{spec}containers: [{{name: c, image: {image}}}]}}}}")


def _kubelet(fields: str) -> str:
    return f"{{apiVersion: kubelet.config.k8s.io/v1beta1, kind: KubeletConfiguration, {fields}}}"


_TAKES = "resourceClaims: [{name: n, resourceClaimTemplateName: t}], "
_OPENSHIFT_CONFIG = ("machineconfiguration.openshift.io/v1", "KubeletConfig", "kubeletConfig: {%s}")
_EKS_CONFIG = ("node.eks.aws/v1alpha1", "NodeConfig", "kubelet: {config: {%s}}")
_USER_DATA = 'userData: "apiVersion: node.eks.aws/v1alpha1\\nkind: NodeConfig\\nspec: {kubelet: {config: {%s}}}"'
_KARPENTER_CONFIG = ("karpenter.k8s.aws/v1", "EC2NodeClass", _USER_DATA)


@pytest.mark.parametrize("config", [_OPENSHIFT_CONFIG, _EKS_CONFIG, _KARPENTER_CONFIG, None])
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ("topologyManagerPolicy: single-numa", "single-numa, which the kubelet refuses"),
        ("topologyManagerPolicy: restricted", ""),
        ("memoryManagerPolicy: Static", "without reservedMemory"),
        ("memoryManagerPolicy: Static, reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]", ""),
        ("evictionSoft: {memory.available: 1Gi}", "memory.available: 1m30s"),
        ("evictionSoft: {memory.available: 1Gi}, evictionSoftGracePeriod: {memory.available: 1m}", ""),
        ("evictionHard: {nodefs.free: 10%}", "is no signal"),
        ("evictionHard: {nodefs.inodesFree: 5%, imagefs.available: 15%, pid.available: 5%}", ""),
        ("systemReserved: {gpu: 1}", "reserves gpu"),
        ("kubeReserved: {ephemeral-storage: 1Gi, pid: 1000, memory: 1Gi, cpu: 1}", ""),
        ("imageGCHighThresholdPercent: 70, imageGCLowThresholdPercent: 80", "lower it below 70"),
        ("imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 70", ""),
    ],
)
def test_the_fields_of_a_kubelet_by_itself_and_inside_other_objects(
    config: tuple[str, str, str] | None, fields: str, words: str
) -> None:
    found = findings(written(config[0], config[1], config[2] % fields) if config else _kubelet(fields))

    assert any(words in each for each in found) if words else not found


@pytest.mark.parametrize(
    ("label", "count"),
    [
        ("node-role.kubernetes.io/gpu=true", 1),
        ("lab=a,node-restriction.kubernetes.io/gpu=true", 1),
        ("node.kubernetes.io/gpu=true", 0),
        ("lab=node-role", 0),
    ],
)
def test_a_kubelet_refuses_labels_of_roles(label: str, count: int) -> None:
    config = written("node.eks.aws/v1alpha1", "NodeConfig", f"kubelet: {{flags: ['--node-labels={label}']}}")

    assert len(findings(config)) == count


_RULE = "rules: [{matchFeatures: [{feature: pci.device, matchExpressions: {vendor: {op: In, value: ['%s']}}}]}]"
_PLUGIN = 'rdmaSharedDevicePlugin: {config: \'{"configList": [{"selectors": {"vendors": ["%s"]}}]}\'}'


@pytest.mark.parametrize(
    ("version", "kind", "spec"),
    [
        ("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule", _RULE),
        ("sriovnetwork.openshift.io/v1", "SriovNetworkNodePolicy", "nicSelector: {vendor: '%s'}"),
        (
            "mellanox.com/v1alpha1",
            "NicClusterPolicy",
            _PLUGIN.replace("'", "''").replace("''{", "'{").replace("}''", "}'"),
        ),
    ],
)
@pytest.mark.parametrize(("number", "count"), [("10DE", 1), ("0x15b3", 1), ("10de", 0), ("1002", 0)])
def test_numbers_of_pci_are_small_letters(version: str, kind: str, spec: str, number: str, count: int) -> None:
    found = findings(written(version, kind, spec % number))

    assert sum("small letters without 0x" in each for each in found) == count


_DEVICE_PLUGIN = "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"
_STATIC = _kubelet("cpuManagerPolicy: static, reservedSystemCPUs: 0-1")


@pytest.mark.parametrize(
    ("agent", "kubelet", "count"),
    [
        (_agent(_DEVICE_PLUGIN), _STATIC, 1),
        (_agent(f"{_DEVICE_PLUGIN}, env: [{{name: PASS_DEVICE_SPECS, value: 'true'}}]"), _STATIC, 0),
        (_agent(f"{_DEVICE_PLUGIN}, args: [--device-list-strategy=cdi-cri]"), _STATIC, 0),
        (_agent(_DEVICE_PLUGIN), _kubelet("cpuManagerPolicy: none"), 0),
        (_agent("lab/other:1"), _STATIC, 0),
    ],
)
def test_static_cores_take_devices_that_the_plugin_does_not_pass(agent: str, kubelet: str, count: int) -> None:
    assert sum("PASS_DEVICE_SPECS" in each for each in findings(agent, kubelet)) == count


def _namespace(name: str, labels: str) -> str:
    return f"{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}, labels: {{{labels}}}}}}}"


_LEVEL = "pod-security.kubernetes.io/enforce: %s"


@pytest.mark.parametrize(
    ("operand", "namespace", "count"),
    [
        (_policy(""), _namespace("gpu-operator", _LEVEL % "restricted"), 1),
        (_policy(""), _namespace("gpu-operator", _LEVEL % "privileged"), 0),
        (_policy(""), _namespace("ml", _LEVEL % "restricted"), 0),
        (
            written("mellanox.com/v1alpha1", "NicClusterPolicy", ""),
            _namespace("network-operator", _LEVEL % "baseline"),
            1,
        ),
        (
            written("amd.com/v1alpha1", "DeviceConfig", "", "name: x, namespace: h"),
            _namespace("h", _LEVEL % "baseline"),
            1,
        ),
        (
            written("amd.com/v1alpha1", "DeviceConfig", "", "name: x, namespace: h"),
            _namespace("i", _LEVEL % "baseline"),
            0,
        ),
    ],
)
def test_the_agents_of_operators_are_privileged(operand: str, namespace: str, count: int) -> None:
    assert sum("privileged agents" in each for each in findings(operand, namespace)) == count


_ADMIN = written(
    "resource.k8s.io/v1",
    "ResourceClaim",
    "devices: {requests: [{name: g, exactly: {deviceClassName: c, adminAccess: true}}]}",
    "name: x, namespace: a",
)
_MAY = "resource.kubernetes.io/admin-access: 'true'"


@pytest.mark.parametrize(
    ("claim", "namespace", "count"),
    [
        (_ADMIN, _namespace("a", ""), 1),
        (_ADMIN, _namespace("a", _MAY), 0),
        (_ADMIN, _namespace("b", ""), 0),
        (_ADMIN.replace("true", "false"), _namespace("a", ""), 0),
    ],
)
def test_admin_access_needs_a_label_of_the_namespace(claim: str, namespace: str, count: int) -> None:
    assert sum("admin access" in each for each in findings(claim, namespace)) == count


_TEMPLATE = (
    "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: t, namespace: a}, spec: "
    "{spec: {devices: {requests: [{name: g, exactly: {deviceClassName: %s}}]}}}}"
)


@pytest.mark.parametrize(
    ("spec", "device_class", "count"),
    [(_TAKES, "gpu.nvidia.com", 1), (_TAKES, "dranet", 0), ("", "gpu.nvidia.com", 0)],
)
def test_gpus_asked_for_twice(spec: str, device_class: str, count: int) -> None:
    found = findings(pod_of(spec=spec), _TEMPLATE % device_class)

    assert sum("GPUs twice" in each for each in found) == count


@pytest.mark.parametrize(
    ("annotation", "scheduler", "count"),
    [
        ("gpu-fraction", "kai-scheduler", 1),
        ("gpu-memory", "runai-scheduler", 1),
        ("gpu-type", "kai-scheduler", 0),
        ("gpu-fraction", "other", 0),
    ],
)
def test_a_fraction_beside_whole_gpus(annotation: str, scheduler: str, count: int) -> None:
    pod = pod_of(spec=f"schedulerName: {scheduler}, ").replace(
        "namespace: a", f"namespace: a, annotations: {{{annotation}: '1'}}"
    )

    assert sum("whole GPUs" in each for each in findings(pod)) == count
