"""Rows of known_keys.yaml about pods of any kind: images, volumes, users, networks and amounts."""

from typing import Any

import pytest
import yaml

from usher.config import models
from usher.kinds.reading import controller_rules, pod_templates, refused_values, value_forms
from usher.kinds.reading.values import Objects
from usher.policy import assembly

_Json = dict[str, Any]


def _template(text: str) -> _Json:
    """A pod template of the fields of its container; `pod` has those of the pod, and `metadata` its own."""
    container: _Json = {"name": "c", "image": "x", **yaml.safe_load(text)}
    pod, metadata = container.pop("pod", {}), container.pop("metadata", {})
    return {"metadata": metadata, "spec": {"containers": [container], **pod}}


def _found(text: str) -> list[str]:
    """The remedies of the findings about a pod."""
    value: _Json = {"apiVersion": "v1", "kind": "Pod", **_template(text)}
    return [each.remedy for each in refused_values.wrong_pods(value, value_forms.pod_specs(value))]


_BUCKET = "pod: {volumes: [{name: v, csi: {driver: gcsfuse.csi.storage.gke.io}}]}"
_ANNOTATED = "metadata: {annotations: {gke-gcsfuse/volumes: '%s'}}, "
_ASKS = "args: ['--url=http://redis.cache.svc:6379'], pod: {hostNetwork: %s}"
_NIM = "image: 'nvcr.io/nim/meta/llama-3.1-8b-instruct:1.3.0'"
_CLAIM = (
    "volumeMounts: [{name: v, mountPath: %s}], pod: {volumes: [{name: v, persistentVolumeClaim: {claimName: a}}]%s}"
)
_PULL = ", pod: {imagePullSecrets: [{name: ngc}]}"
_LIMIT = "resources: {limits: {memory: %s}}"
_EXPORTER = "image: 'nvcr.io/nvidia/k8s/dcgm-exporter:4.4.2-4.7.0-ubuntu22.04'"
_OLLAMA = "image: 'ollama/ollama:0.9.0', readinessProbe: {exec: {command: [%s]}}"
_NAME = "env: [{name: NCCL_SOCKET_IFNAME, value: %s}]"
_LIBRARIES = (
    "env: [{name: LD_LIBRARY_PATH, value: '%s'}], pod: {nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}}"
)
_RESTORED = (
    "metadata: {labels: {nvidia.com/snapshot-is-restore-target: 'true'}}, "
    "command: [sleep, infinity], startupProbe: {%s}"
)
_WEB = "image: 'ghcr.io/open-webui/open-webui:main', env: [{name: OLLAMA_BASE_URL, value: 'http://localhost:11434'}]"
_LISTENS = "image: 'ollama/ollama:0.9.0', ports: [{containerPort: 11434}], env: [{name: OLLAMA_HOST, value: '%s'}]"
_FOLDER = (
    "pod: {securityContext: {runAsUser: 1000, fsGroup: 1000}, "
    "volumes: [{name: v, hostPath: {path: /data, type: DirectoryOrCreate}}]}"
)
_HOME = "volumeMounts: [{name: v, mountPath: /root/.cache/huggingface}]"
_ELSEWHERE = "mount it elsewhere, and set HOME, or HF_HOME for models of the hub, to that folder"
_OWNER = (
    "make the folder on the nodes for this user, change its owner in an init container, or use a PersistentVolumeClaim"
)
_SSHD = "command: [/usr/sbin/sshd, -De], securityContext: {capabilities: {drop: [ALL], add: [%s]}}"
_SET_GROUP = "set securityContext.fsGroup of the pod, for example to 1000, unless the storage opens it to all users"
_TAG = "write a tag with a version and a system, for example 12.8.1-base-ubuntu24.04"
_INTERFACE = "write eth0, set hostNetwork: true, or attach a network with k8s.v1.cni.cncf.io/networks"
_WAIT = "let the startupProbe read the file that says that the restore is ready, with time for the whole restore"


@pytest.mark.parametrize(
    ("text", "remedies"),
    [
        (f"{{{_BUCKET}}}", ['add gke-gcsfuse/volumes: "true" to the annotations of the pods']),
        (f"{{{_ANNOTATED % 'true'}{_BUCKET}}}", []),
        (f"{{{_ANNOTATED % 'false'}{_BUCKET}}}", ['add gke-gcsfuse/volumes: "true" to the annotations of the pods']),
        (f"{{{_ASKS % 'true'}}}", ["set dnsPolicy: ClusterFirstWithHostNet"]),
        (f"{{{_ASKS % 'true, dnsPolicy: ClusterFirst'}}}", ["set dnsPolicy: ClusterFirstWithHostNet"]),
        (f"{{{_ASKS % 'true, dnsPolicy: ClusterFirstWithHostNet'}}}", []),
        (f"{{{_ASKS % 'false'}}}", []),
        ("{args: ['--url=http://redis.example.com'], pod: {hostNetwork: true}}", []),
        (f"{{{_NIM}}}", ["add imagePullSecrets, unless the default ServiceAccount has them"]),
        (f"{{{_NIM}{_PULL}}}", []),
        (f"{{{_NIM}, pod: {{serviceAccountName: nim}}}}", []),
        (f"{{{_NIM}, {_CLAIM % ('/opt/nim/.cache', ', serviceAccountName: a')}}}", [_SET_GROUP]),
        (
            f"{{{_NIM}, {_CLAIM % ('/opt/nim/.cache', ', serviceAccountName: a, securityContext: {fsGroup: 1}')}}}",
            [],
        ),
        (f"{{image: 'quay.io/jupyter/base-notebook:a', {_CLAIM % ('/home/jovyan/work', '')}}}", [_SET_GROUP]),
        (f"{{image: 'quay.io/jupyter/base-notebook:a', {_CLAIM % ('/data', '')}}}", []),
        (f"{{{_LIMIT % 32}}}", ["write 32Gi or 32Mi"]),
        (f"{{{_LIMIT % '512m'}}}", ["write 512Mi"]),
        (f"{{{_LIMIT % '512Mi'}}}", []),
        (f"{{{_LIMIT % 34359738368}}}", []),
        (
            f"{{{_OLLAMA % 'curl, -f, localhost:11434'}}}",
            ["use ollama list, which ends well once the server answers, or an httpGet"],
        ),
        (f"{{{_OLLAMA % 'ollama, list'}}}", []),
        (
            "{image: 'gcr.io/kubebuilder/kube-rbac-proxy:v0.13.1'}",
            ["pull quay.io/brancz/kube-rbac-proxy or registry.k8s.io/kubebuilder/kube-rbac-proxy"],
        ),
        ("{image: 'quay.io/brancz/kube-rbac-proxy:v0.18.0'}", []),
        (
            "{image: 'docker.io/bitnami/etcd:3.5.18-debian-12-r5'}",
            ["write bitnamilegacy in place of bitnami, or use the image of the project"],
        ),
        ("{image: 'bitnamilegacy/etcd:3.5.18-debian-12-r5'}", []),
        ("{image: 'bitnami/kubectl:latest'}", []),
        ("{image: nvidia/cuda}", [_TAG]),
        ("{image: 'docker.io/nvidia/cuda:latest'}", [_TAG]),
        ("{image: 'nvidia/cuda:11.0-base'}", [_TAG]),
        ("{image: 'nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04'}", []),
        (f"{{{_NAME % 'ib0'}}}", [_INTERFACE]),
        (f"{{{_NAME % '=ens1f0'}}}", [_INTERFACE]),
        (f"{{{_NAME % 'eth0'}}}", []),
        (f"{{{_NAME % 'ib0'}, pod: {{hostNetwork: true}}}}", []),
        (f"{{{_NAME % 'ib0'}, metadata: {{annotations: {{k8s.v1.cni.cncf.io/networks: ib}}}}}}", []),
        (
            "{env: [{name: PATH, value: '/opt/bin:$PATH'}]}",
            ["write the folders themselves, or set PATH in the shell that starts the program"],
        ),
        ("{env: [{name: PATH, value: '/opt/bin:/usr/bin'}]}", []),
        (f"{{{_LIBRARIES % '/opt/lib'}}}", ["add /usr/local/nvidia/lib64"]),
        (f"{{{_LIBRARIES % '/opt/lib:/usr/local/nvidia/lib64'}}}", []),
        (f"{{{_HOME}, securityContext: {{runAsUser: 1000}}}}", [_ELSEWHERE]),
        (f"{{{_HOME}, pod: {{securityContext: {{runAsUser: 1000}}}}}}", [_ELSEWHERE]),
        (f"{{{_HOME}, pod: {{securityContext: {{runAsUser: 1000}}}}, securityContext: {{runAsUser: 0}}}}", []),
        (f"{{{_HOME}}}", []),
        (f"{{{_FOLDER}}}", [_OWNER]),
        (f"{{{_WEB}}}", ["write the name of the Service of the server"]),
        (f"{{{_WEB.replace('localhost', 'ollama')}}}", []),
        (f"{{{_LISTENS % '127.0.0.1'}}}", ["write 0.0.0.0"]),
        (f"{{{_LISTENS % '0.0.0.0:11434'}}}", []),
        (f"{{{_FOLDER.replace('1000', '0')}}}", []),
        (f"{{{_FOLDER.replace('OrCreate', '')}}}", []),
        ("{args: ['redis://cache:6379'], pod: {hostNetwork: true}}", []),
        (f"{{{_SSHD % 'IPC_LOCK'}}}", ["add SYS_CHROOT to capabilities.add"]),
        (f"{{{_SSHD % 'SYS_CHROOT'}}}", []),
        (f"{{{_RESTORED % 'httpGet: {port: 8000}'}}}", [_WAIT]),
        (f"{{{_RESTORED % 'exec: {command: [cat, /snapshot-control/ready]}'}}}", []),
        (f"{{{_EXPORTER}, {_LIMIT % '256Mi'}}}", ["give it 512Mi at least, and 1Gi on nodes with 8 GPUs"]),
        (f"{{{_EXPORTER}, {_LIMIT % '512Mi'}}}", []),
        (f"{{{_EXPORTER}, {_LIMIT % '1Gi'}}}", []),
        (f"{{{_EXPORTER}, {_LIMIT % '256Mi'}, env: [{{name: DCGM_REMOTE_HOSTENGINE_INFO, value: 'dcgm:5555'}}]}}", []),
    ],
)
def test_a_pod_gets_what_its_image_and_its_node_give(text: str, remedies: list[str]) -> None:
    assert _found(text) == remedies


@pytest.mark.parametrize(
    ("container", "count"),
    [
        ("lifecycle: {postStart: {exec: {command: [sh, -c, ollama pull llama3]}}}", 1),
        ("lifecycle: {postStart: {exec: {command: [sh, -c, 'sleep 5; ollama pull llama3']}}}", 0),
        (
            "lifecycle: {postStart: {exec: {command: [sh, -c, 'while ! ollama ps; do sleep 1; done; ollama pull a']}}}",
            0,
        ),
        ("command: [sh, -c, 'ollama serve & ollama pull llama3; wait']", 1),
        ("command: [sh, -c, 'ollama serve & sleep 5; ollama pull llama3; wait']", 0),
        ("command: [ollama, serve]", 0),
    ],
)
def test_a_request_to_ollama_before_it_answers_is_found(container: str, count: int) -> None:
    found = _found(f"{{image: 'ollama/ollama:0.6.0', {container}}}")

    assert found == ["wait for it first: until ollama list; do sleep 1; done"] * count


def test_the_place_of_a_finding_is_in_the_template_of_any_kind() -> None:
    template = _template("{image: 'nvidia/cuda:latest', args: [a]}")
    value: _Json = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "spec": {"replicatedJobs": [{"name": "a", "template": {"spec": {"template": template}}}]},
    }
    specs = value_forms.pod_specs(value)

    assert [each.path for each in controller_rules.refused(value, ("jobset.x-k8s.io", "JobSet"), specs)] == [
        "/spec/replicatedJobs/0/template/spec/template/spec/containers/0/image"
    ]


@pytest.mark.parametrize(
    "damaged", ["{env: 1, volumeMounts: {a: b}}", "{resources: [1]}", "{pod: {volumes: 1, hostNetwork: []}}"]
)
def test_damaged_pods_raise_nothing(damaged: str) -> None:
    assert _found(damaged) == []


_NAMESPACE: _Json = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "llm", "annotations": {"openshift.io/sa.scc.uid-range": "1000700000/10000"}},
}
_ACCOUNT: _Json = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa", "namespace": "llm"}}
_BINDING: _Json = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "RoleBinding",
    "metadata": {"name": "b", "namespace": "llm"},
    "subjects": [{"kind": "ServiceAccount", "name": "sa"}],
}
_VLLM = "image: 'vllm/vllm-openai:v0.11.0'"
_KNOWLEDGE = assembly.embedded(models.Config()).knowledge


def _of_users(text: str, *others: _Json) -> list[str]:
    """The remedies of the findings about the users of a pod beside other objects."""
    value: _Json = {"apiVersion": "v1", "kind": "Pod", **_template(text)}
    value["metadata"] = {"name": "p", "namespace": "llm"}
    found = pod_templates.users_of_namespace(
        _KNOWLEDGE.workload(value), value_forms.pod_specs(value), Objects([value, *others])
    )
    return [each.remedy for each in found]


_LEAVE_OUT = "leave runAsUser and fsGroup out, or give the ServiceAccount the SCC nonroot-v2 or anyuid"
_SET_HOME = "set HOME to a folder of a volume that it can write"
_OF_ROOT = "set runAsUser, and HOME to a volume"


@pytest.mark.parametrize(
    ("text", "others", "remedies"),
    [
        ("{pod: {securityContext: {runAsUser: 1000}}}", [_NAMESPACE], [_LEAVE_OUT]),
        ("{pod: {securityContext: {fsGroup: 1000}}}", [_NAMESPACE], [_LEAVE_OUT]),
        ("{securityContext: {runAsUser: 1000709999}}", [_NAMESPACE], []),
        ("{securityContext: {runAsUser: 1000710000}}", [_NAMESPACE], [_LEAVE_OUT]),
        ("{pod: {securityContext: {runAsUser: 1000}}}", [], []),
        ("{pod: {serviceAccountName: sa, securityContext: {runAsUser: 1000}}}", [_NAMESPACE], []),
        ("{pod: {serviceAccountName: sa, securityContext: {runAsUser: 1000}}}", [_NAMESPACE, _ACCOUNT], [_LEAVE_OUT]),
        ("{pod: {serviceAccountName: sa, securityContext: {runAsUser: 1000}}}", [_NAMESPACE, _ACCOUNT, _BINDING], []),
        (f"{{{_VLLM}}}", [_NAMESPACE], [_SET_HOME]),
        (f"{{{_VLLM}, env: [{{name: HF_HOME, value: /a}}]}}", [_NAMESPACE], [_SET_HOME]),
        (f"{{{_VLLM}, env: [{{name: HOME, value: /a}}]}}", [_NAMESPACE], []),
        (f"{{{_VLLM}}}", [], []),
        ("{image: 'ollama/ollama:0.9.0'}", [_NAMESPACE], [_SET_HOME]),
        ("{image: 'registry.example.com/app:1'}", [_NAMESPACE], []),
        (f"{{{_VLLM}, securityContext: {{runAsNonRoot: true}}}}", [], [_OF_ROOT]),
        (f"{{{_VLLM}, pod: {{securityContext: {{runAsNonRoot: true, runAsUser: 2000}}}}}}", [], []),
        (f"{{{_VLLM}, pod: {{securityContext: {{runAsNonRoot: true}}}}}}", [_NAMESPACE], [_SET_HOME]),
        ("{image: 'registry.example.com/app:1', securityContext: {runAsNonRoot: true}}", [], []),
    ],
)
def test_a_pod_runs_as_a_user_that_its_namespace_and_its_image_have(
    text: str, others: list[_Json], remedies: list[str]
) -> None:
    assert _of_users(text, *others) == remedies


_READS_SECRET = "env: [{name: HF_TOKEN, valueFrom: {secretKeyRef: {name: a, key: b}}}]"
_READS_TEXTS = "envFrom: [{configMapRef: {name: a}}]"
_MOUNTS = "pod: {volumes: [{name: v, persistentVolumeClaim: {claimName: a}}]}"


@pytest.mark.parametrize(
    ("text", "kind", "metadata", "count"),
    [
        (_READS_SECRET, "Secret", {"namespace": "default"}, 1),
        (_READS_SECRET, "Secret", {"namespace": "serving"}, 0),
        (_READS_SECRET, "Secret", {}, 0),
        (
            _READS_SECRET,
            "Secret",
            {"namespace": "default", "annotations": {"reflector.v1.k8s.emberstack.com/a": "b"}},
            0,
        ),
        (_READS_TEXTS, "ConfigMap", {"namespace": "default"}, 1),
        (_READS_TEXTS, "ConfigMap", {"namespace": "serving"}, 0),
        (_MOUNTS, "PersistentVolumeClaim", {"namespace": "default"}, 1),
        (_MOUNTS, "PersistentVolumeClaim", {"namespace": "serving"}, 0),
    ],
)
def test_pods_read_objects_of_their_own_namespace(text: str, kind: str, metadata: _Json, count: int) -> None:
    job: _Json = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "j", "namespace": "serving"},
        "spec": {"replicatedJobs": [{"template": {"spec": {"template": _template(f"{{{text}}}")}}}]},
    }
    other: _Json = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", **metadata}}
    found = refused_values.beside_others(job, ("jobset.x-k8s.io", "JobSet"), Objects([job, other]))

    assert len([each for each in found if "in another namespace alone" in each.text]) == count
