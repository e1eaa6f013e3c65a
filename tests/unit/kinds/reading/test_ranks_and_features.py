"""Services over ranks that answer nothing, labels of features in another form, and pods without their devices."""

import pytest
import yaml

from usher.kinds.reading import inference_routes, machines, refused_values, value_forms
from usher.kinds.reading.values import Objects
from usher.workloads import model_servers

_SELECTOR = "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: ml}, spec: {selector: {%s}}}"


def _group(worker: str, size: int = 2, leader: str = "app: a, role: leader", more: str = "") -> str:
    container = f"{{name: c, args: [{worker}]{more}}}"
    pods = f"{{metadata: {{labels: {{app: a}}}}, spec: {{containers: [{container}]}}}}"
    leaders = f"{{metadata: {{labels: {{{leader}}}}}, spec: {{containers: [{container}]}}}}"
    spec = f"leaderWorkerTemplate: {{size: {size}, workerTemplate: {pods}, leaderTemplate: {leaders}}}"
    kind = "apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet"
    return f"{{{kind}, metadata: {{name: g, namespace: ml}}, spec: {{{spec}}}}}"


@pytest.mark.parametrize(
    ("selector", "group", "is_found"),
    [
        ("app: a", _group("--node-rank=1"), True),
        ("app: a, role: leader", _group("--node-rank=1"), False),
        ("app: a", _group("--node-rank=1", size=1), False),
        ("app: a", _group("--node-rank=1, --data-parallel-size=2"), False),
        ("app: a", _group("--node-rank=1", more=", readinessProbe: {httpGet: {port: 80}}"), False),
        ("app: a", _group("serve"), False),
        ("", _group("--node-rank=1"), False),
    ],
)
def test_a_service_selects_the_leader_alone(selector: str, group: str, is_found: bool) -> None:
    values = [yaml.safe_load(each) for each in (_SELECTOR % selector, group)]

    found = [*inference_routes.beside_others(values[0], ("", "Service"), Objects(values))]

    assert [each.path for each in found] == ["/spec/selector"] * is_found


def test_a_file_may_leave_the_namespace_out() -> None:
    texts = (each.replace(", namespace: ml", "") for each in (_SELECTOR % "app: a", _group("--node-rank=1")))
    values = [yaml.safe_load(each) for each in texts]

    found = inference_routes.beside_others(values[0], ("", "Service"), Objects(values, namespace="default"))

    assert [each.path for each in found] == ["/spec/selector"]


_PRESENT = "feature.node.kubernetes.io/pci-%s.present"


def _agent(*keys: str) -> str:
    terms = ", ".join(f"{{matchExpressions: [{{key: {key}, operator: Exists}}]}}" for key in keys)
    affinity = f"nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{terms}]}}}}"
    spec = f"template: {{spec: {{affinity: {{{affinity}}}, containers: [{{name: c, image: a}}]}}}}"
    return f"{{apiVersion: apps/v1, kind: DaemonSet, metadata: {{name: d}}, spec: {{{spec}}}}}"


def _node(label: str) -> str:
    return f"{{apiVersion: v1, kind: Node, metadata: {{name: n, labels: {{{label}: 'true'}}}}}}"


@pytest.mark.parametrize(
    ("keys", "label", "remedy"),
    [
        ([_PRESENT % "10de"], _PRESENT % "0302_10de", f"select {_PRESENT % '0302_10de'}"),
        (
            [_PRESENT % "10de", "nvidia.com/gpu.present"],
            _PRESENT % "0302_10de",
            f"label the nodes nvidia.com/gpu.present, or select {_PRESENT % '0302_10de'}",
        ),
        ([_PRESENT % "10de"], _PRESENT % "10de", ""),
        ([_PRESENT % "10de", _PRESENT % "0302_10de"], _PRESENT % "0302_10de", ""),
        ([_PRESENT % "10de"], _PRESENT % "0300_1002", ""),
        ([_PRESENT % "10de"], "kubernetes.io/os", ""),
    ],
)
def test_an_agent_selects_features_in_the_form_of_the_nodes(keys: list[str], label: str, remedy: str) -> None:
    values = [yaml.safe_load(each) for each in (_agent(*keys), _node(label))]

    found = [each.remedy for each in machines.beside_others(values[0], {}, Objects(values))]

    assert found == [remedy] * bool(remedy)


_SHARED = (
    "{apiVersion: v1, kind: Node, metadata: {name: n, labels: {nvidia.com/gpu.sharing-strategy: time-slicing, "
    "nvidia.com/gpu.replicas: '%s'}}}"
)
_BINDER = (
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: binder, namespace: kai}, spec: {template: {spec: "
    "{containers: [{name: c, image: 'ghcr.io/nvidia/kai-scheduler/binder:v0.9', "
    "args: ['--gpu-sharing-enabled=%s']}]}}}}"
)
_GPU = "image: 'vllm/vllm-openai:v0.11.0', resources: {limits: {nvidia.com/gpu: '1'}}"


@pytest.mark.parametrize(
    ("annotations", "container", "other", "is_found"),
    [
        ("gpu-fraction: '0.5'", "image: a", _BINDER % "false", True),
        ("gpu-memory: '4000'", "image: a", _BINDER % "false", True),
        ("gpu-fraction: '0.5'", "image: a", _BINDER % "true", False),
        ("", "image: a", _BINDER % "false", False),
        ("", _GPU, _SHARED % 4, True),
        ("", _GPU, _SHARED % 1, False),
        ("", f"{_GPU}, args: ['--gpu-memory-utilization=0.4']", _SHARED % 4, False),
        ("", f"{_GPU.replace('1}', '2}')}", "{apiVersion: v1, kind: Node, metadata: {name: n}}", False),
    ],
)
def test_a_part_of_a_gpu_is_one_that_the_cluster_gives(
    annotations: str, container: str, other: str, is_found: bool
) -> None:
    metadata = f"metadata: {{name: p, namespace: ml, annotations: {{{annotations}}}}}"
    pod = f"{{apiVersion: v1, kind: Pod, {metadata}, spec: {{containers: [{{name: c, {container}}}]}}}}"
    values = [yaml.safe_load(each) for each in (pod, other)]

    assert len([*refused_values.beside_others(values[0], ("", "Pod"), Objects(values))]) == is_found


def test_a_limit_of_tokens_does_not_count_as_a_token_of_the_hub() -> None:
    size = model_servers.model_size("--model meta-llama/Llama-3.1-8B --max-num-batched-tokens 8192", {})

    assert size is not None
    assert size["gated"] == "meta-llama"


_INFINIBAND = "volumes: [{name: v, hostPath: {path: /dev/infiniband}}]"
_GID = "env: [{name: NCCL_IB_GID_INDEX, value: '3'}]"


@pytest.mark.parametrize(
    ("container", "pod", "is_found"),
    [
        (_GID, _INFINIBAND, True),
        (_GID, f"{_INFINIBAND}, hostNetwork: true", False),
        (f"{_GID}, resources: {{limits: {{nvidia.com/mlnxnics: 1}}}}", _INFINIBAND, False),
        (f"{_GID}, resources: {{limits: {{nvidia.com/gpu: 8}}}}", _INFINIBAND, True),
        (_GID, "volumes: []", False),
        ("image: 'vllm/vllm-openai:v0.10.1'", "nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}", True),
        ("image: 'vllm/vllm-openai:v0.11.0'", "nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}", False),
        ("image: 'vllm/vllm-openai:v0.10.1'", "nodeSelector: {gpu: l4}", False),
        (
            "image: 'vllm/vllm-openai:v0.10.1', env: [{name: LD_LIBRARY_PATH, value: /usr/local/nvidia/lib64}]",
            "nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}",
            False,
        ),
    ],
)
def test_a_pod_reaches_the_cards_and_the_driver_of_its_node(container: str, pod: str, is_found: bool) -> None:
    text = (
        f"{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{containers: [{{name: c, {container}}}], {pod}}}}}"
    )
    value = yaml.safe_load(text)

    assert len([*refused_values.wrong_pods(value, value_forms.pod_specs(value))]) == is_found
