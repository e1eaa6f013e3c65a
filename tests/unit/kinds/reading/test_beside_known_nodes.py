"""Objects choose drivers, zones, devices and names beside known nodes, volumes, networks and policies."""

from typing import Any

import pytest
import yaml

from usher.kinds.reading import chosen_boards, inner_names, value_forms
from usher.kinds.reading.values import Objects

_Json = dict[str, Any]


def _found(value: str, others: str = "") -> list[str]:
    """The remedies of the findings about an object beside others of the same files."""
    given: _Json = yaml.safe_load(value)
    objects = Objects([given, *filter(None, yaml.safe_load_all(others))])
    key = str(given["apiVersion"]).rpartition("/")[0], str(given["kind"])
    files = inner_names.Files("", objects, objects, None)
    found = [
        *chosen_boards.beside_others(given, key, objects),
        *inner_names.names_of_nothing(given, key, value_forms.pod_specs(given), files),
    ]
    return [each.remedy for each in found]


def _node(labels: str, amounts: str = "nvidia.com/gpu: '8'") -> str:
    metadata, status = f"{{name: n, labels: {{{labels}}}}}", f"{{allocatable: {{{amounts}}}}}"
    return f"{{apiVersion: v1, kind: Node, metadata: {metadata}, status: {status}}}"


def _pod(image: str = "x", rest: str = "", annotations: str = "", limits: str = "nvidia.com/gpu: 1") -> str:
    containers = f"[{{name: c, image: '{image}', resources: {{limits: {{{limits}}}}}}}]"
    metadata = f"{{name: p, annotations: {{{annotations}}}}}"
    return f"{{apiVersion: v1, kind: Pod, metadata: {metadata}, spec: {{containers: {containers}{rest}}}}}"


_POLICY = "{apiVersion: nvidia.com/v1, kind: ClusterPolicy, metadata: {name: c}, spec: {%s}}"


@pytest.mark.parametrize(
    ("module", "product", "wrong"),
    [
        ("proprietary", "NVIDIA-B200", True),
        ("proprietary", "NVIDIA-GeForce-RTX-5090", True),
        ("proprietary", "NVIDIA-H100-80GB-HBM3", False),
        ("open", "Tesla-V100-SXM2-32GB", True),
        ("open", "NVIDIA-B200", False),
        ("auto", "NVIDIA-B200", False),
    ],
)
def test_kernel_modules_are_compared_with_the_boards_of_nodes(module: str, product: str, *, wrong: bool) -> None:
    policy = _POLICY % f"driver: {{kernelModuleType: {module}}}"

    assert _found(policy, _node(f"nvidia.com/gpu.product: {product}")) == (
        ["set kernelModuleType to auto"] if wrong else []
    )


@pytest.mark.parametrize(
    ("image", "product", "driver", "remedies"),
    [
        ("cuda:13.0.1-base", "NVIDIA-GeForce-RTX-4090", "550", []),  # Not an image of a repository: nvidia/cuda.
        ("nvidia/cuda:13.0.1-base", "NVIDIA-GeForce-RTX-4090", "550", ["580"]),
        ("lab/torch:2.9-cu130", "NVIDIA-GeForce-RTX-4090", "580", []),
        ("lab/torch:2.9-cuda13.0", "NVIDIA-L40S", "550", []),
        ("lab/torch:2.9-cuda13.0", "NVIDIA-L40S", "525", ["580"]),
        ("lab/torch:2.4-cu124", "NVIDIA-GeForce-RTX-3090", "470", ["525"]),
        ("lab/torch:2.4-cu124", "NVIDIA-GeForce-RTX-3090", "unknown", []),
    ],
)
def test_the_cuda_of_an_image_is_compared_with_the_drivers_of_nodes(
    image: str, product: str, driver: str, remedies: list[str]
) -> None:
    node = _node(f"nvidia.com/gpu.product: {product}, nvidia.com/cuda.driver-version.major: '{driver}'")

    assert _found(_pod(image), node) == [
        f"use an image with an older CUDA, or update the driver to {least} or later" for least in remedies
    ]


_CLAIM = """
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: m}, spec: {volumeName: v, storageClassName: s}}
---
"""
_ZONES = "{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]}"
_VOLUME = (
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {nodeAffinity: {required: "
    f"{{nodeSelectorTerms: [{_ZONES}]}}}}}}}}"
)
_STORAGE = (
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, allowedTopologies: "
    "[{matchLabelExpressions: [{key: topology.ebs.csi.aws.com/zone, values: [a]}]}]}"
)


@pytest.mark.parametrize("volume", [_VOLUME, _STORAGE])
@pytest.mark.parametrize(("zone", "wrong"), [("a", False), ("b", True), ("", False)])
def test_the_zone_of_a_volume_is_compared_with_those_of_nodes(volume: str, zone: str, *, wrong: bool) -> None:
    pod = _pod(rest=", volumes: [{name: m, persistentVolumeClaim: {claimName: m}}]")
    node = _node(f"topology.kubernetes.io/zone: '{zone}'")

    assert _found(pod, node + _CLAIM + volume) == (["make the volume in a zone of these nodes"] if wrong else [])


_NETWORK = (
    "{apiVersion: k8s.cni.cncf.io/v1, kind: NetworkAttachmentDefinition, metadata: {name: net, annotations: "
    "{k8s.v1.cni.cncf.io/resourceName: nvidia.com/vf}}, spec: {config: '{}'}}"
)


@pytest.mark.parametrize(
    ("networks", "limits", "count"),
    [
        ("net, lab/net@eth1", "nvidia.com/gpu: 1", 1),
        ("net", "nvidia.com/gpu: 1, nvidia.com/vf: 1", 0),
        ("other", "nvidia.com/gpu: 1", 0),
        ('[{"name": "net"}]', "nvidia.com/gpu: 1", 1),
        ("net", "nvidia.com/gpu: 1, nvidia.com/vf: 2", 1),
        ("net, net", "nvidia.com/gpu: 1, nvidia.com/vf: 2", 0),
        ("net, unknown", "nvidia.com/gpu: 1, nvidia.com/vf: 2", 0),
        ("unknown", "nvidia.com/gpu: 1, nvidia.com/vf: 2", 0),
    ],
)
def test_a_pod_asks_for_as_many_devices_as_its_networks_have(networks: str, limits: str, count: int) -> None:
    annotations = f"k8s.v1.cni.cncf.io/networks: '{networks}'"

    assert len(_found(_pod(annotations=annotations, limits=limits), _NETWORK)) == count


@pytest.mark.parametrize(
    ("config", "labels", "count"),
    [
        ("name: shares", "", 1),
        ("name: shares, default: any", "", 0),
        ("name: shares", ", nvidia.com/device-plugin.config: any", 0),
    ],
)
def test_a_configuration_without_a_default_needs_a_node_that_chooses_it(config: str, labels: str, count: int) -> None:
    policy = _POLICY % f"devicePlugin: {{config: {{{config}}}}}"

    assert len(_found(policy, _node("nvidia.com/gpu.product: NVIDIA-L4" + labels))) == count


@pytest.mark.parametrize(
    ("rdma", "nic", "count"),
    [("", "", 1), (", useHostMofed: true", "", 0), ("", "ofedDriver: {image: doca-driver}", 0)],
)
def test_a_driver_with_rdma_waits_for_one_that_something_installs(rdma: str, nic: str, count: int) -> None:
    policy = _POLICY % f"driver: {{rdma: {{enabled: true{rdma}}}}}"
    beside = f"{{apiVersion: mellanox.com/v1alpha1, kind: NicClusterPolicy, metadata: {{name: a}}, spec: {{{nic}}}}}"

    assert len(_found(policy, beside)) == count


@pytest.mark.parametrize(
    ("gpu", "remedies"),
    [
        ("type: nvidia-tesla-t4, count: 1", ["write nvidia-l4, or leave gpu out"]),
        ("type: nvidia-l4, count: 2", ["write 1, or leave gpu out"]),
        ("type: nvidia-l4, count: 1", []),
    ],
)
def test_the_gpu_of_a_compute_class_is_that_of_its_machine_type(gpu: str, remedies: list[str]) -> None:
    priority = f"{{machineType: g2-standard-4, gpu: {{{gpu}}}}}"
    spec = f"{{priorities: [{priority}]}}"

    assert (
        _found(f"{{apiVersion: cloud.google.com/v1, kind: ComputeClass, metadata: {{name: c}}, spec: {spec}}}")
        == remedies
    )


_MACHINE = (
    "{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: m}, spec: {template: {spec: {domain: "
    "{devices: {gpus: [{name: g, deviceName: %s}]}}}}}}"
)
_KUBEVIRT = (
    "{apiVersion: kubevirt.io/v1, kind: KubeVirt, metadata: {name: k}, spec: {configuration: {permittedHostDevices: "
    "{pciHostDevices: [{resourceName: nvidia.com/T4}], mediatedDevices: [{resourceName: nvidia.com/A10-4Q}]}}}}"
)


@pytest.mark.parametrize(("device", "count"), [("nvidia.com/T4", 0), ("nvidia.com/A10-4Q", 0), ("nvidia.com/L40S", 1)])
def test_a_machine_asks_for_a_permitted_device(device: str, count: int) -> None:
    assert len(_found(_MACHINE % device, _KUBEVIRT)) == count
    assert _found(_MACHINE % device) == []


def test_a_network_has_the_resource_of_a_policy() -> None:
    network = (
        "{apiVersion: sriovnetwork.openshift.io/v1, kind: SriovNetwork, metadata: {name: n}, spec: {resourceName: %s}}"
    )
    policy = (network % "vf").replace("kind: SriovNetwork", "kind: SriovNetworkNodePolicy")

    assert _found(network % "vf", policy) == []
    assert _found(network % "other", policy) == ["name one that they have (vf), or add it"]


@pytest.mark.parametrize("damaged", ["null", "1", "[[]]", "{a: null}", "[{a: {b: []}}]", "'x'"])
def test_damaged_objects_are_read_beside_others(damaged: str) -> None:
    for kind in ("v1 Pod", "v1 Node", "apps/v1 DaemonSet", "nvidia.com/v1 ClusterPolicy", "kubevirt.io/v1 KubeVirt"):
        version, name = kind.split()
        value = (
            f"{{apiVersion: {version}, kind: {name}, metadata: {{name: a, annotations: {damaged}}}, spec: {damaged}}}"
        )
        broken = f"{{apiVersion: v1, kind: Node, metadata: {{name: n, labels: {damaged}}}, status: {damaged}}}"

        assert _found(value, f"{broken}\n---\n{_NETWORK}\n---\n{_KUBEVIRT}") == []


_ROUTE = (
    "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r}, "
    "spec: {rules: [{backendRefs: [{kind: InferencePool, name: qwen%s}]}]}}"
)
_POOL = "{apiVersion: inference.networking.%s, kind: InferencePool, metadata: {name: qwen}}"
_GATEWAY = (
    "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: g}, spec: {gatewayClassName: istio}}"
)
_ISTIOD = (
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: istiod, namespace: istio-system}, spec: {template: "
    "{spec: {containers: [{name: d, image: 'istio/pilot:1.28.0', env: [{name: %s, value: 'true'}]}]}}}}"
)
_OLD, _NEW = "group: inference.networking.x-k8s.io", "group: inference.networking.k8s.io"
_SWITCH = "set ENABLE_GATEWAY_API_INFERENCE_EXTENSION to true in istiod (pilot.env of its chart)"


@pytest.mark.parametrize(
    ("value", "others", "remedies"),
    [
        (_ROUTE % f", {_OLD}", [_POOL % "k8s.io/v1"], [f"write {_NEW}"]),
        (_ROUTE % f", {_NEW}", [_POOL % "k8s.io/v1"], []),
        (_ROUTE % f", {_OLD}", [_POOL % "x-k8s.io/v1alpha2"], []),
        (_ROUTE % f", {_OLD}", [_POOL % "x-k8s.io/v1alpha2", _POOL % "k8s.io/v1"], []),
        (_ROUTE % f", {_NEW}", [_POOL % "x-k8s.io/v1alpha2"], [f"write {_OLD}, or make the pool of the version v1"]),
        (_GATEWAY, [_ISTIOD % "OTHER", _POOL % "k8s.io/v1"], [_SWITCH]),
        (_GATEWAY, [_ISTIOD % "ENABLE_GATEWAY_API_INFERENCE_EXTENSION", _POOL % "k8s.io/v1"], []),
        (_GATEWAY, [_ISTIOD % "OTHER"], []),
        (_GATEWAY, [_POOL % "k8s.io/v1"], []),
    ],
)
def test_a_route_finds_its_pool_and_a_gateway_that_knows_pools(
    value: str, others: list[str], remedies: list[str]
) -> None:
    assert _found(value, "\n---\n".join(others)) == remedies


_LARGE = (
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {accessModes: [%s], "
    "resources: {requests: {storage: %s}}}}"
)
_GROUP = ", volumes: [{name: v, persistentVolumeClaim: {claimName: a}}], securityContext: {fsGroup: 1000%s}"
_ONCE = ["set fsGroupChangePolicy: OnRootMismatch"]


@pytest.mark.parametrize(
    ("rest", "claim", "remedies"),
    [
        (_GROUP % "", ("ReadWriteOnce", "6Ti"), _ONCE),
        (_GROUP % "", ("ReadWriteOnce", "2000Gi"), _ONCE),
        (_GROUP % "", ("ReadWriteOnce", "500Gi"), []),
        (_GROUP % "", ("ReadWriteMany", "6Ti"), []),
        (_GROUP % ", fsGroupChangePolicy: OnRootMismatch", ("ReadWriteOnce", "6Ti"), []),
    ],
)
def test_the_group_of_a_large_volume_changes_once(rest: str, claim: tuple[str, str], remedies: list[str]) -> None:
    assert _found(_pod(rest=rest), _LARGE % claim) == remedies


def test_the_service_of_a_model_of_aibrix_has_its_name() -> None:
    label, spec = "model.aibrix.ai/name: qwen", "spec: {containers: [{name: c, image: x}]}"
    value = (
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, "
        f"spec: {{template: {{metadata: {{labels: {{{label}}}}}, {spec}}}}}}}"
    )
    service = (
        "{apiVersion: v1, kind: Service, metadata: {name: NAME}, spec: {ports: [{port: 8000}], selector: {LABEL}}}"
    )
    service = service.replace("LABEL", label)

    assert _found(value, service.replace("NAME", "svc")) == ["call the Service qwen"]
    assert _found(value, service.replace("NAME", "qwen")) == []


def test_sshd_of_mpi_needs_a_capability_on_openshift() -> None:
    home = "{apiVersion: v1, kind: Namespace, metadata: {name: a, annotations: {openshift.io/sa.scc.uid-range: 1/2}}}"
    job = (
        "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: m}, spec: {mpiReplicaSpecs: {Worker: "
        "{template: {spec: {containers: [{name: w, image: x, securityContext: {capabilities: {add: [CAP]}}}]}}}}}}"
    )
    remedy = "add SYS_CHROOT to capabilities.add, or run sshd as another user"

    assert _found(job.replace("CAP", "IPC_LOCK"), home) == [remedy]
    assert _found(job.replace("CAP", "SYS_CHROOT"), home) == []
    assert _found(job.replace("CAP", "IPC_LOCK")) == []
