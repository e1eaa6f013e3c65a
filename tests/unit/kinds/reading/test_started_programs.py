"""Programs of pods need things that their containers do not give."""

from typing import Any

import pytest
import yaml

from usher import model
from usher.kinds.reading import started_programs, value_forms

_Json = dict[str, Any]


def _found(text: str, kind: str = "Deployment", spec: str = "", **fields: str) -> list[str]:
    """The remedies of the findings about one container, written as YAML, in the pods of an object."""
    container = {"name": "main", **yaml.safe_load(text)}
    pod = {"containers": [container], **(yaml.safe_load(spec) or {})}
    above: _Json = {"template": {"spec": pod}, **{key: yaml.safe_load(value) for key, value in fields.items()}}
    group = {"Service": "serving.knative.dev", "PyTorchJob": "kubeflow.org", "InferenceService": "serving.kserve.io"}
    value: _Json = {"kind": kind, "metadata": {"name": "llm"}, "spec": above}
    key = (group.get(kind, "apps"), kind)
    return [each.remedy for each in started_programs.needs_of_programs(key, value, value_forms.pod_specs(value))]


_VLLM = "image: vllm/vllm-openai:v0.11.0"
_CLAIM = "volumes: [{name: cache, persistentVolumeClaim: {claimName: cache}}]"


@pytest.mark.parametrize(
    "container",
    [
        f"{{{_VLLM}, args: [--model, /data/llama]}}",
        f"{{{_VLLM}, args: [/data/llama]}}",
        f"{{{_VLLM}, command: [vllm, serve, /data/llama], volumeMounts: [{{name: cache, mountPath: /dat}}]}}",
        "{image: nvcr.io/nvidia/tritonserver:24.09-py3, command: [tritonserver, --model-repository=/models]}",
        "{image: ghcr.io/ggml-org/llama.cpp:server-cuda, args: [-m, /models/a.gguf]}",
    ],
)
def test_a_model_in_no_volume_is_found(container: str) -> None:
    assert _found(container)[0].startswith("mount a volume with the model there")
    assert _found(container, "InferenceService") == []


@pytest.mark.parametrize(
    "container",
    [
        f"{{{_VLLM}, args: [--model, /data/llama], volumeMounts: [{{name: cache, mountPath: /data/}}]}}",
        f"{{{_VLLM}, command: [sh, -c, 'hf download a/b --local-dir /data/b && vllm serve /data/b']}}",
        f"{{{_VLLM}, args: [--model, $(MODEL)]}}",
        f"{{{_VLLM}, args: [--model, Qwen/Qwen3-8B]}}",
        "{image: registry.example.com/own-vllm:1, command: [vllm, serve, /data/llama]}",
        "{image: nvcr.io/nvidia/tritonserver:24.09-py3, command: [tritonserver, '--model-repository=s3://a/b']}",
    ],
)
def test_models_of_volumes_the_hub_and_own_images_pass(container: str) -> None:
    assert _found(container) == []


def test_downloads_beside_their_volume_are_found() -> None:
    mounted = "volumeMounts: [{name: cache, mountPath: /data}]"
    args = "args: [--model, Qwen/Qwen3-8B]"

    assert _found(f"{{{_VLLM}, {args}, {mounted}}}", spec=_CLAIM) == [
        "set HF_HOME to /data, or mount the volume at /root/.cache/huggingface"
    ]
    claims = "[{metadata: {name: cache}}]"
    assert len(_found(f"{{{_VLLM}, {args}, {mounted}}}", "StatefulSet", volumeClaimTemplates=claims)) == 1
    assert _found(f"{{{_VLLM}, {args}, {mounted}, env: [{{name: HF_HOME, value: /data}}]}}", spec=_CLAIM) == []
    assert _found(f"{{{_VLLM}, {args}, volumeMounts: [{{name: cache, mountPath: /root/.cache}}]}}", spec=_CLAIM) == []
    assert _found(f"{{{_VLLM}, {args}, {mounted}}}", spec="volumes: [{name: cache, emptyDir: {}}]") == []


@pytest.mark.parametrize("folder", ["/home/ray", "/home/ray/anaconda3"])
def test_a_volume_over_the_program_is_found(folder: str) -> None:
    container = f"{{image: 'rayproject/ray:2.46.0-gpu', volumeMounts: [{{name: cache, mountPath: {folder}}}]}}"

    assert _found(container, spec=_CLAIM) == ["mount the volume at a folder of its own"]
    assert _found(container, spec="volumes: [{name: cache, hostPath: {path: /ray}}]") == []
    assert _found(container.replace(folder, "/home/ray/data"), spec=_CLAIM) == []


@pytest.mark.parametrize(
    ("model", "size", "sizes"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", 8, "1, 2, 4, 7, 14"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", 8, "1, 2, 3, 4, 6, 12"),
        ("meta-llama/Llama-3.1-8B-Instruct", 3, "1, 2, 4, 8, 16"),
    ],
)
def test_a_tensor_size_that_does_not_divide_the_heads_is_found(model: str, size: int, sizes: str) -> None:
    assert _found(f"{{{_VLLM}, args: [--model, {model}, -tp, '{size}']}}") == [f"use one of {sizes}, with as many GPUs"]


@pytest.mark.parametrize(
    ("model", "size"),
    [("Qwen/Qwen2.5-7B-Instruct", 4), ("Qwen/Qwen3-32B", 8), ("example/own-7b", 3), ("deepseek-ai/DeepSeek-R1", 16)],
)
def test_sizes_that_divide_the_heads_and_unknown_models_pass(model: str, size: int) -> None:
    assert _found(f"{{{_VLLM}, args: [--model, {model}, -tp, '{size}']}}") == []


def test_memory_of_all_ranks_above_the_limit_is_found() -> None:
    container = (
        f"{{{_VLLM}, command: [vllm, serve, Qwen/Qwen3-32B, --tensor-parallel-size, '4'], resources: {{limits: "
        "{memory: 500Gi}}, env: [{name: LMCACHE_MAX_LOCAL_CPU_SIZE, value: '150'}]}"
    )

    assert _found(container) == ["set less, or raise the limit"]
    assert _found(container.replace("'150'", "'100'")) == []
    assert _found(container.replace("env:", "env: [{name: LMCACHE_LOCAL_CPU, value: 'False'}], e:")) == []


def test_the_disk_of_each_rank_is_below_the_limit() -> None:
    container = (
        "{image: 'lmcache/vllm-openai:v0.3.5', args: [--model, Qwen/Qwen3-32B, --tensor-parallel-size, '4'], "
        "env: [{name: LMCACHE_MAX_LOCAL_DISK_SIZE, value: '100'}, {name: LMCACHE_LOCAL_DISK, value: 'file:///d/'}], %s}"
    )
    mount, volume = "volumeMounts: [{name: v, mountPath: /d}]", "volumes: [{name: v, emptyDir: {sizeLimit: %s}}]"

    assert _found(container % "resources: {limits: {ephemeral-storage: 200Gi}}") == ["set less, or raise the limit"]
    assert _found(container % mount, spec=f"{{{volume % '200Gi'}}}") == ["set less, or raise the limit"]
    assert _found(container % mount, spec=f"{{{volume % '500Gi'}}}") == []
    assert _found(container % mount, spec=f"{{{volume % '[]'}}}") == []


@pytest.mark.parametrize(
    ("variables", "remedies"),
    [
        ("{name: VLLM_NIXL_SIDE_CHANNEL_HOST, value: 0.0.0.0}", ["take status.podIP by valueFrom.fieldRef"]),
        ("{name: VLLM_NIXL_SIDE_CHANNEL_HOST, valueFrom: {fieldRef: {fieldPath: status.podIP}}}", []),
        ("{name: CUDA_VISIBLE_DEVICES, value: '1'}", ["remove it"]),
        ("{name: CUDA_VISIBLE_DEVICES, value: '0'}", []),
        ("{name: LMCACHE_REMOTE_URL, value: 'redis://a:6379'}", ["set PYTHONHASHSEED to 0 everywhere"]),
        ("{name: LMCACHE_REMOTE_URL, value: 'file:///data'}", []),
        ("{name: LMCACHE_REMOTE_URL, value: 'lm://a:1'}, {name: PYTHONHASHSEED, value: '0'}", []),
    ],
)
def test_variables_that_lead_nowhere_are_found(variables: str, remedies: list[str]) -> None:
    limits = "resources: {limits: {nvidia.com/gpu: 1}}"

    assert _found(f"{{{_VLLM}, args: [--model, Qwen/Qwen3-8B], env: [{variables}], {limits}}}") == remedies


def test_a_user_without_a_name_is_found() -> None:
    user, args = "securityContext: {runAsUser: 1000}", "args: [--model, Qwen/Qwen2.5-7B-Instruct]"

    assert _found(f"{{{_VLLM}, {args}}}", spec=user) == [
        "set the variable USER, or run as the user 2000 of newer images"
    ]
    assert _found(f"{{{_VLLM}, {args}, env: [{{name: USER, value: vllm}}]}}", spec=user) == []
    assert _found(f"{{{_VLLM}, {args}, securityContext: {{runAsUser: 2000}}}}", spec=user) == []
    assert _found(f"{{{_VLLM}, {args}}}".replace("v0.11", "v0.6"), spec=user) == []


@pytest.mark.parametrize("option", ["--num_nodes=2", "--hostfile=/etc/hosts", "-H /hosts"])
def test_the_launcher_of_deepspeed_without_ssh_is_found(option: str) -> None:
    remedy = "use torchrun, or --no_ssh with --node_rank and --master_addr, or an MPIJob"

    assert _found(f"{{image: a, command: [deepspeed, {option}, train.py]}}", "PyTorchJob") == [remedy]
    assert _found(f"{{image: a, command: [deepspeed, {option}, --no_ssh, train.py]}}", "PyTorchJob") == []
    assert _found(f"{{image: a, command: [deepspeed, {option}, train.py]}}", "MPIJob") == []


def test_ranks_of_a_stateful_set_that_starts_in_order_are_found() -> None:
    container = "{image: a, args: [sglang, --nnodes, '2', --node-rank, $RANK], readinessProbe: {tcpSocket: {port: 1}}}"

    assert _found(container, "StatefulSet", replicas="2") == ["set podManagementPolicy to Parallel"]
    assert _found(container, "StatefulSet", replicas="2", podManagementPolicy="Parallel") == []
    assert _found(container.replace("readinessProbe", "other"), "StatefulSet", replicas="2") == []


@pytest.mark.parametrize(
    ("words", "cache"),
    [
        ("vllm serve meta-llama/Llama-3.1-8B-Instruct", {"context": 131072, "cache": 17}),
        ("--model meta-llama/Llama-3.1-8B-Instruct --max-model-len=16384", {"context": 16384, "cache": 2}),
        ("--model deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", {"context": 131072, "cache": 34}),
        ("--model meta-llama/Llama-3.1-8B-Instruct --max-model-len auto", {}),
        ("--model meta-llama/Llama-3.1-8B-Instruct --kv-cache-dtype fp8", {}),
        ("--model gradientai/Llama-3.1-8B-Instruct-1M", {}),
        ("--model google/gemma-3-27b-it", {}),
        ("", {}),
    ],
)
def test_the_cache_of_the_longest_request_is_known_for_common_models(words: str, cache: dict[str, int]) -> None:
    size: model.ModelSize = {
        "name": "8B", "bits": 16, "gigabytes": 16, "experts": False, "hub": True, "directory": "", "gated": ""
    }  # fmt: skip

    assert started_programs.with_cache(size, words) == {**size, **cache}


def test_an_inference_service_that_names_no_model_gets_no_volume() -> None:
    container = {"name": "kserve-container", "image": "vllm/vllm-openai:v0.11.0", "args": ["--model=/mnt/models"]}
    for more, number in (({}, 1), ({"storageUris": [{"uri": "s3://a/b"}]}, 0)):
        value: dict[str, Any] = {"spec": {"predictor": {"containers": [container], **more}}}
        key = ("serving.kserve.io", "InferenceService")
        assert len(list(started_programs.needs_of_programs(key, value, value_forms.pod_specs(value)))) == number
