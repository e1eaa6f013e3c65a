"""Images, disks and policies of nodes that pods or other objects of the same files contradict."""

import pytest
import yaml

from usher.kinds.reading import chosen_boards, device_stack, refused_values, value_forms
from usher.kinds.reading.values import Objects


def _findings(*texts: str) -> list[str]:
    """Messages and remedies about the first of several objects beside the others."""
    values = [yaml.safe_load(text) for text in texts]
    value, objects = values[0], Objects(values)
    key = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    specs = value_forms.pod_specs(value) if value["kind"] == "Pod" else ()
    found = [
        *refused_values.wrong_values(value, key),
        *refused_values.wrong_pods(value, value_forms.pod_specs(value)),
        *chosen_boards.beside_others(value, key, objects, None, specs),
        *device_stack.disagreements(value, key, objects),
    ]
    return [f"{each.text}: {each.remedy}" for each in found]


def _object(version: str, kind: str, spec: str, metadata: str = "name: x") -> str:
    return f"{{apiVersion: {version}, kind: {kind}, metadata: {{{metadata}}}, spec: {{{spec}}}}}"


def _pod(image: str = "lab/c:1", spec: str = "", gpus: int = 1) -> str:
    container = f"{{name: c, image: '{image}', resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}"
    return _object("v1", "Pod", f"{spec}containers: [{container}]", "name: p, namespace: a")


def _node(labels: str = "", offers: str = "nvidia.com/gpu: 8") -> str:
    status = f"status: {{allocatable: {{{offers}}}}}"
    return f"{{apiVersion: v1, kind: Node, metadata: {{name: n, labels: {{{labels}}}}}, {status}}}"


def _pool(*requirements: str) -> str:
    return _object("karpenter.sh/v1", "NodePool", f"template: {{spec: {{requirements: [{', '.join(requirements)}]}}}}")


_NETWORKS = "name: nic-cluster-policy"
_SELECTS = "nodeSelector: {%s}, "
_AMD = "{key: kubernetes.io/arch, operator: In, values: [amd64]}"
_ARM = "{key: kubernetes.io/arch, operator: In, values: [arm64]}"
_GRAVITON = "{key: node.kubernetes.io/instance-type, operator: In, values: [g5g.xlarge, g5g.metal]}"
_MIXED = "{key: node.kubernetes.io/instance-type, operator: In, values: [g5g.xlarge, g5.xlarge]}"


@pytest.mark.parametrize(
    ("image", "spec", "others", "count"),
    [
        ("lab/serve:1-amd64", _SELECTS % "kubernetes.io/arch: arm64", (), 1),
        ("lab/serve-aarch64:1", _SELECTS % "kubernetes.io/arch: arm64", (), 0),
        ("lab/serve-aarch64:1", _SELECTS % "kubernetes.io/arch: amd64", (), 1),
        ("lab/serve:1", _SELECTS % "kubernetes.io/arch: arm64", (), 0),
        ("lab/harm64x:1", _SELECTS % "kubernetes.io/arch: amd64", (), 0),
        (
            "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime",
            _SELECTS % "nvidia.com/gpu.product: NVIDIA-GH200-480GB",
            (),
            1,
        ),
        ("pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime", _SELECTS % "nvidia.com/gpu.product: NVIDIA-H200", (), 0),
        ("vllm/vllm-openai:v0.8.5", _SELECTS % "node.kubernetes.io/instance-type: g5g.xlarge", (), 1),
        ("vllm/vllm-openai:v0.10.1", "", (_node("kubernetes.io/arch: arm64"),), 1),
        ("vllm/vllm-openai:v0.11.0", "", (_node("kubernetes.io/arch: arm64"),), 0),
        ("vllm/vllm-openai:v0.8.5", "", (_node("kubernetes.io/arch: amd64"),), 0),
        ("vllm/vllm-openai:v0.8.5", "", (_node(),), 0),
        ("vllm/vllm-openai:v0.8.5", "", (_pool(_ARM),), 1),
        ("vllm/vllm-openai:v0.8.5", "", (_pool(_GRAVITON),), 1),
        ("vllm/vllm-openai:v0.8.5", "", (_pool(_MIXED),), 0),
        ("vllm/vllm-openai:v0.8.5", "", (_pool(_AMD),), 0),
        ("vllm/vllm-openai:v0.8.5", "", (_pool(),), 0),
        ("vllm/vllm-openai:v0.8.5", "", (_pool(_ARM), _pool(_AMD).replace("name: x", "name: y")), 0),
    ],
)
def test_an_image_is_for_the_architecture_of_its_machines(
    image: str, spec: str, others: tuple[str, ...], count: int
) -> None:
    assert sum("alone, and" in each for each in _findings(_pod(image, spec), *others)) == count


_DRIVER = "nvidia.com/gpu.product: %s, nvidia.com/cuda.driver-version.major: '%s'"


@pytest.mark.parametrize(
    ("image", "board", "driver", "remedy"),
    [
        ("nvidia/cuda:12.8.1-runtime-ubuntu22.04", "NVIDIA-GeForce-RTX-4090", "550", "570"),
        ("lab/train:2.7-cuda12.8", "NVIDIA-GeForce-RTX-4090", "535", "570"),
        ("lab/train:cu124", "NVIDIA-GeForce-RTX-3090", "535", "550"),
        ("nvidia/cuda:12.4.1-runtime-ubuntu22.04", "NVIDIA-GeForce-RTX-4090", "550", ""),
        ("nvidia/cuda:12.8.1-runtime-ubuntu22.04", "NVIDIA-A100-SXM4-80GB", "550", ""),
        ("nvidia/cuda:11.8.0-runtime-ubuntu22.04", "NVIDIA-GeForce-RTX-4090", "535", ""),
        ("nvidia/cuda:12.8.1-runtime-ubuntu22.04", "NVIDIA-GeForce-RTX-4090", "", ""),
    ],
)
def test_consumer_boards_need_a_driver_for_the_cuda_of_an_image(
    image: str, board: str, driver: str, remedy: str
) -> None:
    found = [each for each in _findings(_pod(image), _node(_DRIVER % (board, driver))) if "GeForce" in each]

    assert len(found) == bool(remedy)
    assert all(f"to {remedy} or later" in each for each in found)


def _volume(name: str, zone: str, key: str = "topology.kubernetes.io/zone") -> str:
    affinity = f"[{{matchExpressions: [{{key: {key}, operator: In, values: [{zone}]}}]}}]"
    return _object(
        "v1", "PersistentVolume", f"nodeAffinity: {{required: {{nodeSelectorTerms: {affinity}}}}}", f"name: {name}"
    )


def _claim(name: str, more: str) -> str:
    return _object("v1", "PersistentVolumeClaim", more, f"name: {name}, namespace: a")


def _class(more: str = "", provisioner: str = "ebs.csi.aws.com") -> str:
    kind = "apiVersion: storage.k8s.io/v1, kind: StorageClass"
    return f"{{{kind}, metadata: {{name: d}}, provisioner: {provisioner}{more}}}"


def _mounts(*claims: str) -> str:
    volumes = [f"{{name: {each}, persistentVolumeClaim: {{claimName: {each}}}}}" for each in claims]
    return f"volumes: [{', '.join(volumes)}], "


@pytest.mark.parametrize(
    ("spec", "zones", "count"),
    [
        ("", ("a", "b"), 1),
        ("", ("a", "a"), 0),
        ("", ("a", "'a, b'"), 1),
        (_SELECTS % "topology.kubernetes.io/zone: b", ("a", "a"), 1),
        (_SELECTS % "topology.kubernetes.io/zone: a", ("a", "a"), 0),
        (_SELECTS % "topology.kubernetes.io/zone: '${ZONE}'", ("a", "a"), 0),
    ],
)
def test_the_volumes_of_a_pod_are_in_one_zone(spec: str, zones: tuple[str, str], count: int) -> None:
    others = [
        _volume("v", zones[0]),
        _volume("w", zones[1]),
        _claim("v", "volumeName: v"),
        _claim("w", "volumeName: w"),
    ]
    found = _findings(_pod(spec=spec + _mounts("v", "w")), *others)

    assert sum("whose volume is in" in each for each in found) == count


_HOST = "kubernetes.io/hostname"


@pytest.mark.parametrize(
    ("spec", "hosts", "nodes", "count"),
    [
        ("", ("a", "b"), (), 1),
        ("", ("a", "a"), (), 0),
        (_SELECTS % f"{_HOST}: b", ("a", "a"), (), 1),
        ("nodeName: b, ", ("a", "a"), (), 1),
        ("nodeName: a, ", ("a", "a"), (), 0),
        ("", ("a", "a"), (_node(f"{_HOST}: b"),), 2),
        ("", ("a", "a"), (_node(f"{_HOST}: a"),), 0),
        ("", ("a", "a"), (_node(),), 0),
    ],
)
def test_local_volumes_are_on_the_node_of_their_pod(
    spec: str, hosts: tuple[str, str], nodes: tuple[str, ...], count: int
) -> None:
    claims = [_claim("v", "volumeName: v"), _claim("w", "volumeName: w")]
    others = [_volume("v", hosts[0], _HOST), _volume("w", hosts[1], _HOST), *claims, *nodes]
    found = _findings(_pod(spec=spec + _mounts("v", "w")), *others)

    assert sum("whose volume is on" in each for each in found) == count


@pytest.mark.parametrize(
    ("volume", "count"),
    [
        (_volume("v", "''", _HOST), 1),
        (_volume("v", "a", _HOST), 0),
        (_object("v1", "PersistentVolume", "local: {path: /mnt/a}"), 1),
        (_object("v1", "PersistentVolume", "nfs: {path: /mnt/a}"), 0),
    ],
)
def test_a_local_volume_names_its_node(volume: str, count: int) -> None:
    assert len(_findings(volume)) == count


@pytest.mark.parametrize(
    ("spec", "claim", "count"),
    [
        ("nodeName: a, ", "storageClassName: d", 1),
        ("nodeName: a, ", "storageClassName: d, volumeName: v", 0),
        ("nodeName: a, ", "storageClassName: e", 0),
        ("", "storageClassName: d", 0),
    ],
)
def test_a_claim_waits_for_the_scheduler(spec: str, claim: str, count: int) -> None:
    waits = _class(", volumeBindingMode: WaitForFirstConsumer", "rancher.io/local-path")
    found = _findings(_pod(spec=spec + _mounts("v")), _claim("v", claim), waits)

    assert sum("waits for one that does" in each for each in found) == count


@pytest.mark.parametrize(
    ("names", "class_", "nodes", "count"),
    [
        (("v", "w"), _class(), (), 1),
        (("v", "w"), _class(", volumeBindingMode: WaitForFirstConsumer"), (), 0),
        (("v", "w"), _class(", allowedTopologies: [{matchLabelExpressions: []}]"), (), 0),
        (("v", "w"), _class(provisioner="efs.csi.aws.com"), (), 0),
        (("v", "w"), _class(), (_node("topology.kubernetes.io/zone: a"),), 0),
        (("v-web-0", "w-web-0"), _class(), (), 0),
        (("v", "v"), _class(), (), 0),
    ],
)
def test_disks_of_any_zone_wait_for_their_pod(
    names: tuple[str, str], class_: str, nodes: tuple[str, ...], count: int
) -> None:
    claims = [_claim(each, "storageClassName: d") for each in dict.fromkeys(names)]
    found = _findings(_pod(spec=_mounts(*names)), class_, *claims, *nodes)

    assert sum("makes each disk at once" in each for each in found) == count


def _policy(spec: str) -> str:
    return _object("nvidia.com/v1", "ClusterPolicy", spec)


_CUT = (
    "nvidia.com/mig.config: all-1g.10gb, nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB, "
    "node.kubernetes.io/instance-type: Standard_ND96amsr_A100_v4"
)
_REBOOT = "migManager: {env: [{name: WITH_REBOOT, value: 'true'}]}"


@pytest.mark.parametrize(
    ("spec", "node", "count"),
    [
        ("", _node(f"{_CUT}, nvidia.com/mig.config.state: pending"), 1),
        ("", _node(_CUT), 1),
        (_REBOOT, _node(_CUT), 0),
        ("migManager: {enabled: false}", _node(_CUT), 0),
        ("", _node(f"{_CUT}, nvidia.com/mig.config.state: success"), 0),
        ("", _node(_CUT, "nvidia.com/mig-1g.10gb: 7"), 0),
        ("", _node(_CUT.replace("A100-SXM4", "H100")), 0),
        ("", _node(_CUT.replace("Standard_ND96amsr_A100_v4", "k3s")), 0),
    ],
)
def test_virtual_machines_restart_for_mig(spec: str, node: str, count: int) -> None:
    assert sum("WITH_REBOOT" in each for each in _findings(_policy(spec), node)) == count


_EVICTS = "driver: {enabled: true, upgradePolicy: {autoUpgrade: %s, podDeletion: {%s}, drain: {%s}}}"
_SCRATCH = "volumes: [{name: shm, emptyDir: {medium: Memory}}], "
_OWNED = "name: p, namespace: a, ownerReferences: [{kind: ReplicaSet}]"


@pytest.mark.parametrize(
    ("policy", "pod", "words"),
    [
        (("true", "force: true", ""), _pod(spec=_SCRATCH), ["emptyDir"]),
        (("true", "force: true, deleteEmptyDir: true", ""), _pod(spec=_SCRATCH), []),
        (("true", "force: true", "deleteEmptyDir: true"), _pod(spec=_SCRATCH), []),
        (("false", "force: true", ""), _pod(spec=_SCRATCH), []),
        (("true", "force: true", ""), _pod(), []),
        (("true", "timeoutSeconds: 300", ""), _pod(), ["no controller"]),
        (("true", "timeoutSeconds: 300", ""), _pod().replace("name: p, namespace: a", _OWNED), []),
    ],
)
def test_an_upgrade_of_the_driver_deletes_pods_with_gpus(
    policy: tuple[str, str, str], pod: str, words: list[str]
) -> None:
    found = [each for each in _findings(_policy(_EVICTS % policy), pod) if "upgrade" in each]

    assert len(found) == len(words)
    assert all(word in each for word, each in zip(words, found, strict=True))


@pytest.mark.parametrize(
    ("drain", "count"), [("enable: true", 1), ("enable: true, deleteEmptyDir: true", 0), ("enable: false", 0)]
)
def test_an_upgrade_of_the_network_driver_drains_pods(drain: str, count: int) -> None:
    spec = f"ofedDriver: {{upgradePolicy: {{autoUpgrade: true, drain: {{{drain}}}}}}}"
    policy = _object("mellanox.com/v1alpha1", "NicClusterPolicy", spec, _NETWORKS)

    assert len(_findings(policy, _pod(spec=_SCRATCH))) == count


_KUBELET = "{apiVersion: kubelet.config.k8s.io/v1beta1, kind: KubeletConfiguration, topologyManagerPolicy: %s}"


@pytest.mark.parametrize(
    ("gpus", "other", "count"),
    [
        (8, _KUBELET % "single-numa-node", 1),
        (4, _KUBELET % "single-numa-node", 0),
        (8, _KUBELET % "restricted", 0),
        (
            8,
            _object("performance.openshift.io/v2", "PerformanceProfile", "numa: {topologyPolicy: single-numa-node}"),
            1,
        ),
    ],
)
def test_eight_gpus_are_in_more_than_one_numa_node(gpus: int, other: str, count: int) -> None:
    assert sum("NUMA" in each for each in _findings(_pod(gpus=gpus), other)) == count


def _webhook(reference: str, namespace: str = "h") -> str:
    client = f"clientConfig: {{service: {{name: s, namespace: {namespace}}}}}"
    return (
        "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: w, "
        f"annotations: {{cert-manager.io/inject-ca-from: {reference}}}}}, webhooks: [{{name: w, {client}}}]}}"
    )


_CERTIFICATE = _object("cert-manager.io/v1", "Certificate", "dnsNames: [s.h.svc]", "name: c, namespace: h")


@pytest.mark.parametrize(
    ("webhook", "remedy"),
    [
        (_webhook("h/c"), ""),
        (_webhook("other/c"), "write h/c"),
        (_webhook("c"), "write h/c"),
        (_webhook("other/absent"), ""),
        (_webhook("h/c", "i"), "add s.i.svc to the dnsNames"),
    ],
)
def test_a_webhook_names_a_certificate_for_its_service(webhook: str, remedy: str) -> None:
    found = _findings(webhook, _CERTIFICATE)

    assert len(found) == bool(remedy)
    assert all(each.endswith(remedy) for each in found)


def test_an_exporter_tolerates_the_taint_of_a_node_pool_for_gpus() -> None:
    containers = "containers: [{name: c, image: 'nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3'}]"
    agent = _object("apps/v1", "DaemonSet", f"template: {{spec: {{{containers}}}}}")
    pool = _object(
        "karpenter.sh/v1", "NodePool", "template: {spec: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}}"
    )

    assert [each.rpartition(": ")[2] for each in _findings(agent, pool)] == ["add a toleration for nvidia.com/gpu"]
    assert _findings(agent, pool.replace("nvidia.com/gpu", "lab/team")) == []


def _agent(image: str, spec: str = "") -> str:
    return _object("apps/v1", "DaemonSet", f"template: {{spec: {{{spec}containers: [{{name: c, image: {image}}}]}}}}")


def _tainted(labels: str = "", offers: str = "nvidia.com/gpu: 8") -> str:
    return _node(labels, offers).replace("status:", "spec: {taints: [{key: lab, effect: NoSchedule}]}, status:")


_EFA = "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.6"
_FSX = "public.ecr.aws/fsx-csi-driver/aws-fsx-csi-driver:v1.5.0"
_ALL = "tolerations: [{operator: Exists}], "
_NIC = "feature.node.kubernetes.io/pci-15b3.present: 'true'"


@pytest.mark.parametrize(
    ("value", "node", "effect"),
    [
        (_agent(_EFA), _tainted(), "offers no vpc.amazonaws.com/efa"),
        (_agent(_EFA, _ALL), _tainted(), ""),
        (_agent(_EFA), _tainted(offers="amd.com/gpu: 8"), ""),
        (_agent(_FSX), _tainted(offers="amd.com/gpu: 8"), "cannot mount its volumes"),
        (_agent(_FSX), _tainted(offers="cpu: 8"), ""),
        (_agent("ghcr.io/mellanox/k8s-rdma-shared-dev-plugin:v1.5.3"), _tainted(_NIC), "no devices and interfaces"),
        (_agent("ghcr.io/mellanox/k8s-rdma-shared-dev-plugin:v1.5.3"), _tainted(), ""),
        (
            _object("mellanox.com/v1alpha1", "NicClusterPolicy", "", _NETWORKS),
            _tainted(_NIC),
            "network",
        ),
        (_object("mellanox.com/v1alpha1", "NicClusterPolicy", "", _NETWORKS), _tainted(), ""),
        (
            _object(
                "mellanox.com/v1alpha1",
                "NicClusterPolicy",
                "tolerations: [{key: lab, operator: Exists}]",
                _NETWORKS,
            ),
            _tainted(_NIC),
            "",
        ),
    ],
)
def test_agents_beside_the_device_plugin_tolerate_taints(value: str, node: str, effect: str) -> None:
    found = _findings(value, node)

    assert len(found) == bool(effect)
    assert all(effect in each for each in found)


def _claims(request: str, more: str = "") -> str:
    spec = f"spec: {{devices: {{requests: [{{name: r, exactly: {{{request}}}}}]{more}}}}}"
    return _object("resource.k8s.io/v1", "ResourceClaimTemplate", spec, "name: t, namespace: a")


_COMPARES = ", constraints: [{requests: [r], matchAttribute: %s}]"
_SELECTOR = 'deviceClassName: c, selectors: [{cel: {expression: \'device.attributes["%s"].%s == "x"\'}}]'


@pytest.mark.parametrize(
    ("claim", "remedy"),
    [
        (_claims("deviceClassName: c", _COMPARES % "k8s.io/pcieRoot"), "write resource.kubernetes.io/pcieRoot"),
        (_claims("deviceClassName: c", _COMPARES % "gpu.nvidia.com/pcieRoot"), "write resource.kubernetes.io/pcieRoot"),
        (_claims("deviceClassName: c", _COMPARES % "resource.kubernetes.io/pcieRoot"), ""),
        (_claims("deviceClassName: c", _COMPARES % "gpu.lab.com/pcieRoot"), ""),
        (_claims("deviceClassName: c", _COMPARES % "pcieRoot"), "for the root of PCIe"),
        (_claims(_SELECTOR % ("gpu.amd.com", "product")), "did you mean productName?"),
        (_claims(_SELECTOR % ("gpu.amd.com", "productName")), ""),
        (_claims(_SELECTOR % ("dra.net", "interfaceName")), ""),
        (_claims(_SELECTOR % ("dra.net", "numanode")), "did you mean numaNode?"),
    ],
)
def test_claims_name_attributes_that_drivers_give(claim: str, remedy: str) -> None:
    found = _findings(claim)

    assert len(found) == bool(remedy)
    assert all(each.endswith(remedy) for each in found)


_TAKES = "resourceClaims: [{name: n, resourceClaimTemplateName: t}], "


@pytest.mark.parametrize(
    ("network", "device_class", "count"),
    [("hostNetwork: true, ", "dranet", 1), ("", "dranet", 0), ("hostNetwork: true, ", "gpu.nvidia.com", 0)],
)
def test_dranet_moves_no_interface_into_the_network_of_a_node(network: str, device_class: str, count: int) -> None:
    found = _findings(_pod(spec=network + _TAKES), _claims(f"deviceClassName: {device_class}"))

    assert sum("DRANET refuses" in each for each in found) == count


def _kubelet(fields: str) -> str:
    return f"{{apiVersion: kubelet.config.k8s.io/v1beta1, kind: KubeletConfiguration, {fields}}}"


_RESERVED = (
    "memoryManagerPolicy: Static, kubeReserved: {memory: 4Gi}, systemReserved: {memory: 2Gi}, "
    "evictionHard: {memory.available: %s, nodefs.available: 10%%}, "
    "reservedMemory: [{numaNode: 0, limits: {memory: 3Gi}}, {numaNode: 1, limits: {memory: 4Gi}}]"
)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (_RESERVED % "1Gi", ""),
        (_RESERVED % "2Gi", "7168 MiB of memory in reservedMemory and 8192 MiB"),
        (_RESERVED % "5%", ""),
        ("evictionHard: {memory.available: 1Gi}", "leaves its defaults out"),
        ("evictionHard: {memory.available: 1Gi, nodefs.available: 10%}", ""),
        ("evictionHard: {memory.available: 1Gi}, mergeDefaultEvictionSettings: true", ""),
    ],
)
def test_a_kubelet_adds_up_what_it_reserves(fields: str, words: str) -> None:
    found = _findings(_kubelet(fields))

    assert len(found) == bool(words)
    assert all(words in each for each in found)


_WHOLE_CORES = _kubelet('cpuManagerPolicy: static, cpuManagerPolicyOptions: {full-pcpus-only: "true"}')


@pytest.mark.parametrize(
    ("resources", "count"),
    [
        ("limits: {nvidia.com/gpu: 1, cpu: 7}", 1),
        ("limits: {nvidia.com/gpu: 1, cpu: 8}", 0),
        ("limits: {nvidia.com/gpu: 1, cpu: 7}, requests: {cpu: 7}", 1),
        ("limits: {nvidia.com/gpu: 1, cpu: 7}, requests: {cpu: 4}", 0),
    ],
)
def test_whole_cores_have_an_even_number_of_cpus(resources: str, count: int) -> None:
    pod = _pod().replace("limits: {nvidia.com/gpu: 1}", resources)

    assert sum("whole cores" in each for each in _findings(pod, _WHOLE_CORES)) == count


@pytest.mark.parametrize(("pods", "count"), [("1", 1), ("4", 1), ("29", 0)])
def test_a_node_has_room_for_more_than_its_daemons(pods: str, count: int) -> None:
    node_class = _object("karpenter.k8s.aws/v1", "EC2NodeClass", f"kubelet: {{maxPods: {pods}}}")

    assert sum("daemons" in each for each in _findings(node_class)) == count


@pytest.mark.parametrize(("seconds", "count"), [("'1209600'", 1), ("'604800'", 0)])
def test_gke_gives_queued_nodes_for_a_week(seconds: str, count: int) -> None:
    metadata = f"name: x, annotations: {{provreq.kueue.x-k8s.io/maxRunDurationSeconds: {seconds}}}"

    assert len(_findings(_object("batch/v1", "Job", "", metadata))) == count


def _node_class(spec: str, name: str = "c") -> str:
    return _object("karpenter.k8s.aws/v1", "EC2NodeClass", spec, f"name: {name}")


_DISK = "blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: %s}}]"
_ASKS = _pod().replace("nvidia.com/gpu: 1}", "nvidia.com/gpu: 1}, requests: {ephemeral-storage: 150Gi}")
_GROWS = _pod(spec="volumes: [{name: s, emptyDir: {sizeLimit: 150Gi}}], ")
_IN_MEMORY = _pod(spec="volumes: [{name: s, emptyDir: {medium: Memory, sizeLimit: 150Gi}}], ")


@pytest.mark.parametrize(
    ("pod", "classes", "count"),
    [
        (_ASKS, (_node_class(""),), 1),
        (_ASKS, (_node_class(_DISK % "100Gi"),), 1),
        (_ASKS, (_node_class(_DISK % "200Gi"),), 0),
        (_ASKS, (_node_class(_DISK % "'${SIZE}'"),), 0),
        (_ASKS, (_node_class(""), _node_class(_DISK % "1Ti", "d")), 0),
        (_ASKS, (_node_class("instanceStorePolicy: RAID0"),), 0),
        (_ASKS, (), 0),
        (_GROWS, (_node_class(""),), 1),
        (_GROWS, (_node_class(_DISK % "200Gi"),), 0),
        (_IN_MEMORY, (_node_class(""),), 0),
    ],
)
def test_pods_fit_the_disks_of_node_classes(pod: str, classes: tuple[str, ...], count: int) -> None:
    assert sum("smaller disks" in each for each in _findings(pod, *classes)) == count


def _workers(pci: str, kind: str = "ConfigMap") -> str:
    text = f"sources: {{pci: {{{pci}}}}}"
    if kind == "ConfigMap":
        return f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: x}}, data: {{nfd-worker.conf: '{text}'}}}}"
    return _object("nfd.openshift.io/v1", kind, f"workerConfig: {{configData: '{text}'}}")


@pytest.mark.parametrize(
    ("workers", "remedy"),
    [
        (_workers('deviceClassWhitelist: ["02", "0200"]'), 'add "03"'),
        (_workers('deviceClassWhitelist: ["02", "0302"]'), ""),
        (_workers('deviceLabelFields: ["class", "vendor", "device"]', "NodeFeatureDiscovery"), "vendor alone"),
        (_workers('deviceLabelFields: ["vendor"]', "NodeFeatureDiscovery"), ""),
        (_workers('deviceLabelFields: ["class", "vendor"]'), ""),
    ],
)
def test_feature_discovery_labels_gpus_as_the_operator_looks_for_them(workers: str, remedy: str) -> None:
    found = _findings(workers, _policy(""))

    assert len(found) == bool(remedy)
    assert all(remedy in each for each in found)
    assert _findings(workers) == []


def _certificate(issuer: str) -> str:
    return _object("cert-manager.io/v1", "Certificate", f"issuerRef: {{{issuer}}}", "name: c, namespace: h")


def _issuer(kind: str, more: str = "") -> str:
    return _object("cert-manager.io/v1", kind, "selfSigned: {}", f"name: s{more}")


@pytest.mark.parametrize(
    ("issuer", "others", "words"),
    [
        ("name: s", (_issuer("Issuer", ", namespace: other"),), "serves its own namespace"),
        ("name: s", (_issuer("Issuer", ", namespace: h"),), ""),
        ("name: s", (_issuer("Issuer"),), ""),
        ("name: s", (_issuer("ClusterIssuer"),), "without its kind"),
        ("name: s, kind: ClusterIssuer", (_issuer("ClusterIssuer"),), ""),
        ("name: s, kind: ClusterIssuer", (_issuer("Issuer", ", namespace: other"),), ""),
        ("name: s", (_issuer("ClusterIssuer"), _issuer("Issuer", ", namespace: h")), ""),
    ],
)
def test_a_certificate_finds_its_issuer(issuer: str, others: tuple[str, ...], words: str) -> None:
    found = _findings(_certificate(issuer), *others)

    assert len(found) == bool(words)
    assert all(words in each for each in found)


def test_gke_makes_no_class_of_a_runtime_for_gpus() -> None:
    on_gke = _SELECTS % "cloud.google.com/gke-accelerator: nvidia-l4"

    assert len(_findings(_pod(spec=f"{on_gke}runtimeClassName: nvidia, "))) == 1
    assert _findings(_pod(spec="runtimeClassName: nvidia, ")) == []
    assert _findings(_pod(spec=f"{on_gke}runtimeClassName: gvisor, ")) == []


_EXPIRES = "template: {spec: {expireAfter: %s, terminationGracePeriod: 30m}}"
_KEPT = "metadata: {annotations: {karpenter.sh/do-not-disrupt: 'true'}}, spec: {containers: []}"


@pytest.mark.parametrize(
    ("pool", "template", "count"),
    [
        (_EXPIRES % "24h", _KEPT, 1),
        (_EXPIRES % "19m", _KEPT, 1),
        (_EXPIRES % "720h", _KEPT, 0),
        (_EXPIRES % "Never", _KEPT, 0),
        (_EXPIRES % "24h", "spec: {containers: []}", 0),
        ("template: {spec: {expireAfter: 24h}}", _KEPT, 0),
    ],
)
def test_nodes_live_longer_than_their_work(pool: str, template: str, count: int) -> None:
    found = _findings(
        _object("karpenter.sh/v1", "NodePool", pool), _object("batch/v1", "Job", f"template: {{{template}}}")
    )

    assert sum("nothing may disrupt" in each for each in found) == count
