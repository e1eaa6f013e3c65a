"""Channels, claims, scratch volumes, secrets and network devices of pods beside other objects of the same files."""

import pytest
import yaml

from usher.kinds.reading import device_stack, disks, machines, pod_networks, refused_values
from usher.kinds.reading.values import Objects


def _findings(*texts: str) -> list[str]:
    """Messages and remedies about the first of several objects beside the others."""
    values = [yaml.safe_load(text) for text in texts]
    value, objects = values[0], Objects(values)
    key = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    found = [
        *pod_networks.beside_others(value, objects),
        *disks.beside_others(value, ("", str(value.get("kind"))), {}, objects),
        *machines.beside_others(value, {}, objects),
        *refused_values.beside_others(value, key, objects),
        *device_stack.disagreements(value, key, objects),
    ]
    return [f"{each.text}: {each.remedy}" for each in found]


def _object(version: str, kind: str, spec: str, metadata: str = "name: x") -> str:
    return f"{{apiVersion: {version}, kind: {kind}, metadata: {{{metadata}}}, spec: {{{spec}}}}}"


def _pod(container: str, spec: str = "", namespace: str = "a") -> str:
    containers = f"containers: [{{name: c, image: lab/c:1, {container}}}]"
    return _object("v1", "Pod", f"{spec}{containers}", f"name: p, namespace: {namespace}")


def _domain(name: str = "d", template: str = "ch", namespace: str = "a") -> str:
    spec = f"numNodes: 0, channel: {{resourceClaimTemplate: {{name: {template}}}}}"
    return _object("resource.nvidia.com/v1beta1", "ComputeDomain", spec, f"name: {name}, namespace: {namespace}")


_CLAIM = "resourceClaims: [{name: ch, resourceClaimTemplateName: ch}], "
_USES = "resources: {claims: [{name: ch}]}"


@pytest.mark.parametrize(
    ("container", "namespace", "remedy"),
    [
        (_USES, "a", ""),
        (_USES, "b", "make a ComputeDomain in b"),
        ("resources: {limits: {nvidia.com/gpu: 4}}", "a", "name the claim in resources.claims of the container"),
    ],
)
def test_a_pod_gets_the_channel_of_a_compute_domain_of_its_namespace(
    container: str, namespace: str, remedy: str
) -> None:
    found = _findings(_pod(container, _CLAIM, namespace), _domain())

    assert len(found) == bool(remedy)
    assert all(remedy in each for each in found)


def test_a_compute_domain_makes_a_template_of_its_own() -> None:
    devices = "devices: {requests: [{name: channel}], config: [{requests: [channel]}]}"
    by_hand = _object("resource.k8s.io/v1", "ResourceClaimTemplate", f"spec: {{{devices}}}", "name: ch, namespace: a")

    assert _findings(_domain(), _domain("e", "other")) == []
    assert "ComputeDomain d makes too" in _findings(_domain("e"), _domain())[0]
    assert _findings(_domain(), _domain("e")) == []
    assert "remove the template" in _findings(_domain(), by_hand)[0]
    assert "remove the template" in _findings(_domain(), *([by_hand] * 2))[0]
    assert _findings(_domain(namespace="b"), by_hand) == []


def _claim(spec: str) -> str:
    return _object("v1", "PersistentVolumeClaim", f"volumeName: v, {spec}", "name: c, namespace: a")


_VOLUME = "capacity: {storage: 1Ti}, accessModes: [ReadOnlyMany, ReadWriteOnce], storageClassName: fast"


@pytest.mark.parametrize(
    ("claim", "remedy"),
    [
        ("storageClassName: fast, accessModes: [ReadOnlyMany], resources: {requests: {storage: 100Gi}}", ""),
        ("storageClassName: slow, accessModes: [ReadOnlyMany]", "set storageClassName to 'fast'"),
        ("storageClassName: '', accessModes: [ReadOnlyMany]", "set storageClassName to 'fast'"),
        ("storageClassName: fast, accessModes: [ReadWriteMany]", "ask for a mode that the volume has"),
        ("storageClassName: fast, resources: {requests: {storage: 2Ti}}", "at most the capacity"),
        ("storageClassName: fast, resources: {requests: {storage: much}}", ""),
        ("storageClassName: 5, accessModes: 7", ""),
    ],
)
def test_a_claim_and_its_volume_agree(claim: str, remedy: str) -> None:
    found = _findings(_claim(claim), _object("v1", "PersistentVolume", _VOLUME, "name: v"))

    assert len(found) == bool(remedy)
    assert all(remedy in each for each in found)


@pytest.mark.parametrize(
    ("limit", "volume", "count"),
    [
        ("20Gi", "sizeLimit: 100Gi", 1),
        ("200Gi", "sizeLimit: 100Gi", 0),
        ("20Gi", "sizeLimit: 100Gi, medium: Memory", 0),
        ("20Gi", "", 0),
        ("much", "sizeLimit: 100Gi", 0),
        ("20Gi", "sizeLimit: [1]", 0),
    ],
)
def test_scratch_volumes_fit_the_limits_of_their_pod(limit: str, volume: str, count: int) -> None:
    limits = f"resources: {{limits: {{ephemeral-storage: {limit}}}}}"

    assert len(_findings(_pod(limits, f"volumes: [{{name: v, emptyDir: {{{volume}}}}}], "))) == count


@pytest.mark.parametrize(
    ("namespace", "annotations", "count"),
    [
        ("default", "", 1),
        ("a", "", 0),
        ("default", "reflector.v1.k8s.emberstack.com/reflection-allowed: 'true'", 0),
    ],
)
def test_pull_secrets_are_in_the_namespace_of_their_pods(namespace: str, annotations: str, count: int) -> None:
    secret = f"name: s, namespace: {namespace}, annotations: {{{annotations}}}"
    value = f"{{apiVersion: v1, kind: Secret, type: kubernetes.io/dockerconfigjson, metadata: {{{secret}}}}}"

    assert len(_findings(_pod("args: [a]", "imagePullSecrets: [{name: s}], "), value)) == count


_SHARED = '{"configList": [{"resourceName": "hca_shared_devices_a", "rdmaHcaMax": 63}]}'
_VIRTUAL = '{"resourceList": [{"resourceName": "mlnx_rdma", "resourcePrefix": "nvidia.com"}]}'


@pytest.mark.parametrize(
    ("config", "asked", "remedy"),
    [
        (_SHARED, "rdma/hca_shared_devices_a", ""),
        (_SHARED, "rdma/hca_shared_devices_b", "did you mean rdma/hca_shared_devices_a?"),
        (_SHARED, "rdma/roce", ""),
        (_SHARED, "example.com/hca_shared_devices_b", ""),
        (_VIRTUAL, "nvidia.com/mlnx_rdma", ""),
        (_VIRTUAL, "mellanox.com/mlnx_rdma", "write nvidia.com/mlnx_rdma"),
        (_VIRTUAL, "nvidia.com/gpu", ""),
        ('{"resourceList": [7, {"resourceName": 5}]}', "nvidia.com/mlnx_rdma", ""),
    ],
)
def test_pods_ask_for_network_devices_by_the_name_of_their_plugin(config: str, asked: str, remedy: str) -> None:
    plugin = f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m}}, data: {{config.json: '{config}'}}}}"
    found = _findings(_pod(f"resources: {{limits: {{{asked}: 1}}}}"), plugin)

    assert len(found) == bool(remedy)
    assert all(remedy in each for each in found)


_TEMPLATE = _object("templates.gatekeeper.sh/v1", "ConstraintTemplate", "crd: {spec: {names: {kind: %s}}}", "name: t")
_DEFINITION = _object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "name: %s.constraints.gatekeeper.sh")


@pytest.mark.parametrize(
    ("others", "count"),
    [
        ((_TEMPLATE % "K8sGpuLimit",), 1),
        ((_TEMPLATE % "K8sGPULimits",), 1),
        ((_TEMPLATE % "K8sGpuLimits",), 0),
        ((_TEMPLATE % "K8sRequiredLabels",), 0),
        ((_DEFINITION % "k8srequiredlabels",), 1),
        ((_DEFINITION % "k8srequiredlabels", _DEFINITION % "k8sgpulimits"), 0),
        ((), 0),
    ],
)
def test_a_constraint_of_gatekeeper_needs_its_template(others: tuple[str, ...], count: int) -> None:
    assert len(_findings(_object("constraints.gatekeeper.sh/v1beta1", "K8sGpuLimits", ""), *others)) == count


def _agent(image: str, spec: str = "") -> str:
    return _object("apps/v1", "DaemonSet", f"template: {{spec: {{{spec}containers: [{{name: c, image: {image}}}]}}}}")


def _node(offers: str = "", labels: str = "") -> str:
    return (
        f"{{apiVersion: v1, kind: Node, metadata: {{name: n1, labels: {{{labels}}}}}, spec: {{taints: [{{key: lab, "
        f"effect: NoSchedule}}]}}, status: {{allocatable: {{cpu: 4{offers}}}}}}}"
    )


_EXPORTER = "nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3"
_AFFINITY = (
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
    "[{matchExpressions: [{key: %s, operator: In, values: ['true']}]}]}}}, "
)
_PRESENT = "feature.node.kubernetes.io/pci-10de.present"


@pytest.mark.parametrize(
    ("agent", "node", "count"),
    [
        (_agent(_EXPORTER), _node(", nvidia.com/gpu: 8"), 1),
        (_agent(_EXPORTER, "tolerations: [{operator: Exists}], "), _node(", nvidia.com/gpu: 8"), 0),
        (_agent(_EXPORTER), _node(", amd.com/gpu: 8"), 0),
        (_agent("docker.io/rocm/amd-device-metrics-exporter:v1"), _node(", amd.com/gpu: 8"), 1),
        (_agent(_EXPORTER), _node(), 0),
        (_agent("lab/puller:1", "nodeSelector: {gpu: a}, "), _node(", nvidia.com/gpu: 8", "gpu: a"), 1),
        (_agent("lab/puller:1", "nodeSelector: {disk: a}, "), _node(", nvidia.com/gpu: 8", "disk: a"), 0),
        (_agent(_EXPORTER, _AFFINITY % "lab"), _node(", nvidia.com/gpu: 8", "lab: 'false'"), 0),
    ],
)
def test_exporters_tolerate_the_taints_of_nodes_with_devices(agent: str, node: str, count: int) -> None:
    found = [
        each
        for each in _findings(agent, node)
        if "it does not run there" in each or "its pods do not run there" in each
    ]

    assert len(found) == count


@pytest.mark.parametrize(
    ("affinity", "labels", "count"),
    [
        ("", "", 1),
        (_AFFINITY % "lab", "", 0),
        (_AFFINITY % "lab", "lab: 'true'", 1),
        (_AFFINITY % _PRESENT, "", 0),
        (_AFFINITY % _PRESENT, "nvidia.com/gpu.product: NVIDIA-L4", 1),
        (_AFFINITY % _PRESENT, f"{_PRESENT}: 'false'", 0),
    ],
)
def test_an_agent_is_compared_with_nodes_that_its_affinity_selects(affinity: str, labels: str, count: int) -> None:
    found = _findings(_agent("nvcr.io/nvidia/k8s-device-plugin:v0.17.1", affinity), _node(labels=labels))

    assert sum("does not tolerate" in each for each in found) == count


def _roles(claim: str, more: str = "", workers: int = 1) -> str:
    pods = "template: {spec: {%scontainers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: %s}}]}}"
    master, worker = (pods % ("", "data"), pods % (more, claim))
    roles = f"Master: {{{master}}}, Worker: {{replicas: {workers}, {worker}}}"
    return _object("kubeflow.org/v1", "PyTorchJob", f"pytorchReplicaSpecs: {{{roles}}}", "name: x, namespace: a")


@pytest.mark.parametrize(
    ("job", "modes", "is_found"),
    [
        (_roles("data"), "ReadWriteOnce", True),
        (_roles("data"), "ReadWriteMany", False),
        (_roles("other"), "ReadWriteOnce", False),
        (_roles("data", workers=2), "ReadWriteOnce", False),
        (_roles("data", "nodeSelector: {kubernetes.io/hostname: n1}, "), "ReadWriteOnce", False),
    ],
)
def test_two_roles_do_not_share_a_disk_of_one_node(job: str, modes: str, is_found: bool) -> None:
    claim = _object("v1", "PersistentVolumeClaim", f"accessModes: [{modes}]", "name: data, namespace: a")

    assert any("in pods of two roles" in each for each in _findings(job, claim)) is is_found


@pytest.mark.parametrize(
    ("model", "volume", "count"),
    [
        ("llama3.3:70b", "persistentVolumeClaim: {claimName: c}", 1),
        ("llama3.2:3b", "persistentVolumeClaim: {claimName: c}", 0),
        ("llama3.3:70b-instruct-q2_K", "persistentVolumeClaim: {claimName: c}", 0),
        ("llama3.3:70b", "persistentVolumeClaim: {claimName: other}", 0),
        ("qwen3:32b", "emptyDir: {sizeLimit: 10Gi}", 1),
        ("qwen3:32b", "emptyDir: {}", 0),
    ],
)
def test_a_model_of_ollama_fits_its_volume(model: str, volume: str, count: int) -> None:
    claim = _object("v1", "PersistentVolumeClaim", "resources: {requests: {storage: 20Gi}}", "name: c, namespace: a")
    mounts = "volumeMounts: [{name: m, mountPath: /root/.ollama}]"
    container = f"{{name: o, command: [sh, -c, 'ollama pull {model}'], {mounts}}}"
    text = f"{{containers: [{container}], volumes: [{{name: m, {volume}}}]}}"

    found = list(disks.pulled_by_ollama(yaml.safe_load(text), "/spec", "a", Objects([yaml.safe_load(claim)])))
    assert len(found) == count
