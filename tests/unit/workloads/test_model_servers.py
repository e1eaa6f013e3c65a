"""How many GPUs a model server uses, by its command."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from unit.workloads.normalised import pod_set, workload
from usher import model, paths
from usher.workloads import model_servers

VLLM = "vllm/vllm-openai:v0.20.1"


def parallelism(image: str = "registry.example.com/server:1", **fields: paths.Json) -> model.ModelParallelism | None:
    """The parallelism of a container with GPUs."""
    container = {**builders.container(gpus=8), "image": image, **fields}
    (found,) = pod_set(builders.pod(container)).containers
    return found.parallelism


def sizes(image: str = "registry.example.com/server:1", **fields: paths.Json) -> tuple[str, int, int, int] | None:
    found = parallelism(image, **fields)
    return None if found is None else (found["server"], found["tensor"], found["pipeline"], found["data"])


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["vllm", "serve", "model", "--tensor-parallel-size", "4"], ("vLLM", 4, 1, 1)),
        (["vllm", "serve", "model", "--tensor_parallel_size=4"], ("vLLM", 4, 1, 1)),
        (["vllm", "serve", "model", "-tp", "4", "-pp", "2", "-dp", "2"], ("vLLM", 4, 2, 2)),
        (["vllm", "serve", "model"], ("vLLM", 1, 1, 1)),
        (["python3", "-m", "vllm.entrypoints.openai.api_server", "-tp=2"], ("vLLM", 2, 1, 1)),
        (["bash", "-c", "export A=1\nexec vllm serve model \\\n  --tensor-parallel-size 8"], ("vLLM", 8, 1, 1)),
        (["python3", "-m", "sglang.launch_server", "--tp", "4", "--dp-size", "2"], ("SGLang", 4, 1, 2)),
        (["trtllm-serve", "model", "--tp_size", "4", "--pp_size", "2"], ("TensorRT-LLM", 4, 2, 1)),
        (["python3", "-m", "dynamo.trtllm", "--tensor-parallel-size", "4"], ("TensorRT-LLM", 4, 1, 1)),
        (["aphrodite", "run", "model", "-tp", "4"], ("Aphrodite", 4, 1, 1)),
        (["lmdeploy", "serve", "api_server", "model", "--tp", "4"], ("LMDeploy", 4, 1, 1)),
        (["vllm", "serve", "model", "-tp", "4", "-dp", "16", "-dpl", "2"], ("vLLM", 4, 1, 2)),
        (["vllm", "serve", "model", "-tp", "4", "-dp", "16", "--data-parallel-rank", "$RANK"], ("vLLM", 4, 1, 1)),
        (["python3", "-m", "dynamo.vllm", "--model", "m", "-tp", "4"], ("vLLM", 4, 1, 1)),
        (["sglang", "serve", "--tp", "8", "--dp", "8", "--enable-dp-attention"], ("SGLang", 8, 1, 1)),
        (["python", "-m", "huggingfaceserver", "-tp", "2"], ("KServe's Hugging Face server", 2, 1, 1)),
        (["text-generation-launcher", "--num-shard", "4"], ("Text Generation Inference", 4, 1, 1)),
        (["text-generation-launcher", "--model-id", "m"], ("Text Generation Inference", 8, 1, 1)),
        (["text-generation-launcher", "--sharded=true", "--num_shard=4"], ("Text Generation Inference", 4, 1, 1)),
    ],
)
def test_the_flags_of_a_server_give_its_sizes(command: list[paths.Json], expected: tuple[str, int, int, int]) -> None:
    assert sizes(command=command) == expected


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["python3", "train.py", "--tensor-parallel-size", "4"], id="another program"),
        pytest.param(["vllm", "bench", "serve", "--tensor-parallel-size", "4"], id="another command of vLLM"),
        pytest.param(["vllm", "serve", "model", "--config", "/etc/vllm.yaml"], id="a file"),
        pytest.param(["vllm", "serve", "model", "-tp", "$(GPUS)"], id="a variable that the container does not set"),
        pytest.param(["sh", "-c", "vllm serve m -tp $(nvidia-smi -L | wc -l)"], id="a command of the shell"),
        pytest.param(["vllm", "serve", "model", "-tp", "0"], id="zero"),
        pytest.param(["vllm", "serve", "model", "-tp", "many"], id="a word"),
        pytest.param(["vllm", "serve", "model", "-tp", "99999"], id="more digits than any cluster has"),
        pytest.param(["sh", "-c", "vllm serve a -tp 2 & vllm serve b -tp 2"], id="two servers"),
        pytest.param(["sh", "-c", "vllm serve a -tp 2 -tp 4"], id="two sizes"),
        pytest.param(
            ["python3", "-m", "sglang.launch_server", "--enable-dp-attention", "--dp", "8"], id="one axis twice"
        ),
        pytest.param(["vllm", "serve", "Qwen/Qwen2.5-Omni-7B", "--omni"], id="a model in stages"),
        pytest.param(["vllm", "serve", "m", "-dp", "16", "--data-parallel-address", "10.0.0.1"], id="ranks elsewhere"),
        pytest.param(["vllm", "serve", "m", "-dpl", "0"], id="a server without ranks"),
        pytest.param(["trtllm-serve", "m", "--tp_size", "2", "--cp_size", "2"], id="the axis of the context"),
        pytest.param(["text-generation-launcher", "--sharded", "false", "--num-shard", "4"], id="shards switched off"),
        pytest.param(["vllm", "serve", "model", "-tp", "4", "--prefill-context-parallel-size=2"], id="another axis"),
        pytest.param(["vllm", "serve", "model", "-tp", "4", "-pcp", "2"], id="another axis, in short"),
        pytest.param(
            ["sglang", "serve", "--model-path", "Wan-AI/Wan2.2-T2V-A14B", "--num-gpus", "4"], id="a diffusion model"
        ),
    ],
)
def test_usher_concludes_nothing_from_other_commands(command: list[paths.Json]) -> None:
    assert sizes(command=command) is None


@pytest.mark.parametrize(
    ("command", "spans"),
    [
        (["vllm", "serve", "model", "--nnodes", "2", "-tp", "16"], True),
        (["vllm", "serve", "model", "--distributed-executor-backend=ray"], True),
        (["vllm", "serve", "model", "--headless"], True),
        (["python3", "-m", "sglang.launch_server", "--tp", "16", "--node-rank", "$RANK"], True),
        (["trtllm-llmapi-launch", "trtllm-serve", "model", "--tp_size", "16"], True),
        (["vllm", "serve", "model", "-tp", "8", "-pp", "2"], False),
    ],
)
def test_flags_say_that_a_server_may_span_several_pods(command: list[paths.Json], spans: bool) -> None:
    found = parallelism(command=command)

    assert found is not None
    assert found["spans"] is spans


def test_the_arguments_of_an_image_with_a_server_as_its_entry_point_count() -> None:
    args: paths.Json = ["--model", "m", "--tensor-parallel-size=2"]

    assert sizes(VLLM, args=args) == ("vLLM", 2, 1, 1)
    assert sizes("registry.redhat.io/rhaiis/vllm-cuda-rhel9:3.0.0", args=args) == ("vLLM", 2, 1, 1)
    assert sizes("mirror.example.com:5000/ai/vllm-openai@sha256:0123", args=args) == ("vLLM", 2, 1, 1)
    shards: paths.Json = ["--model-id", "m", "--num-shard", "2"]
    two_shards = ("Text Generation Inference", 2, 1, 1)
    assert sizes("ghcr.io/huggingface/text-generation-inference:3", args=shards) == two_shards
    assert sizes(VLLM, command=["python3", "client.py"], args=args) is None
    assert sizes(VLLM) is None
    assert sizes("registry.example.com/vllm-openai-tools:1", args=args) is None


def test_variables_of_the_container_count() -> None:
    env: paths.Json = [{"name": "TP", "value": "2"}, {"name": "TP", "value": "4"}]

    for reference in ("$TP", "${TP}", "$(TP)"):
        assert sizes(command=["vllm", "serve", "m", "-tp", reference], env=env) == ("vLLM", 4, 1, 1)
    secret: paths.Json = [{"name": "TP", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    assert sizes(command=["vllm", "serve", "m", "-tp", "$TP"], env=secret) is None


def test_the_place_is_the_entry_with_the_size() -> None:
    def place(**fields: paths.Json) -> str:
        found = parallelism(VLLM, **fields)
        assert found is not None
        return found["path"].removeprefix("/spec/containers/0/")

    assert place(args=["--model", "m", "-tp", "2"]) == "args/2"
    assert place(command=["vllm", "serve"], args=["m", "--tensor-parallel-size=2"]) == "args/1"
    assert place(command=["vllm", "serve", "m"]) == "command"
    assert place(args=["--model", "m"]) == "args"


def test_a_variable_of_the_container_gives_the_local_size() -> None:
    env: paths.Json = [{"name": "DP_LOCAL", "value": "8"}]
    command: list[paths.Json] = [
        "sh",
        "-c",
        "vllm serve m -dp $((GROUP * DP_LOCAL)) --data-parallel-size-local $DP_LOCAL",
    ]

    assert sizes(command=command, env=env) == ("vLLM", 1, 1, 8)


def test_a_variable_gives_the_shards_of_text_generation_inference() -> None:
    env: paths.Json = [{"name": "NUM_SHARD", "value": "4"}]

    image = "ghcr.io/huggingface/text-generation-inference:3.3"
    assert sizes(image, env=env) == ("Text Generation Inference", 4, 1, 1)
    for name, source in (("NUM_SHARD", {"valueFrom": {}}), ("CUDA_VISIBLE_DEVICES", {"value": "0"})):
        assert sizes(image, env=[{"name": name, **source}]) is None


def test_text_generation_inference_takes_the_gpus_of_its_container() -> None:
    image = "ghcr.io/huggingface/text-generation-inference:3.3"

    assert sizes(image, resources={"limits": {"nvidia.com/gpu": "2"}}) == ("Text Generation Inference", 2, 1, 1)
    assert sizes(image, resources={"limits": {"nvidia.com/mig-1g.10gb": 2}}) == ("Text Generation Inference", 1, 1, 1)
    assert sizes(image, resources={"limits": {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 10000}}) is None
    kserve: list[paths.Json] = ["python", "-m", "huggingfaceserver"]
    assert sizes(command=kserve, resources={"limits": {"nvidia.com/gpu": "2"}}) is None


@pytest.mark.parametrize(
    ("words", "spans", "own", "gpus"),
    [
        (["-tp", "8", "--distributed-executor-backend", "ray"], True, False, 8),
        (["-tp", "8", "--distributed-executor-backend=mp"], False, False, 8),
        (["-dp", "16", "-dpl", "8", "--headless"], False, True, 8),
        (["-dp", "16", "-dpl", "8", "--distributed-executor-backend", "ray"], True, False, 8),
    ],
)
def test_flags_tell_what_one_pod_runs(words: list[paths.Json], spans: bool, own: bool, gpus: int) -> None:
    found = parallelism(command=["vllm", "serve", "m", *words])

    assert found is not None
    assert (found["spans"], found["ownPod"], found["gpus"]) == (spans, own, gpus)


def test_the_nodes_of_sglang_share_its_ranks() -> None:
    found = parallelism(command=["sglang", "serve", "--tp", "16", "--nnodes", "2", "--dist-init-addr", "a:5000"])

    assert found is not None
    assert (found["nodes"], found["ownPod"], found["gpus"]) == (2, True, 8)


@given(st.lists(st.text(max_size=30), max_size=6), st.text(max_size=40))
def test_any_words_are_read_without_an_error(words: list[str], image: str) -> None:
    found = parallelism(f"vllm{image}", command=["vllm", "serve", *words])

    assert found is None or found["gpus"] >= 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["serve", "meta-llama/Llama-3.3-70B-Instruct"], ("70B", 16, 140, False, True)),
        (["serve", "Qwen/Qwen2.5-7B-Instruct-AWQ"], ("7B", 4, 3, False, True)),
        (["serve", "Qwen/Qwen3-30B-A3B-FP8"], ("30B", 8, 30, False, True)),
        (["serve", "mistralai/Mixtral-8x7B-Instruct-v0.1"], ("7B", 16, 14, True, True)),
        (["serve", "meta-llama/Llama-4-Scout-17B-16E-Instruct"], ("17B", 16, 34, True, True)),
        (["serve", "api_server", "internlm/internlm2_5-7b-chat"], ("7B", 16, 14, False, True)),
        (["serve", "facebook/opt-125m"], ("125M", 16, 1, False, True)),
        (["serve", "--model", "/models/llama-3-8b", "--quantization", "fp8"], ("8B", 8, 8, False, False)),
        (["serve", "--model=tiiuae/falcon-180B", "--quantization=bitsandbytes"], ("180B", 4, 90, False, True)),
    ],
)
def test_the_name_of_a_model_tells_its_size(words: list[str], expected: tuple[str, int, int, bool, bool]) -> None:
    program = "lmdeploy" if "api_server" in words else "vllm"
    found = parallelism(command=[program, *words])

    assert found is not None
    size = found["model"]
    assert (size["name"], size["bits"], size["gigabytes"], size["experts"], size["hub"]) == expected


@pytest.mark.parametrize(
    "words",
    [
        ["serve", "deepseek-ai/DeepSeek-R1"],
        ["serve", "google/gemma-3n-E4B-it"],
        ["serve", "a/b-7b", "--quantization", "modelopt"],
        ["serve", "a/b-7b", "--cpu-offload-gb", "20"],
        ["serve", "a/b-7b-GGUF"],
        ["serve", "a/b-7b", "--model", "a/b-13b"],
    ],
)
def test_without_one_size_or_its_bits_nothing_is_known(words: list[str]) -> None:
    found = parallelism(command=["vllm", *words])

    assert found is not None
    assert "model" not in found


def test_only_a_server_has_its_patterns_compiled() -> None:
    compiled = model_servers._compiled
    compiled.cache_clear()

    assert parallelism(command=["python", "train.py"]) is None
    assert compiled.cache_info().currsize == 0
    assert parallelism(command=["vllm", "serve", "model"]) is not None
    assert compiled.cache_info().currsize > 0


@pytest.mark.parametrize(
    ("image", "resource", "of"),
    [
        ("ollama/ollama:0.12.3", "amd.com/gpu", "NVIDIA"),
        ("ollama/ollama:0.12.3-rocm", "amd.com/gpu", ""),
        ("ollama/ollama:0.12.10", "gpu.intel.com/i915", "NVIDIA"),
        ("ollama/ollama:0.12.11", "amd.com/gpu", ""),
        ("ollama/ollama:0.20.2", "gpu.intel.com/i915", ""),
        ("ollama/ollama:latest", "amd.com/gpu", ""),
        ("registry.example.com/mirror/vllm/vllm-openai:v0.12.0", "gpu.intel.com/i915", "NVIDIA"),
        ("ghcr.io/huggingface/text-generation-inference:3.3.4-gaudi", "habana.ai/gaudi", ""),
        ("lmsysorg/sglang@sha256:0123", "amd.com/gpu", ""),
        ("rocm/vllm:latest", "nvidia.com/gpu", "AMD"),
        ("registry.example.com/rocm-and-cuda:1", "nvidia.com/gpu", ""),
        ("registry.example.com/procmail:1", "nvidia.com/gpu", ""),
    ],
)
def test_an_image_for_the_devices_of_another_maker_is_named(image: str, resource: str, of: str) -> None:
    container: paths.Object = {"name": "main", "image": image, "resources": {"limits": {resource: "1"}}}
    texts = [each.text for each in model_servers.images_of_other_devices(workload(builders.pod(container)))]

    assert [of in each for each in texts] == ([True] if of else [])


@pytest.mark.parametrize(
    ("board", "image", "args", "says"),
    [
        ("nvidia-tesla-t4", "ghcr.io/huggingface/text-embeddings-inference:1.8", "", "code for 8.0 to 8.9"),
        ("nvidia-h100-80gb", "ghcr.io/huggingface/text-embeddings-inference:1.8", "", "code for 8.0 to 8.9"),
        ("nvidia-l4", "ghcr.io/huggingface/text-embeddings-inference:1.8", "", ""),
        ("nvidia-tesla-t4", "ghcr.io/huggingface/text-embeddings-inference:turing-1.8", "", ""),
        ("nvidia-l4", "ghcr.io/huggingface/text-embeddings-inference:hopper-1.8", "", "code for 9.0 alone"),
        ("nvidia-tesla-v100", "lmsysorg/sglang:v0.5.0", "", "SGLang runs on 7.5 and newer alone"),
        ("nvidia-tesla-t4", "vllm/vllm-openai:v0.11.0", "--model a/b --quantization fp8", "quantization fp8"),
        ("nvidia-tesla-t4", "vllm/vllm-openai:v0.11.0", "--model a/b-FP8", "weights of a/b-FP8"),
        ("nvidia-tesla-t4", "vllm/vllm-openai:v0.11.0", "--model openai/gpt-oss-20b", "MXFP4"),
        ("nvidia-tesla-t4", "vllm/vllm-openai:v0.11.0", "--model a/b --quantization awq", ""),
        ("nvidia-tesla-t4", "vllm/vllm-openai:latest", "--model a/b --quantization fp8", ""),
        ("nvidia-l4", "vllm/vllm-openai:v0.11.0", "--model a/b --quantization fp8", ""),
        ("a-board-of-tomorrow", "vllm/vllm-openai:v0.11.0", "--model a/b --quantization fp8", ""),
    ],
)
def test_a_program_that_needs_other_gpus_than_the_selected_ones_is_named(
    board: str, image: str, args: str, says: str
) -> None:
    limits: paths.Object = {"limits": {"nvidia.com/gpu": "1"}}
    container: paths.Object = {"name": "main", "image": image, "args": [*args.split()], "resources": limits}
    pod = builders.pod(container, nodeSelector={"cloud.google.com/gke-accelerator": board})
    texts = [each.text for each in model_servers.images_of_other_devices(workload(pod))]

    assert [says in each for each in texts] == ([True] if says else [])
