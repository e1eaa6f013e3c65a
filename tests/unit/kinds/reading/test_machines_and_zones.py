"""Images, disks and policies of nodes that pods or other objects of the same files contradict."""

import pytest

from unit.kinds.reading.rows_written import findings, node_of, pod_of, written


def _pool(*requirements: str) -> str:
    return written("karpenter.sh/v1", "NodePool", f"template: {{spec: {{requirements: [{', '.join(requirements)}]}}}}")


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
        ("rayproject/ray:2.46.0-py311-cpu", _SELECTS % "kubernetes.io/arch: arm64", (), 1),
        ("rayproject/ray:2.46.0-aarch64", _SELECTS % "kubernetes.io/arch: arm64", (), 0),
        ("lab/harm64x:1", _SELECTS % "kubernetes.io/arch: amd64", (), 0),
        (
            "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime",
            _SELECTS % "nvidia.com/gpu.product: NVIDIA-GH200-480GB",
            (),
            1,
        ),
        ("pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime", _SELECTS % "nvidia.com/gpu.product: NVIDIA-H200", (), 0),
        ("vllm/vllm-openai:v0.8.5", _SELECTS % "node.kubernetes.io/instance-type: g5g.xlarge", (), 1),
        ("vllm/vllm-openai:v0.10.1", "", (node_of("kubernetes.io/arch: arm64"),), 1),
        ("vllm/vllm-openai:v0.11.0", "", (node_of("kubernetes.io/arch: arm64"),), 0),
        ("vllm/vllm-openai:v0.8.5", "", (node_of("kubernetes.io/arch: amd64"),), 0),
        ("vllm/vllm-openai:v0.8.5", "", (node_of(),), 0),
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
    assert sum("alone, and" in each for each in findings(pod_of(image, spec), *others)) == count


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
    found = [each for each in findings(pod_of(image), node_of(_DRIVER % (board, driver))) if "GeForce" in each]

    assert len(found) == bool(remedy)
    assert all(f"to {remedy} or later" in each for each in found)


def _volume(name: str, zone: str, key: str = "topology.kubernetes.io/zone") -> str:
    affinity = f"[{{matchExpressions: [{{key: {key}, operator: In, values: [{zone}]}}]}}]"
    return written(
        "v1", "PersistentVolume", f"nodeAffinity: {{required: {{nodeSelectorTerms: {affinity}}}}}", f"name: {name}"
    )


def _claim(name: str, more: str) -> str:
    return written("v1", "PersistentVolumeClaim", more, f"name: {name}, namespace: a")


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
    found = findings(pod_of(spec=spec + _mounts("v", "w")), *others)

    assert sum("whose volume is in" in each for each in found) == count


def test_the_claims_of_a_stateful_set_are_in_one_zone() -> None:
    templates = "volumeClaimTemplates: [{metadata: {name: v}}, {metadata: {name: w}}]"
    pods = written(
        "apps/v1",
        "StatefulSet",
        f"{templates}, template: {{spec: {{containers: [{{name: c}}]}}}}",
        "name: s, namespace: a",
    )
    claims = [_claim("v-s-0", "volumeName: v"), _claim("w-s-0", "volumeName: w")]

    assert len(findings(pods, _volume("v", "a"), _volume("w", "b"), *claims)) == 1
    assert findings(pods, _volume("v", "a"), _volume("w", "a"), *claims) == []


_HOST = "kubernetes.io/hostname"


@pytest.mark.parametrize(
    ("spec", "hosts", "nodes", "count"),
    [
        ("", ("a", "b"), (), 1),
        ("", ("a", "a"), (), 0),
        (_SELECTS % f"{_HOST}: b", ("a", "a"), (), 1),
        ("nodeName: b, ", ("a", "a"), (), 1),
        ("nodeName: a, ", ("a", "a"), (), 0),
        ("", ("a", "a"), (node_of(f"{_HOST}: b"),), 2),
        ("", ("a", "a"), (node_of(f"{_HOST}: a"),), 0),
        ("", ("a", "a"), (node_of(),), 0),
    ],
)
def test_local_volumes_are_on_the_node_of_their_pod(
    spec: str, hosts: tuple[str, str], nodes: tuple[str, ...], count: int
) -> None:
    claims = [_claim("v", "volumeName: v"), _claim("w", "volumeName: w")]
    others = [_volume("v", hosts[0], _HOST), _volume("w", hosts[1], _HOST), *claims, *nodes]
    found = findings(pod_of(spec=spec + _mounts("v", "w")), *others)

    assert sum("whose volume is on" in each for each in found) == count


@pytest.mark.parametrize(
    ("volume", "count"),
    [
        (_volume("v", "''", _HOST), 1),
        (_volume("v", "a", _HOST), 0),
        (written("v1", "PersistentVolume", "local: {path: /mnt/a}"), 1),
        (written("v1", "PersistentVolume", "nfs: {path: /mnt/a}"), 0),
    ],
)
def test_a_local_volume_names_its_node(volume: str, count: int) -> None:
    assert len(findings(volume)) == count


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
    found = findings(pod_of(spec=spec + _mounts("v")), _claim("v", claim), waits)

    assert sum("waits for one that does" in each for each in found) == count


@pytest.mark.parametrize(
    ("names", "class_", "nodes", "count"),
    [
        (("v", "w"), _class(), (), 1),
        (("v", "w"), _class(", volumeBindingMode: WaitForFirstConsumer"), (), 0),
        (("v", "w"), _class(", allowedTopologies: [{matchLabelExpressions: []}]"), (), 0),
        (("v", "w"), _class(provisioner="efs.csi.aws.com"), (), 0),
        (("v", "w"), _class(), (node_of("topology.kubernetes.io/zone: a"),), 0),
        (("v-web-0", "w-web-0"), _class(), (), 0),
        (("v", "v"), _class(), (), 0),
    ],
)
def test_disks_of_any_zone_wait_for_their_pod(
    names: tuple[str, str], class_: str, nodes: tuple[str, ...], count: int
) -> None:
    claims = [_claim(each, "storageClassName: d") for each in dict.fromkeys(names)]
    found = findings(pod_of(spec=_mounts(*names)), class_, *claims, *nodes)

    assert sum("makes each disk at once" in each for each in found) == count


def _policy(spec: str) -> str:
    return written("nvidia.com/v1", "ClusterPolicy", spec)


_CUT = (
    "nvidia.com/mig.config: all-1g.10gb, nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB, "
    "node.kubernetes.io/instance-type: Standard_ND96amsr_A100_v4"
)
_REBOOT = "migManager: {env: [{name: WITH_REBOOT, value: 'true'}]}"


@pytest.mark.parametrize(
    ("spec", "node", "count"),
    [
        ("", node_of(f"{_CUT}, nvidia.com/mig.config.state: pending"), 1),
        ("", node_of(_CUT), 1),
        (_REBOOT, node_of(_CUT), 0),
        ("migManager: {enabled: false}", node_of(_CUT), 0),
        ("", node_of(f"{_CUT}, nvidia.com/mig.config.state: success"), 0),
        ("", node_of(_CUT, "nvidia.com/mig-1g.10gb: 7"), 0),
        ("", node_of(_CUT.replace("A100-SXM4", "H100")), 0),
        ("", node_of("nvidia.com/mig.config: all-1g.10gb, nvidia.com/mig.config.state: failed"), 1),
        ("", node_of("nvidia.com/mig.config: all-1g.10gb, nvidia.com/mig.config.state: success"), 0),
        (_REBOOT, node_of("nvidia.com/mig.config: all-1g.10gb, nvidia.com/mig.config.state: failed"), 0),
        ("", node_of(_CUT.replace("Standard_ND96amsr_A100_v4", "k3s")), 0),
    ],
)
def test_virtual_machines_restart_for_mig(spec: str, node: str, count: int) -> None:
    assert sum("WITH_REBOOT" in each for each in findings(_policy(spec), node)) == count


_EVICTS = "driver: {enabled: true, upgradePolicy: {autoUpgrade: %s, podDeletion: {%s}, drain: {%s}}}"
_SCRATCH = "volumes: [{name: shm, emptyDir: {medium: Memory}}], "
_OWNED = "name: p, namespace: a, ownerReferences: [{kind: ReplicaSet}]"


@pytest.mark.parametrize(
    ("policy", "pod", "words"),
    [
        (("true", "force: true", ""), pod_of(spec=_SCRATCH), ["emptyDir"]),
        (("true", "force: true, deleteEmptyDir: true", ""), pod_of(spec=_SCRATCH), []),
        (("true", "force: true", "deleteEmptyDir: true"), pod_of(spec=_SCRATCH), []),
        (("false", "force: true", ""), pod_of(spec=_SCRATCH), []),
        (("true", "force: true", ""), pod_of(), []),
        (("true", "timeoutSeconds: 300", ""), pod_of(), ["no controller"]),
        (("true", "timeoutSeconds: 300", ""), pod_of().replace("name: p, namespace: a", _OWNED), []),
    ],
)
def test_an_upgrade_of_the_driver_deletes_pods_with_gpus(
    policy: tuple[str, str, str], pod: str, words: list[str]
) -> None:
    found = [each for each in findings(_policy(_EVICTS % policy), pod) if "upgrade" in each]

    assert len(found) == len(words)
    assert all(word in each for word, each in zip(words, found, strict=True))


@pytest.mark.parametrize(
    ("drain", "count"), [("enable: true", 1), ("enable: true, deleteEmptyDir: true", 0), ("enable: false", 0)]
)
def test_an_upgrade_of_the_network_driver_drains_pods(drain: str, count: int) -> None:
    spec = f"ofedDriver: {{upgradePolicy: {{autoUpgrade: true, drain: {{{drain}}}}}}}"
    policy = written("mellanox.com/v1alpha1", "NicClusterPolicy", spec, _NETWORKS)

    assert len(findings(policy, pod_of(spec=_SCRATCH))) == count


_KUBELET = "{apiVersion: kubelet.config.k8s.io/v1beta1, kind: KubeletConfiguration, topologyManagerPolicy: %s}"


@pytest.mark.parametrize(
    ("gpus", "other", "count"),
    [
        (8, _KUBELET % "single-numa-node", 1),
        (4, _KUBELET % "single-numa-node", 0),
        (8, _KUBELET % "restricted", 0),
        (
            8,
            written("performance.openshift.io/v2", "PerformanceProfile", "numa: {topologyPolicy: single-numa-node}"),
            1,
        ),
    ],
)
def test_eight_gpus_are_in_more_than_one_numa_node(gpus: int, other: str, count: int) -> None:
    assert sum("NUMA" in each for each in findings(pod_of(gpus=gpus), other)) == count


def test_an_exporter_tolerates_the_taint_of_a_node_pool_for_gpus() -> None:
    containers = "containers: [{name: c, image: 'nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3'}]"
    agent = written("apps/v1", "DaemonSet", f"template: {{spec: {{{containers}}}}}")
    pool = written(
        "karpenter.sh/v1", "NodePool", "template: {spec: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}}"
    )

    assert [each.rpartition(": ")[2] for each in findings(agent, pool)] == ["add a toleration for nvidia.com/gpu"]
    assert findings(agent, pool.replace("nvidia.com/gpu", "lab/team")) == []


@pytest.mark.parametrize(
    ("image", "board", "driver", "count"),
    [
        ("vllm/vllm-openai:v0.21.0", "NVIDIA-GeForce-RTX-4090", "570", 1),
        ("vllm/vllm-openai:v0.21.0", "NVIDIA-GeForce-RTX-4090", "580", 0),
        ("vllm/vllm-openai:v0.21.0", "NVIDIA-H100-80GB-HBM3", "570", 0),
        ("vllm/vllm-openai:v0.21.0-cu129", "NVIDIA-GeForce-RTX-4090", "570", 1),
        ("vllm/vllm-openai:v0.10.0", "NVIDIA-GeForce-RTX-4090", "570", 0),
        ("nvcr.io/nvidia/pytorch:25.08-py3", "NVIDIA-GeForce-RTX-4090", "570", 1),
        ("nvcr.io/nvidia/pytorch:25.06-py3", "NVIDIA-GeForce-RTX-4090", "570", 0),
        ("nvcr.io/nvidia/pytorch:25.08-py3", "NVIDIA-A100-SXM4-80GB", "525", 1),
    ],
)
def test_an_image_without_its_cuda_in_the_tag_needs_a_driver_too(
    image: str, board: str, driver: str, count: int
) -> None:
    found = findings(pod_of(image), node_of(_DRIVER % (board, driver)))

    assert sum("runs an image with CUDA" in each for each in found) == count


@pytest.mark.parametrize(
    ("alias", "disks", "count"),
    [
        ("al2023@latest", "{deviceName: /dev/sda1}", 1),
        ("al2@latest", "{deviceName: /dev/sda}", 1),
        ("al2023@latest", "{deviceName: /dev/sda1}, {deviceName: /dev/xvda}", 0),
        ("al2023@latest", "{deviceName: /dev/xvda}", 0),
        ("bottlerocket@latest", "{deviceName: /dev/sda1}", 0),
    ],
)
def test_the_system_disk_of_amazon_linux(alias: str, disks: str, count: int) -> None:
    node_class = written(
        "karpenter.k8s.aws/v1",
        "EC2NodeClass",
        f"amiSelectorTerms: [{{alias: {alias}}}], blockDeviceMappings: [{disks}]",
    )

    assert sum("on /dev/xvda" in each for each in findings(node_class)) == count


@pytest.mark.parametrize(
    ("consumed", "others", "count"),
    [("b", ["a"], 1), ("a", ["a"], 0), ("b", ["a", "b"], 0), ("b", ["a", "c"], 1), ("b", [], 0)],
)
def test_a_pod_consumes_a_request_of_these_files(consumed: str, others: list[str], count: int) -> None:
    pod = pod_of().replace(
        "namespace: a", f"namespace: a, annotations: {{autoscaling.x-k8s.io/consume-provisioning-request: {consumed}}}"
    )
    requests = [
        written("autoscaling.x-k8s.io/v1", "ProvisioningRequest", "", f"name: {each}, namespace: a") for each in others
    ]

    assert sum("consumes the ProvisioningRequest" in each for each in findings(pod, *requests)) == count


@pytest.mark.parametrize(
    ("name", "others", "count"),
    [
        ("b", {"a": "sharing: {}"}, 1),
        ("a", {"a": "sharing: {}"}, 0),
        ("b", {"a": "sharing: {}", "c": ""}, 1),
        ("b", {"a": "sharing: {}", "b": ""}, 0),
        ("b", {"a": "x"}, 0),
    ],
)
def test_a_policy_reads_the_configuration_of_the_plugin(name: str, others: dict[str, str], count: int) -> None:
    policy = written("nvidia.com/v1", "ClusterPolicy", f"devicePlugin: {{config: {{name: {name}}}}}")
    maps = [
        f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {each}, namespace: g}}, data: {{any: '{text}'}}}}"
        for each, text in others.items()
    ]

    assert sum("reads the configuration" in each for each in findings(policy, *maps)) == count


_CLAIM = "volumes: [{name: d, persistentVolumeClaim: {claimName: d}}], "
_GOOGLE = "nodeSelector: {cloud.google.com/gke-accelerator: %s}, " + _CLAIM


def _data(class_: str, more: str = "") -> str:
    spec = f"storageClassName: {class_}{more}"
    return written("v1", "PersistentVolumeClaim", spec, "name: d, namespace: a")


def _disks(type_: str, provisioner: str = "pd.csi.storage.gke.io") -> str:
    return (
        f"{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: c}}, provisioner: {provisioner}, "
        f"parameters: {{type: {type_}}}}}"
    )


@pytest.mark.parametrize(
    ("board", "others", "count"),
    [
        ("nvidia-b200", [_data("premium-rwo")], 1),
        ("nvidia-b200", [_data("premium-rwo", ", volumeName: v")], 0),
        ("nvidia-b200", [_data("lab")], 0),
        ("nvidia-h100-80gb", [_data("premium-rwo")], 0),
        ("nvidia-h200-141gb", [_data("c"), _disks("pd-ssd")], 1),
        ("nvidia-h200-141gb", [_data("c"), _disks("hyperdisk-ml")], 0),
        ("nvidia-h200-141gb", [_data("c"), _disks("pd-ssd", "lab")], 0),
        ("nvidia-h200-141gb", [_disks("pd-ssd")], 0),
        ("nvidia-l4", [_data("c"), _disks("pd-ssd")], 0),
    ],
)
def test_machines_that_attach_hyperdisk_alone(board: str, others: list[str], count: int) -> None:
    found = findings(pod_of(spec=_GOOGLE % board), *others)

    assert sum("Hyperdisk alone" in each for each in found) == count


@pytest.mark.parametrize(
    ("provisioner", "parameters", "count"),
    [
        ("ebs.csi.aws.com", "type: gp4", 1),
        ("ebs.csi.aws.com", "type: gp3", 0),
        ("pd.csi.storage.gke.io", "type: hyperdisk_balanced", 1),
        ("pd.csi.storage.gke.io", "type: hyperdisk-ml", 0),
        ("disk.csi.azure.com", "skuName: PremiumV2_LRS, cachingMode: ReadOnly", 1),
        ("disk.csi.azure.com", "skuName: PremiumV2_LRS, cachingMode: None", 0),
        ("disk.csi.azure.com", "skuName: Premium_LRS, cachingMode: ReadOnly", 0),
        ("fsx.csi.aws.com", "subnetId: s, deploymentType: PERSISTENT_2, perUnitStorageThroughput: '200'", 1),
        ("fsx.csi.aws.com", "subnetId: s, deploymentType: PERSISTENT_2, perUnitStorageThroughput: '250'", 0),
        ("fsx.csi.aws.com", "subnetId: s, deploymentType: PERSISTENT_1, perUnitStorageThroughput: '200'", 0),
        ("lab", "type: gp4", 0),
    ],
)
def test_the_types_of_disks_that_drivers_make(provisioner: str, parameters: str, count: int) -> None:
    made = _disks("x", provisioner).replace("type: x", parameters)

    assert len(findings(made)) == count


@pytest.mark.parametrize(("strategy", "words"), [("none", "no slices"), ("single", "all slices are"), ("mixed", "")])
def test_slices_by_the_strategy_of_the_operator(strategy: str, words: str) -> None:
    pod = pod_of().replace("nvidia.com/gpu", "nvidia.com/mig-1g.10gb")
    found = findings(pod, written("nvidia.com/v1", "ClusterPolicy", f"mig: {{strategy: {strategy}}}"))

    assert len(found) == bool(words)
    assert all(words in each for each in found)
