"""Arguments that programs do not take, and words that only a shell understands."""

from typing import Any

import pytest
import yaml

from usher.kinds.reading import environment, started_programs, value_forms

_Json = dict[str, Any]


def _found(text: str, **pod: object) -> list[str]:
    """The remedies of the findings about arguments of one container, written as YAML."""
    container = {"name": "main", **yaml.safe_load(text)}
    spec: _Json = {"containers": [container], **pod}
    value: _Json = {"kind": "Deployment", "metadata": {"name": "llm"}, "spec": {"template": {"spec": spec}}}
    specs = value_forms.pod_specs(value)
    found = [
        *started_programs.needs_of_programs(("apps", "Deployment"), value, specs),
        *environment.misread_variables(container, "", None),
    ]
    return [each.remedy for each in found if each.topic in ("argument", "variable")]


def _vllm(args: str, version: str = "v0.11.0", more: str = "") -> list[str]:
    return _found(f"{{image: 'vllm/vllm-openai:{version}', args: [--model, Qwen/Qwen3-8B, {args}]{more}}}")


@pytest.mark.parametrize(
    ("args", "version", "remedy"),
    [
        ("--max-modle-len=1024", "v0.11.0", "did you mean --max-model-len?"),
        ("--enable-metrics", "v0.11.0", "remove it"),
        ("--enable-metrics", "latest", "remove it"),
        ("--enable-reasoning", "v0.10.0", "remove it, and keep --reasoning-parser"),
        ("--task, embed", "latest", "use --runner and --convert"),
        ("--async-scheduling", "v0.8.5", "remove it, or use a newer image"),
        ("'--dtype half'", "v0.11.0", "write --dtype=half"),
        ("\"--served-model-name='qwen'\"", "v0.11.0", "write --served-model-name=qwen"),
        ("--enable-auto-tool-choice", "v0.11.0", "add --tool-call-parser with the parser of the model"),
        ("--limit-mm-per-prompt, image=4", "v0.10.0", 'write JSON, for example {"image": 4}'),
        ("--cuda-graph-sizes, '1,2,4'", "v0.11.0", "write each number as an argument of its own"),
        ("--kv-transfer-config, \"{'kv_role': 'kv_both'}\"", "v0.11.0", "write names and texts in double quotes"),
        ("--max-model-len, '131072'", "v0.11.0", "set at most 40960"),
        ("--dtype, float8", "v0.11.0", "use auto, half, bfloat16 or float, and --quantization for smaller weights"),
    ],
)
def test_an_argument_that_vllm_does_not_take_is_found(args: str, version: str, remedy: str) -> None:
    assert _vllm(args, version) == [remedy]


@pytest.mark.parametrize(
    ("args", "version"),
    [
        ("--enable-reasoning, --reasoning-parser, deepseek_r1", "v0.8.5"),
        ("--enable_prefix_caching, --no-enable-chunked-prefill, --gpu-memory-util=0.9", "v0.11.0"),
        ("--compilation-config.level=3, -O3, -tp, '1'", "v0.11.0"),
        ("--limit-mm-per-prompt, image=4", "v0.8.5"),
        ("--limit-mm-per-prompt, '{\"image\": 4}'", "v0.11.0"),
        ("--enable-auto-tool-choice, --tool-call-parser, hermes", "v0.11.0"),
        ("--max-model-len, '40960'", "v0.11.0"),
        ("--max-model-len, '131072', --rope-scaling, '{\"rope_type\": \"yarn\"}'", "v0.11.0"),
        ("--option-of-a-plugin", "nightly"),
        ("--chat-template, '{{ messages }}'", "v0.11.0"),
    ],
)
def test_arguments_that_vllm_takes_pass(args: str, version: str) -> None:
    assert _vllm(args, version) == []


@pytest.mark.parametrize(
    ("model", "version", "remedies"),
    [
        ("Qwen/Qwen3-8B", "v0.7.3", ["use the image of vLLM 0.8.4 or later"]),
        ("Qwen/Qwen3-8B", "v0.8.4", []),
        ("Qwen/Qwen3-VL-8B-Instruct", "v0.10.2", ["use the image of vLLM 0.11.0 or later"]),
        ("openai/gpt-oss-20b", "v0.9.2", ["use the image of vLLM 0.10.1 or later"]),
        ("deepseek-ai/DeepSeek-R1", "v0.6.3", ["use the image of vLLM 0.6.6 or later"]),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "v0.6.3", []),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", "latest", []),
    ],
)
def test_a_model_needs_the_version_that_knows_its_architecture(model: str, version: str, remedies: list[str]) -> None:
    assert _found(f"{{image: 'vllm/vllm-openai:{version}', args: [--model, {model}]}}") == remedies


@pytest.mark.parametrize(
    ("args", "version", "remedies"),
    [
        (
            "--max-model-len=8192, --max-num-batched-tokens=2048",
            "v0.6.3",
            ["add --enable-chunked-prefill, or raise --max-num-batched-tokens"],
        ),
        ("--max-model-len=8192, --max-num-batched-tokens=8192", "v0.6.3", []),
        ("--max-model-len=8192, --max-num-batched-tokens=2048", "v0.11.0", []),
        ("--max-model-len=65536, --max-num-batched-tokens=2048", "v0.6.3", []),
        (
            "--max-model-len=8192, --max-num-batched-tokens=2048, --no-enable-chunked-prefill",
            "v0.11.0",
            ["remove --no-enable-chunked-prefill, or raise --max-num-batched-tokens"],
        ),
        (
            "--max-num-seqs=512, --max-num-batched-tokens=256",
            "v0.11.0",
            ["raise --max-num-batched-tokens, or lower --max-num-seqs"],
        ),
        ("--lora-modules, a=b/c", "v0.11.0", ["add --enable-lora, and --max-lora-rank for ranks above 16"]),
        ("--enable-lora, --lora-modules, a=b/c", "v0.11.0", []),
        ("--quantization=awq", "v0.11.0", ["remove --quantization, or name the repository with quantized weights"]),
        ("--gpu-memory-utilization=90", "v0.11.0", ["write for example 0.9"]),
        ("--gpu-memory-utilization=1.0", "v0.11.0", []),
    ],
)
def test_arguments_of_vllm_go_together(args: str, version: str, remedies: list[str]) -> None:
    start = f"{{image: 'vllm/vllm-openai:{version}', args: [--model, Qwen/Qwen2.5-7B-Instruct-1M, {args}]}}"

    assert _found(start) == remedies


def test_an_old_ollama_does_not_pull_a_new_model() -> None:
    pull = "{image: 'ollama/ollama:%s', command: [sh, -c, 'ollama serve & sleep 9; ollama pull gpt-oss:20b']}"

    assert _found(pull % "0.10.1") == ["use a newer image of ollama/ollama"]
    assert _found(pull % "0.11.0") == []


def test_a_pool_of_memory_takes_no_expandable_segments() -> None:
    variable = ", env: [{name: PYTORCH_CUDA_ALLOC_CONF, value: 'expandable_segments:True'}]"

    assert _vllm("--enable-sleep-mode", more=variable) == ["remove expandable_segments from PYTORCH_CUDA_ALLOC_CONF"]
    assert _vllm("--dtype=half", more=variable) == []


def test_other_servers_and_launchers_have_options_of_their_own() -> None:
    sglang = "command: [python3, -m, sglang.launch_server, --model-path, a/b, --enable_metrics]"
    image = "ghcr.io/huggingface/text-generation-inference:2.0.4"
    tgi = f"{{image: '{image}', args: [--max-input-length, '9', --max-total-tokens, "

    assert _found(f"{{image: 'lmsysorg/sglang:v0.4.4', {sglang}}}") == ["write --enable-metrics"]
    assert _found(f"{tgi}'9']}}") == ["set --max-total-tokens above the input tokens"]
    assert _found(f"{tgi}'10']}}") == []
    assert _found("{image: a, command: [torchrun, --nporc-per-node=8, train.py, --nporc-per-node=8]}") == [
        "did you mean --nproc-per-node?"
    ]
    assert _found("{image: a, command: [torchrun, --nproc-per-node=8, train, --roles, a]}") == []


@pytest.mark.parametrize(
    ("processes", "remedies"), [(8, ["set 16, which counts the processes of all machines"]), (16, [])]
)
def test_processes_of_accelerate_count_all_machines(processes: int, remedies: list[str]) -> None:
    start = f"accelerate launch --num_machines 2 --num_processes {processes} train.py"

    assert (
        _found(f"{{image: a, command: [bash, -c, '{start}'], resources: {{limits: {{nvidia.com/gpu: 8}}}}}}")
        == remedies
    )


def test_an_image_that_starts_its_program_gets_no_start_in_its_arguments() -> None:
    assert _vllm("--dtype=half") == []
    assert _found("{image: 'vllm/vllm-openai:v0.9.2', args: [serve, a/b]}")[0].startswith("remove it")
    assert _found("{image: 'ollama/ollama:0.6.5', args: [ollama, serve]}") == ["remove it, or set command"]
    assert _found("{image: 'ollama/ollama:0.6.5', args: [serve]}") == []


def test_a_model_of_the_hub_needs_a_cache_where_the_hub_is_off() -> None:
    offline = ", env: [{name: HF_HUB_OFFLINE, value: '1'}]"
    mounted = f"{offline}, volumeMounts: [{{name: cache, mountPath: /root/.cache/huggingface}}]"

    assert _vllm("--dtype=half", more=offline)[0].startswith("mount a volume with the cache")
    assert _vllm("--dtype=half", more=mounted) == []


def test_gloo_needs_an_interface_in_the_network_of_the_node() -> None:
    start = "{image: a, command: [vllm, serve, a/b, --nnodes, '2'], env: [{name: NAME, value: eth0}]}"

    assert _found(start, hostNetwork=True) == ["set GLOO_SOCKET_IFNAME to the interface of the nodes"]
    assert _found(start.replace("NAME", "GLOO_SOCKET_IFNAME"), hostNetwork=True) == []
    assert _found(start) == []


@pytest.mark.parametrize(
    ("value", "is_wrong"), [("^lo,docker", True), ("=eth0", True), ("eth0", False), ("eth0,eth1", False)]
)
def test_gloo_takes_names_of_interfaces_alone(value: str, is_wrong: bool) -> None:
    remedies = ["write the name of an interface, which is eth0 in the network of pods"] if is_wrong else []

    for variable in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
        found = _found(f"{{image: own, command: [python, t.py], env: [{{name: {variable}, value: '{value}'}}]}}")
        assert found == (remedies if variable.startswith("GLOO") else [])
    assert (
        _found(f"{{image: own, command: [bash, -c, 'export GLOO_SOCKET_IFNAME={value}; torchrun t.py']}}") == remedies
    )


@pytest.mark.parametrize(
    ("text", "remedies"),
    [
        ("{command: [pip, install, a, '&&', python, b.py]}", ["start sh -c with the whole command as one text"]),
        ("{command: [sh, -c], args: [vllm, serve]}", ["write the script and its arguments as one text"]),
        ("{command: [sh, -c], args: ['vllm serve']}", []),
        ("{command: [bash, -lc, --, 'vllm serve']}", []),
        ("{command: [sh, -c, 'exec \"$@\"', name, vllm, serve]}", []),
        ("{command: [sh, -c, 'a && b']}", []),
        ("{command: [python, $A], env: [{name: A, value: b}]}", ["write $(A)"]),
        ("{command: [python, '${LWS_LEADER_ADDRESS}']}", ["write $(LWS_LEADER_ADDRESS)"]),
        ("{command: [python, $(A), '${OF_THE_CLUSTER}'], env: [{name: A, value: b}]}", []),
        ("{env: [{name: A, value: $(B)}, {name: B, value: c}]}", ["move B before it"]),
        ("{env: [{name: B, value: c}, {name: A, value: $(B)}]}", []),
    ],
)
def test_words_that_only_a_shell_understands_need_one(text: str, remedies: list[str]) -> None:
    assert _found(text) == remedies


@pytest.mark.parametrize(
    "damaged", ["args: [1, null, {a: b}]", "env: [1, {name: 2, value: 3}]", "command: 1", "args: {}"]
)
def test_damaged_containers_raise_nothing(damaged: str) -> None:
    assert _found(f"{{image: 'vllm/vllm-openai:v0.11.0', {damaged}}}") == []


@pytest.mark.parametrize(
    ("command", "remedies"),
    [
        ("[bash, -c, -x, 'sleep 9']", []),
        ("[bash, -o, pipefail, -c, 'sleep 9']", []),
        ("[bash, -xc, --, 'sleep 9']", []),
        ("[bash, -x, -c, sleep, '9']", ["write the script and its arguments as one text"]),
        ("[sh, -c, 'exec \"$0\" \"$@\"', sleep, '9']", []),
        ("[sh, run.sh, a, b]", []),
    ],
)
def test_a_script_in_several_texts_is_found_behind_all_options_of_the_shell(command: str, remedies: list[str]) -> None:
    assert _found(f"{{image: own, command: {command}}}") == remedies
