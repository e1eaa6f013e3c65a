"""Objects of files lack facts of a cluster: classes of disks, zones, ports of nodes, a runtime class."""

from typing import Any

import pytest
import yaml

from usher import model
from usher.config import models
from usher.kinds.reading import chosen_boards, disks, value_forms
from usher.kinds.reading.values import OF_FACTS, Objects
from usher.model import placement
from usher.policy import assembly

_Json = dict[str, Any]
_EVALUATOR = assembly.embedded(models.Config())


def _found(value: str, facts: str = "", files: str = "") -> list[str]:
    """The texts of the findings about an object beside objects of the files and of the facts."""
    given: _Json = yaml.safe_load(value)
    known = [each for each in yaml.safe_load_all(facts) if each]
    objects = Objects([given, *(each for each in yaml.safe_load_all(files) if each)])
    objects.once(OF_FACTS, lambda: lambda group, kind: _of_kind(known, group, kind))
    key = str(given["apiVersion"]).rpartition("/")[0], str(given["kind"])
    workload = _EVALUATOR.knowledge.workload(given)
    found = chosen_boards.beside_others(given, key, objects, workload, value_forms.pod_specs(given))
    return [each.text for each in found]


def _of_kind(known: list[_Json], group: str, kind: str) -> dict[str, _Json]:
    found = [each for each in known if each["kind"] == kind and each["apiVersion"].rpartition("/")[0] == group]
    return {f"x/{each['metadata']['name']}": each for each in found}


def _class(name: str, provisioner: str = "efs.csi.aws.com", rest: str = "", *, default: bool = False) -> str:
    annotation = "annotations: {storageclass.kubernetes.io/is-default-class: 'true'}" if default else ""
    metadata = f"metadata: {{name: {name}, {annotation}}}"
    return f"{{apiVersion: storage.k8s.io/v1, kind: StorageClass, {metadata}, provisioner: {provisioner}{rest}}}"


def _claim(spec: str = "", mode: str = "ReadWriteOnce") -> str:
    whole = f"{{accessModes: [{mode}]{spec}}}"
    return f"{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: c}}, spec: {whole}}}"


_FILE_SYSTEM, _DISK = _class("efs"), _class("gp3", "ebs.csi.aws.com")
_NO_CLASS = "names no storageClassName, and no known StorageClass is the default"
_OF_NONE = "names the StorageClass fast, which the cluster does not have"
_BLOCK = "asks for ReadWriteMany, but one node alone mounts a file system of ebs.csi.aws.com, the default here"


@pytest.mark.parametrize(
    ("claim", "classes", "text"),
    [
        (_claim(), [_FILE_SYSTEM], _NO_CLASS),
        (_claim(", storageClassName: null"), [_FILE_SYSTEM], _NO_CLASS),
        (_claim(), [_class("efs", default=True)], ""),
        (_claim(), [], ""),
        (_claim(", storageClassName: ''"), [_FILE_SYSTEM], ""),
        (_claim(", volumeName: v"), [_FILE_SYSTEM], ""),
        (_claim(", storageClassName: efs"), [_FILE_SYSTEM], ""),
        (_claim(", storageClassName: fast"), [_FILE_SYSTEM], _OF_NONE),
        (_claim(", storageClassName: '{{ class }}'"), [_FILE_SYSTEM], ""),
        (_claim("", "ReadWriteMany"), [_class("gp3", "ebs.csi.aws.com", default=True)], _BLOCK),
        (_claim("", "ReadWriteMany"), [_class("efs", default=True)], ""),
        (_claim(", volumeMode: Block", "ReadWriteMany"), [_class("gp3", "ebs.csi.aws.com", default=True)], ""),
    ],
)
def test_claims_are_compared_with_the_storage_classes_of_the_cluster(claim: str, classes: list[str], text: str) -> None:
    expected = [f"{text}, so its pods wait unless a volume for it exists"] if text else []
    assert _found(claim, "\n---\n".join(classes)) == expected


def test_classes_of_the_files_alone_are_not_all_of_a_cluster() -> None:
    assert _found(_claim(), files=_FILE_SYSTEM) == []


def test_a_volume_of_the_files_may_have_a_class_that_no_object_describes() -> None:
    volume = "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {storageClassName: fast}}"
    assert _found(_claim(", storageClassName: fast"), _FILE_SYSTEM, volume) == []


_EPHEMERAL = "volumes: [{name: e, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]%s}}}}]"


def _job(pod: str = "", *, pods: int = 1, limits: str = "nvidia.com/gpu: 2", container: str = "") -> str:
    containers = f"containers: [{{name: c, image: x, resources: {{limits: {{{limits}}}}}{container}}}]"
    template = f"{{spec: {{restartPolicy: Never, {containers}{', ' if pod else ''}{pod}}}}}"
    return (
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: j, namespace: n}, "
        f"spec: {{replicas: {pods}, template: {template}}}}}"
    )


def test_the_claims_that_pods_make_count_too() -> None:
    assert len(_found(_job(_EPHEMERAL % ""), _FILE_SYSTEM)) == 1
    assert _found(_job(_EPHEMERAL % ", storageClassName: efs"), _FILE_SYSTEM) == []


def _node(name: str, zone: str, gpus: str = "8", more: str = "") -> str:
    metadata = f"{{name: {name}, labels: {{topology.kubernetes.io/zone: {zone}{more}}}}}"
    allocatable = f"{{cpu: '8', nvidia.com/gpu: '{gpus}'}}"
    return f"{{apiVersion: v1, kind: Node, metadata: {metadata}, status: {{allocatable: {allocatable}}}}}"


_ZONES = f"{_node('gpu-0', 'a')}\n---\n{_node('cpu-0', 'b', '0')}\n---\n"


@pytest.mark.parametrize(
    ("rest", "provisioner", "found"),
    [
        ("", "ebs.csi.aws.com", 1),
        (", volumeBindingMode: Immediate", "pd.csi.storage.gke.io", 1),
        (", volumeBindingMode: WaitForFirstConsumer", "ebs.csi.aws.com", 0),
        ("", "efs.csi.aws.com", 0),
        (", allowedTopologies: []", "ebs.csi.aws.com", 0),
    ],
)
def test_disks_made_before_their_pods_may_be_in_a_zone_without_gpus(rest: str, provisioner: str, found: int) -> None:
    facts = _ZONES + _class("fast", provisioner, rest, default=True)

    assert len(_found(_job(_EPHEMERAL % ""), facts)) == found
    assert len(_found(_job(_EPHEMERAL % ", storageClassName: fast"), facts)) == found
    volumes = "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]"
    claim = _claim(", storageClassName: fast").replace("{name: c}", "{name: c, namespace: n}")
    assert len(_found(_job(volumes), facts, claim)) == found


_IN_B = "nodeSelectorTerms: [{matchExpressions: [{key: topology.gke.io/zone, operator: In, values: [b]}]}]"
_VOLUME = (
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, status: {phase: Bound}, spec: "
    f"{{claimRef: {{namespace: n, name: c}}, nodeAffinity: {{required: {{{_IN_B}}}}}}}}}"
)


@pytest.mark.parametrize(
    ("claim", "volume", "found"),
    [
        (", volumeName: v", _VOLUME, 1),
        ("", _VOLUME, 1),
        ("", _VOLUME.replace("Bound", "Released"), 0),
        ("", _VOLUME.replace("[b]", "[a, b]"), 0),
        (", volumeName: other", _VOLUME.replace("namespace: n", "namespace: m"), 0),
    ],
)
def test_a_volume_of_the_cluster_is_in_a_zone_with_the_gpus(claim: str, volume: str, found: int) -> None:
    made = _claim(f", storageClassName: fast{claim}").replace("{name: c}", "{name: c, namespace: n}")
    facts = f"{_ZONES}{volume}\n---\n{_class('fast', 'efs.csi.aws.com')}"
    expected = ["mounts c, whose volume is in b, but the known nodes with nvidia.com/gpu are in a"] * found

    assert _found(_job("volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]"), facts, made) == expected


def test_gpus_that_the_pods_do_not_select_are_in_no_zone_for_them() -> None:
    pod = "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], nodeSelector: {gpu: l4}"
    facts = f"{_node('l4', 'a', more=', gpu: l4')}\n---\n{_node('a100', 'b', more=', gpu: a100')}\n---\n{_VOLUME}"

    assert len(_found(_job(pod), facts)) == 1
    assert _found(_job(pod.replace("l4", "a100")), facts) == []


_KEEPS = "{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: fs.csi}, spec: {fsGroupPolicy: %s}}"
_MOUNT = "name: v, mountPath: /m"


@pytest.mark.parametrize(
    ("policy", "user", "mount", "first", "found"),
    [
        ("None", "100", _MOUNT, "", 1),
        ("File", "100", _MOUNT, "", 0),
        ("None", "0", _MOUNT, "", 0),
        ("None", "null", _MOUNT, "", 0),
        ("None", "100", f"{_MOUNT}, readOnly: true", "", 0),
        ("None", "100", _MOUNT, f"{{name: own, image: x, volumeMounts: [{{{_MOUNT}}}]}}", 0),
        ("None", "100", _MOUNT, "{name: other, image: x}", 1),
    ],
)
def test_a_group_has_no_effect_on_a_volume_whose_driver_keeps_it(
    policy: str, user: str, mount: str, first: str, found: int
) -> None:
    context = "securityContext: {fsGroup: 102}, volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]"
    container = f", volumeMounts: [{{{mount}}}], securityContext: {{runAsUser: {user}}}"
    pods = _job(f"{context}, initContainers: [{first}]", container=container)
    claim = _claim(", storageClassName: fast", "ReadWriteMany").replace("{name: c}", "{name: c, namespace: n}")
    facts = f"{_KEEPS % policy}\n---\n{_class('fast', 'fs.csi')}"

    texts = _found(pods, facts, claim)
    assert len(texts) == found
    assert all(each.startswith("lets the user 100 of c write to c by fsGroup 102") for each in texts)
    assert _found(pods.replace("fsGroup: 102", "fsGroup: {a: b}"), facts, claim) == []


@pytest.mark.parametrize(
    ("image", "selector", "found"),
    [
        ("docker.io/rocm/k8s-device-plugin:1.31.0.7", "board: amd", 1),
        ("rocm/k8s-device-plugin", "board: amd", 1),
        ("rocm/k8s-device-plugin:labeller-latest", "", 0),
        ("rocm/k8s-device-plugin", "board: amd, kubernetes.io/arch: amd64", 0),
        ("registry.example.com/rocm/k8s-device-plugin:1-arm64", "board: amd", 0),
        ("nvidia/k8s-device-plugin:1.0.0-beta4", "board: amd", 1),
        ("nvidia/k8s-device-plugin:1.0.0-beta40", "board: amd", 0),
    ],
)
def test_an_image_is_for_the_architecture_of_the_nodes_that_it_selects(image: str, selector: str, found: int) -> None:
    agent = (
        "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d, namespace: kube-system}, spec: {template: "
        f"{{spec: {{nodeSelector: {{{selector}}}, containers: [{{name: c, image: '{image}'}}]}}}}}}}}"
    )
    arm = _node("arm", "a", more=", board: amd, kubernetes.io/arch: arm64")
    other = _node("amd", "a", more=", kubernetes.io/arch: amd64")

    assert len(_found(agent, f"{arm}\n---\n{other}")) == found
    assert _found(agent) == []


def test_gpus_in_all_zones_are_good_for_all_disks() -> None:
    facts = f"{_node('gpu-0', 'a')}\n---\n{_node('gpu-1', 'b')}\n---\n" + _class("d", "ebs.csi.aws.com", default=True)
    assert _found(_job(_EPHEMERAL % ""), facts) == []


_HOST = "hostNetwork: true"
_SSHD = ", command: [/usr/sbin/sshd, -De]"


@pytest.mark.parametrize(
    ("pod", "container", "port"),
    [
        (_HOST, _SSHD, 0),
        (_HOST, ", command: [/usr/sbin/sshd, -De, -p, '2222']", 2222),
        (_HOST, ", command: [bash, -c, 'mkdir -p /run/sshd && /usr/sbin/sshd -p 2223 -D']", 2223),
        (_HOST, ", command: [vllm, serve, m, --port, '8001']", 8001),
        (_HOST, ", command: [python, train.py]", None),
        (_HOST, _SSHD + ", ports: [{containerPort: 22}]", None),
        ("hostNetwork: false", _SSHD, None),
        (
            f"{_HOST}, affinity: {{podAntiAffinity: {{{placement.REQUIRED}: [{{topologyKey: host}}]}}}}",
            _SSHD,
            None,
        ),
        (_HOST, ", command: [bash, -c, 'echo Port 2224 >> /etc/ssh/x; /usr/sbin/sshd -D']", None),
    ],
)
def test_programs_of_two_pods_on_one_node_want_one_port(pod: str, container: str, port: int | None) -> None:
    facts = f"{_node('gpu-0', 'a')}\n---\n{_node('gpu-1', 'a')}"
    text = (
        f"runs 2 pods in the network of their nodes with {f'a program on port {port}' if port else 'sshd'}, and a node "
        "has room for 4 of them: the second one there finds the port in use"
    )
    assert _found(_job(pod, pods=2, container=container), facts) == ([] if port is None else [text])


def test_pods_that_fill_their_node_have_its_ports() -> None:
    full = _job(_HOST, pods=2, container=_SSHD, limits="nvidia.com/gpu: 8")
    assert _found(full, f"{_node('gpu-0', 'a')}\n---\n{_node('gpu-1', 'a')}") == []
    assert _found(_job(_HOST, pods=2, container=_SSHD)) == []


@pytest.mark.parametrize(("machine", "found"), [("p4d.24xlarge", 1), ("g6.12xlarge", 1), ("g5.xlarge", 0), ("m5", 0)])
def test_a_machine_type_says_how_many_pods_share_a_node(machine: str, found: int) -> None:
    selecting = f"{_HOST}, nodeSelector: {{node.kubernetes.io/instance-type: {machine}}}"
    assert len(_found(_job(selecting, pods=2, container=_SSHD))) == found


@pytest.mark.parametrize(
    ("pod", "ports", "pods", "found"),
    [
        ("", "hostPort: 8000, containerPort: 80", 3, True),
        (_HOST, "containerPort: 8000", 3, True),
        ("", "hostPort: 8000, containerPort: 80", 2, False),
        ("", "containerPort: 8000", 3, False),
        ("", "hostPort: 0, containerPort: 80", 3, False),
    ],
)
def test_each_pod_with_a_port_of_its_node_wants_a_node_for_itself(
    pod: str, ports: str, pods: int, *, found: bool
) -> None:
    facts = f"{_node('gpu-0', 'a')}\n---\n{_node('gpu-1', 'a')}\n---\n{_node('cpu-0', 'a', '0')}"
    text = (
        "has 3 pods that each want port 8000 of their node, but only 2 of the known nodes can hold one, so the others "
        "stay pending unless nodes are added"
    )
    assert _found(_job(pod, pods=pods, container=f", ports: [{{{ports}}}]"), facts) == ([text] if found else [])


_DAEMON_SET = (
    "{{apiVersion: apps/v1, kind: DaemonSet, metadata: {{name: exporter}}, spec: {{template: {{spec: {{{spec}, "
    "containers: [{{name: e, image: e, ports: [{{containerPort: 9400}}]}}]}}}}}}}}"
)


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        (f"{_HOST}, tolerations: [{{operator: Exists}}]", 1),
        ("tolerations: [{operator: Exists}]", 0),
        (_HOST, 0),
        (f"{_HOST}, nodeSelector: {{a: b}}, tolerations: [{{operator: Exists}}]", 0),
    ],
)
def test_ports_of_daemon_sets_are_taken_on_every_node(spec: str, found: int) -> None:
    daemons = _DAEMON_SET.format(spec=spec)
    assert len(_found(_job(_HOST, container=", ports: [{containerPort: 9400}]"), daemons)) == found
    assert _found(_job(_HOST, container=", ports: [{containerPort: 9401}]"), daemons) == []
    assert _found(daemons, daemons) == []


_PLUGIN = (
    "{{apiVersion: apps/v1, kind: DaemonSet, metadata: {{name: plugin, labels: {{a: {label}}}}}, spec: {{template: "
    "{{spec: {{{spec}containers: [{{name: e, image: nvcr.io/nvidia/k8s-device-plugin:v0.17.0}}]}}}}}}}}"
)


@pytest.mark.parametrize(
    ("pod", "plugin", "label", "found"),
    [
        ("", "runtimeClassName: nvidia, ", "k3s", 1),
        ("runtimeClassName: nvidia", "runtimeClassName: nvidia, ", "k3s", 0),
        ("", "", "k3s", 0),
        ("", "runtimeClassName: nvidia, ", "gpu-operator", 0),
    ],
)
def test_a_plugin_that_needs_a_runtime_class_says_that_pods_need_it(
    pod: str, plugin: str, label: str, found: int
) -> None:
    daemons = _PLUGIN.format(spec=plugin, label=label)
    assert len(_found(_job(pod), daemons)) == found
    assert len(_found(_job(pod), files=daemons)) == found


@pytest.mark.parametrize(
    "damaged",
    [
        _job(_HOST, pods=2, container=", ports: [null, {containerPort: x}, 3]"),
        _job("hostNetwork: x, volumes: [null, {ephemeral: 3}]", pods=2),
        _claim(", storageClassName: 3"),
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: 3, spec: [1]}",
        "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {volumeClaimTemplates: [3, {spec: 1}]}}",
    ],
)
def test_damaged_objects_are_read_beside_facts(damaged: str) -> None:
    broken = [
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: d, annotations: 3}, provisioner: [1]}",
        "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {template: {spec: {tolerations: [3]}}}}",
        "{apiVersion: v1, kind: Node, metadata: {name: n, labels: 3}, status: {allocatable: {nvidia.com/gpu: []}}}",
    ]
    assert isinstance(_found(damaged, "\n---\n".join(broken)), list)


def test_findings_warn() -> None:
    given = yaml.safe_load(_claim())
    objects = Objects([given])
    classes = {"efs": yaml.safe_load(_FILE_SYSTEM)}
    objects.once(OF_FACTS, lambda: lambda _group, kind: classes if kind == "StorageClass" else {})
    (found,) = disks.beside_others(given, ("", "PersistentVolumeClaim"), {}, objects)
    assert found == model.UnreadKey(
        path="/spec", text=found.text, remedy="name one: efs", important=False, topic="controller"
    )


@pytest.mark.parametrize(("of_pods", "found"), [("", 1), ("scheduling.k8s.io/v1, kind: PriorityClass", 0)])
def test_an_object_of_the_facts_may_have_the_name_rightly(of_pods: str, found: int) -> None:
    job = (
        "{apiVersion: batch/v1, kind: Job, metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}, "
        "spec: {template: {spec: {priorityClassName: urgent, containers: [{name: c}]}}}}"
    )
    versions = ["kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass", *([of_pods] if of_pods else [])]
    facts = "\n---\n".join(f"{{apiVersion: {version}, metadata: {{name: urgent}}, value: 1}}" for version in versions)

    assert len([text for text in _found(job, facts) if "PriorityClasses alone" in text]) == found
