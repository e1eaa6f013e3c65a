"""Programs by purpose, how many GPUs a model server or a NIM uses by its command and variables, and what it needs.

Sources: docs.vllm.ai/en/latest/cli/serve.html, docs.vllm.ai/projects/vllm-omni/en/stable/configuration/stage_configs,
docs.sglang.ai/advanced_features/server_arguments.html, docs.sglang.io/diffusion/api/cli.html, lmdeploy.readthedocs.io,
huggingface.co/docs/text-generation-inference/reference/launcher and
nvidia.github.io/TensorRT-LLM/commands/trtllm-serve; access.redhat.com/node/7118070 on the image of Red Hat. A server
uses one GPU for each rank: the product of the sizes. usher reads plain flags. It draws no conclusion about a server
that spans several pods or reads its own file, unless a flag says how much of it runs in one pod: the local size of
data parallelism, the rank of one server (create_engine_config of vLLM), or a number of nodes. With
--enable-dp-attention SGLang's data parallel ranks are among its tensor parallel ranks.

Source: docs.nvidia.com/nim/large-language-models (configuration and model profiles). The names of profiles contain the
parallel sizes: tensorrt_llm-h100-fp8-tp2-pp1-latency. Without one of these variables, a NIM chooses a profile for the
GPUs that it has.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import memo, model, paths
from usher.kinds.reading import definition_limits, disks, known_keys, pod_templates, shares, started_programs
from usher.kinds.reading import value_forms as places
from usher.kinds.reading.environment import misread
from usher.kinds.reading.values import Lookup, Objects

Found = Iterator[model.UnreadKey]

NIM_HINT: Final = "/nim/"
"""A part of the image name of every NIM."""

_TENSOR: Final = "NIM_TENSOR_PARALLEL_SIZE"
_PIPELINE: Final = "NIM_PIPELINE_PARALLEL_SIZE"
_PROFILE: Final = "NIM_MODEL_PROFILE"
_SEVERAL_PODS: Final = frozenset({"NIM_LEADER_ROLE", "NIM_MULTI_NODE", "NIM_NODE_RANK", "NIM_NUM_COMPUTE_NODES"})

NIM_VARIABLES: Final = (_TENSOR, _PIPELINE, _PROFILE, *sorted(_SEVERAL_PODS))
"""The variables that this module reads."""

_NIM_NUMBER: Final = memo.pattern(r"[1-9][0-9]{0,3}", re.ASCII)
_IN_PROFILE: Final = memo.pattern(r"[-_]tp([1-9][0-9]{0,3})(?:[-_]pp([1-9][0-9]{0,3}))?(?![0-9a-z])", re.ASCII)


def read_nim_parallelism(container: Mapping[str, paths.Json], path: str) -> model.ModelParallelism | None:
    """The parallelism of a NIM; None for other images, and if neither its variables nor a single GPU set it."""
    image, variables = container.get("image"), container.get("env")
    if not isinstance(image, str) or NIM_HINT not in image:
        return None
    # The last of several variables with one name counts.
    found = {
        str(entry.get("name")): (entry.get("value"), f"{path}/env/{index}/value")
        for index, entry in enumerate(variables if isinstance(variables, list) else ())
        if isinstance(entry, dict)
    }
    if found.keys().isdisjoint({*NIM_VARIABLES, "NIM_MODEL_NAME"}) and _visible_gpus(container) == 1:
        return model.parallelism("NIM", (1, 1, 1), path=f"{path}/image")
    if not _SEVERAL_PODS.isdisjoint(found):
        return None
    sizes: dict[str, tuple[int, int]] = {}
    if _TENSOR in found:
        sizes[_TENSOR] = (_nim_size(found, _TENSOR), _nim_size(found, _PIPELINE))
    if _PROFILE in found:
        sizes[_PROFILE] = _sizes_in_profile(found[_PROFILE][0])
    if len(set(sizes.values())) != 1 or 0 in next(iter(sizes.values())):
        return None
    name, (tensor, pipeline) = next(iter(sizes.items()))
    return model.parallelism("NIM", (tensor, pipeline, 1), path=found[name][1])


def _nim_size(found: Mapping[str, tuple[paths.Json, str]], name: str) -> int:
    """The size that a variable sets: 1 without the variable, and 0 if the size is unknown."""
    value = found[name][0] if name in found else "1"
    return int(value) if isinstance(value, str) and _NIM_NUMBER.fullmatch(value) else 0


def _sizes_in_profile(profile: paths.Json) -> tuple[int, int]:
    """The tensor and pipeline parallel sizes in the name of a profile; zeros if it is a digest."""
    match = _IN_PROFILE.search(profile) if isinstance(profile, str) else None
    return (0, 0) if match is None else (int(match[1]), int(match[2] or 1))


_compiled: Final = cache(re.compile)
"""Compiles a pattern of `_Server` when a server is there: all of them take longer than a small file is judged."""


class _Server(Struct, frozen=True, kw_only=True):
    """A server, with patterns of its command; an empty one matches nothing."""

    name: str
    program: str
    images: frozenset[str] = frozenset()
    """Last parts of the names of images whose entry point is the server."""
    tensor: str
    takes_all: bool = False
    """Whether it uses all visible GPUs and not one without a tensor parallel size."""
    rank_each: bool = False
    """Whether it starts a rank on each of them then."""
    pipeline: str = ""
    data: str = ""
    local: str = ""
    """The part of the data parallel size that one pod runs."""
    single: str = ""
    """Flags of a server that runs one data parallel rank in its pod."""
    shared: str = ""
    """Flags of a server whose data parallel ranks are among its tensor parallel ranks."""
    scattered: str = ""
    """Flags of data parallel ranks in several pods, while no flag says how many one pod runs."""
    nodes: str = ""
    """The number of pods that share the ranks."""
    variable: str = ""
    """The variable that it reads if no flag gives the tensor parallel size."""
    custom_all_reduce: bool = False
    """Whether its ranks exchange data by a kernel of its own, unless a flag switches that off."""
    spanning: str = ""
    """Flags of a server that may span several pods."""
    elsewhere: str = ""
    """Flags that refer to a file or to other servers."""


def _flag(*names: str) -> str:
    return rf"(?:^|\s)(?:{'|'.join(names)})(?:=|\s{{1,40}})[\"']?([^\s\"';|&\\]{{1,80}})"


def _any_flag(*names: str) -> str:
    return rf"(?:^|\s)(?:{'|'.join(names)})(?=[=\s]|$)"


_OTHER_NODES: Final = _any_flag("--nnodes", r"--distributed[-_]executor[-_]backend(?!(?:=|\s{1,40})[\"']?(?:mp|uni)\b)")
_NO_CUSTOM_ALL_REDUCE: Final = _any_flag("--disable[-_]custom[-_]all[-_]reduce")

_SIZES: Final = frozenset({"tensor", "pipeline", "data", "local", "nodes"})


def _server_of(row: Mapping[str, Any]) -> _Server:
    patterns = {
        field: (_flag if field in _SIZES else _any_flag)(*value)
        for field, value in row.items()
        if isinstance(value, list) and field != "images"
    }
    return _Server(**{**row, "images": frozenset(row.get("images", ())), **patterns})


_SERVERS: Final = tuple(map(_server_of, orjson.loads(Path(__file__).with_name("servers.json").read_bytes())))

_OF_RUNTIME: Final = replace(_SERVERS[-1], name="the server of its runtime")
"""For the model of an InferenceService, whose image a ServingRuntime gives."""

_HINTS: Final = "vllm sglang lmdeploy trtllm aphrodite text-generation tgi- huggingfaceserver --tensor triton"
HINTS: Final = (*_HINTS.split(), NIM_HINT)
"""The command or the image of every server has one of these words."""

_NUMBER: Final = memo.pattern(r"[0-9]{1,4}", re.ASCII)
_REFERENCE: Final = memo.pattern(r"\$(?:\((\w+)\)|\{(\w+)\}|(\w+))", re.ASCII)


def read_parallelism(
    container: Mapping[str, paths.Json], words: Sequence[str], path: str
) -> model.ModelParallelism | None:
    """The parallelism of the model server that a container starts.

    None for other programs, and if the command does not determine how many GPUs the server uses.

    Args:
        words: the command and the arguments of the container.
    """
    image = container.get("image")
    text = "\n".join(words)
    if image is None and path.endswith("/model"):
        server: _Server | None = _OF_RUNTIME
    else:
        server = _server(text, image if isinstance(image, str) else "", has_command=bool(container.get("command")))
    if server is None:
        return read_nim_parallelism(container, path)
    if not (words or server.variable or _is_for_language(container)) or _has(server.elsewhere, text):
        return None
    tensor, pipeline = _tensor(server, text, container), _size(server.pipeline, text, container)
    data, own = _data(server, text, container)
    nodes = _size(server.nodes, text, container) or 1
    if not (tensor and pipeline and data) or tensor * pipeline * data % nodes:
        return None
    return model.parallelism(
        server.name,
        (tensor, pipeline, data),
        nodes=nodes,
        own_pod=own or nodes > 1,
        spans=not own and nodes == 1 and _has(server.spanning, text),
        custom_all_reduce=server.custom_all_reduce and not _has(_NO_CUSTOM_ALL_REDUCE, text),
        path=_place(server, container, path),
    )


def _data(server: _Server, text: str, container: Mapping[str, paths.Json]) -> tuple[int | None, bool]:
    """The data parallel size that multiplies the others, None if it is unknown; and whether one pod has all of it."""
    if _has(server.shared, text):
        return 1 if _has(server.tensor, text) else None, False
    in_one_pod = not _has(_OTHER_NODES, text)
    if _has(server.local, text):
        return _size(server.local, text, container), in_one_pod
    if _has(server.single, text):
        return 1, in_one_pod
    return None if _has(server.scattered, text) else _size(server.data, text, container), False


def _tensor(server: _Server, text: str, container: Mapping[str, paths.Json]) -> int | None:
    """The tensor parallel size; None if it is unknown, and 1 without one."""
    if _has(server.tensor, text):
        return _size(server.tensor, text, container)
    if server.variable and (given := _value_of(server.variable, container)):
        return int(given) if _NUMBER.fullmatch(given) else None
    if not server.takes_all:
        return 1
    number = _visible_gpus(container)
    return number if number == 1 or server.rank_each else None


_DECIDE: Final = frozenset({"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "NUM_SHARD", "SHARDED"})
"""Variables that decide which GPUs a program sees or uses."""


def _visible_gpus(container: Mapping[str, paths.Json]) -> int | None:
    """The whole GPUs that a container asks for, if its program sees and uses them all; of MIG devices it uses one."""
    limits = paths.mapping(paths.mapping(container.get("resources")).get("limits"))
    asked = [(name, str(number)) for name, number in limits.items() if "/" in name]
    if len(asked) != 1 or "envFrom" in container or not _DECIDE.isdisjoint(places.texts_at(container, "env[].name")):
        return None
    name, number = asked[0]
    if name.startswith("nvidia.com/mig-"):
        return 1
    return int(number) or None if name == "nvidia.com/gpu" and _NUMBER.fullmatch(number) else None


def _server(text: str, image: str, *, has_command: bool) -> _Server | None:
    found = [server for server in _SERVERS for _ in _compiled(server.program).finditer(text)]
    if found:
        return found[0] if len(found) == 1 else None
    name = image.rpartition("/")[2].partition("@")[0].partition(":")[0]
    return next((server for server in _SERVERS if name in server.images and not has_command), None)


def server_name(container: Mapping[str, paths.Json], words: Sequence[str]) -> str:
    """The name of the model server that a container starts; empty for other programs."""
    image = container.get("image")
    has_command = bool(container.get("command"))
    server = _server("\n".join(words), image if isinstance(image, str) else "", has_command=has_command)
    return "" if server is None else server.name


def _has(flags: str, text: str) -> bool:
    return bool(flags) and _compiled(flags).search(text) is not None


def _size(flag: str, text: str, container: Mapping[str, paths.Json]) -> int | None:
    """The value of a flag, 1 without it; None if it is unknown or the flag has several values."""
    values = {_flag_value(value, container) for value in _compiled(flag).findall(text)} if flag else set()
    if not values:
        return 1
    value = values.pop()
    return int(value) if not values and _NUMBER.fullmatch(value) and int(value) else None


def _flag_value(text: str, container: Mapping[str, paths.Json]) -> str:
    reference = _REFERENCE.fullmatch(text)
    return text if reference is None else _value_of(reference[reference.lastindex or 0], container)


def _value_of(name: str, container: Mapping[str, paths.Json]) -> str:
    variables = container.get("env")
    for variable in reversed(variables if isinstance(variables, list) else []):
        if isinstance(variable, dict) and variable.get("name") == name:
            value = variable.get("value")
            return value if isinstance(value, str) else ""
    return ""


def _place(server: _Server, container: Mapping[str, paths.Json], path: str) -> str:
    """The path of the tensor parallel size in the command; else of the whole command."""
    for field in ("command", "args"):
        entries = container.get(field)
        for index, entry in enumerate(entries if isinstance(entries, list) else []):
            if isinstance(entry, str) and (_has(server.tensor, entry) or _has(server.tensor, f"{entry} 1")):
                return f"{path}/{field}/{index}"
    return f"{path}/{next((each for each in ('args', 'command', 'envFrom') if container.get(each)), 'image')}"


_MODEL: Final = memo.pattern(
    r"(?:\bserve\s+(?:api_server\s+)?|--(?:model|model[-_](?:id|path|name[-_]or[-_]path))(?:=|\s+))[\"']?([^-\s\"';|&\\][^\s\"';|&\\]{0,200})"
)
_WEIGHTS: Final = memo.pattern(
    r"(?<![0-9A-Za-z.])(?:[0-9]{1,3}x)?([0-9]{1,4}(?:\.[0-9]{1,2})?)([bm])(?![a-z0-9])", re.IGNORECASE
)
_EXPERTS: Final = memo.pattern(r"[0-9]x[0-9]|[-_][0-9]{1,3}E(?![a-z])", re.IGNORECASE)
_QUANTIZATION: Final = memo.pattern(r"(?:^|\s)(?:--quanti[sz](?:ation|e)|-q)(?:=|\s+)[\"']?([\w-]{1,40})")
_BITS: Final = (
    (8, memo.pattern(r"(?:int|w|fp|q)-?8|8-?bits?(?![a-z])", re.IGNORECASE)),
    (4, memo.pattern(r"awq|gptq|marlin|(?:int|w|fp|q)-?4|4-?bits?(?![a-z])|bnb|bitsandbytes|gpt-oss", re.IGNORECASE)),
)
_GATED: Final = memo.pattern(r"(meta-llama|google)/(?:(?<=meta-llama/)|gemma-(?:1\.1-|[23]n?-|[27]b))")
"""Models that the hub gives only to accounts that accepted their licence, as their pages say."""
_TOKENS: Final = memo.pattern(r"TOKEN(?!S|IZ)|HF_ENDPOINT")
_DIRECTORY: Final = memo.pattern(
    r"--(?:download[-_]dir|huggingface[-_]hub[-_]cache)(?:=|\s+)[\"']?([^\s\"';|&\\]{1,200})"
)
_OF_OTHER_SIZE: Final = memo.pattern(
    r"gguf|(?:^|\s)--(?:cpu[-_]offload|load[-_]in|load[-_]format(?:=|\s+)dummy|dtype(?:=|\s+)float32)", re.IGNORECASE
)


def _is_for_language(container: Mapping[str, paths.Json]) -> bool:
    """Whether it is the model of an InferenceService in a format whose servers load the weights as they are."""
    return re.search("huggingface|vllm|sglang", str(container.get("modelFormat")).lower()) is not None


def _expanded(text: str, container: Mapping[str, paths.Json]) -> str:
    """A command with the values of its variables, and the model that a variable, an address or a NIM says.

    A NIM loads the weights with 8 bits where the GPU has them; some profiles for new GPUs have fewer.
    """
    if "$" in text:
        text = _REFERENCE.sub(lambda each: _value_of(each[each.lastindex or 0], container) or each[0], text)
    if (given := _value_of("QUANTIZE", container)) and not _QUANTIZATION.search(text):
        text = f"{text} --quantize {given}"
    uri = paths.text(container.get("storageUri")) if _is_for_language(container) else ""
    image = paths.text(container.get("image"))
    of_nim = f"{image.rpartition('/')[2].partition(':')[0]}-fp8" if NIM_HINT in image else ""
    given = _value_of("MODEL_ID", container) or uri.partition("://")[2] or of_nim
    return text if not given or _MODEL.search(text) else f"{text} --model-id {given}"


def _has_token(text: str, container: Mapping[str, paths.Json]) -> bool:
    """Whether a container may have a token of the hub, or another hub."""
    variables = container.get("env")
    names = (str(paths.mapping(each).get("name")) for each in (variables if isinstance(variables, list) else ()))
    return "envFrom" in container or _TOKENS.search(" ".join((text.upper(), *names))) is not None


def model_size(text: str, container: Mapping[str, paths.Json]) -> model.ModelSize | None:
    """The size of the model in the name that a command gives; None without one, and where its bits are unknown."""
    text = _expanded(text, container)
    sizes = {(name, match[1], match[2].lower()) for name in _MODEL.findall(text) for match in _WEIGHTS.finditer(name)}
    quantized = _QUANTIZATION.findall(text)
    if len(sizes) != 1 or _OF_OTHER_SIZE.search(text):
        return None
    name, number, unit = sizes.pop()
    bits = next((bits for bits, pattern in _BITS if pattern.search(" ".join((name, *quantized)))), 16)
    if bits == 16 and quantized:
        return None
    gigabytes = float(number) * bits / 8 / (1 if unit == "b" else 1000)
    return model.ModelSize(
        name=number + unit.upper(),
        bits=bits,
        gigabytes=max(int(gigabytes), 1),
        experts=_EXPERTS.search(name) is not None,
        hub=name.count("/") == 1 and name[0] not in "/.$~",
        directory=next(iter(_DIRECTORY.findall(text)), ""),
        gated="" if (gated := _GATED.match(name)) is None or _has_token(text, container) else gated[1],
    )


_FOR_CPUS: Final = memo.pattern(
    r"(^|/)(kserve/huggingfaceserver:(latest|v0\.(1[5-9]|[2-9]\d)\.\d+[-\w]*(?<!-gpu))$"
    r"|ggml-org/llama\.cpp:(server|full|light)(-b\d+)?$|text-embeddings-inference:cpu-"
    r"|tensorflow/(tensorflow|serving):(latest|\d[\d.]*)(-jupyter)?$)"
    r"|/vllm-cpu[-\w]*:|:[\w.-]*-cpu(-[\w.-]+)?$"
)
"""Images of programs that were built for CPUs alone; a tag with -cpu says so itself."""

_OTHERS: Final = memo.pattern(r"(?:amd\.com|gpu\.intel\.com|habana\.ai|google\.com)/|aws\.amazon\.com/neuron")
_TAGS_OF_OTHERS: Final = r"(?::(?![\w.-]*(?:rocm|intel|gaudi|xpu|hpu|cpu|neuron|tpu|npu|cann|musa))[\w.-]+)?$"
_FOR_CUDA: Final = memo.pattern(
    r"(?:^|/)ollama/ollama:0\.(?:\d|1[01]|12(?=\.(?:\d|10)$))\.\d+$"
    r"|(?:^|/)(?:vllm/vllm-openai|huggingface/text-generation-inference|lmsysorg/sglang|nvidia/cuda|nvidia/tritonserver)"
    rf"{_TAGS_OF_OTHERS}"
)
_ROCM: Final = memo.pattern(r"(?:^|[/:._-])rocm(?:[/:._\d-]|$)")
"""Images of projects that build one for each kind of device, by tag or name. From 0.12.11 on Ollama's image also has
Vulkan, for GPUs of all makers (ollama/ollama#12673)."""

_BLACKWELL: Final = memo.pattern(
    r"\b(g?b[23]00)\b|blackwell|rtx-?pro-?[2-6]\d{3}\b|rtx-?50[5-9]0|^p6e?-|\ba4x?-(high|ultra|mega|max)gpu|^g7e\.",
    re.IGNORECASE,
)
_VOLTA: Final = memo.pattern(r"\b(tesla-?)?(v100|p100|p40|p4|k80)\b|^p[23](dn)?\.|_v3$", re.IGNORECASE)
_WITHOUT_VOLTA: Final = memo.pattern(r"(^|/)vllm/vllm-openai:(latest|v0\.(9|[1-9]\d)\.)")  # PyTorch 2.7 with CUDA 12.8
_BOARD_LABELS: Final = frozenset({
    "nvidia.com/gpu.product", "nvidia.com/gpu.family", "cloud.google.com/gke-accelerator",
    "node.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-gpu-name", "eks.amazonaws.com/instance-gpu-name",
    "karpenter.k8s.aws/instance-family", "eks.amazonaws.com/instance-family", "gpu.nvidia.com/class",
})  # fmt: skip
_CUDA: Final = memo.pattern(r"[:_-](?:py3-)?cu(?:da)?-?(1[0-3])[._]?(\d)")
_VLLM: Final = memo.pattern(r"vllm/vllm-openai:v0\.[0-8]\.")
_MONTHLY: Final = memo.pattern(r"nvcr\.io/nvidia/(?:pytorch|tensorflow|tritonserver|nemo|jax):(2[0-4])\.\d\d")
_FIRST: Final = (12, 8)
"""The first CUDA with code for Blackwell (CUDA 12.8 release notes); vLLM has it since 0.9.0, and NVIDIA since 25.01."""


def images_of_other_devices(workload: model.Workload) -> Found:
    """Images that cannot use the GPUs that their container asks for, or those of the nodes that the pod selects."""
    for pod_set in workload.pod_sets:
        selected = [each for key, each in pod_set.node_selector.items() if key in _BOARD_LABELS]
        boards, former = (list(filter(each.search, selected)) for each in (_BLACKWELL, _VOLTA))
        for container in pod_set.containers:
            yield from _options_of_other_devices(pod_set, container)
            path, asked = f"{container.path}/image", " ".join(container.accelerators)
            if _OTHERS.match(asked) and _FOR_CUDA.search(container.image) and "rocm" not in container.image:
                text = f"asks for {asked[:60]}, but the image {container.image[:120]} holds programs for NVIDIA's GPUs"
                yield misread(path, text, "use the image that its project builds for these devices", "image")
            if not container.image or "nvidia.com/gpu" not in container.accelerators:
                continue
            if _ROCM.search(container.image) and "cuda" not in container.image:
                text = f"asks for GPUs of NVIDIA, but the image {container.image[:120]} holds programs for AMD's"
                yield misread(path, text, "use the image for CUDA, or ask for amd.com/gpu", "image")
            elif _FOR_CPUS.search(container.image):
                text = f"has a container with GPUs and the image {container.image[:120]}, whose program uses only CPUs"
                yield misread(path, text, "use the image for GPUs, or ask for no GPU", "image")
            elif former and _WITHOUT_VOLTA.search(container.image):
                text = f"selects {former[0]}, but the image {container.image[:120]} has no code for GPUs before Turing"
                yield misread(path, text, "use vLLM 0.8.5, or newer GPUs", "image")
            elif wrong := started_programs.needs_other_board(container.image, container.command, selected):
                yield misread(path, *wrong, "image")
            elif boards and (cuda := _older_cuda(container.image)):
                text = f"selects {boards[0]}, but the image {container.image[:120]} is from {cuda}, before Blackwell"
                yield misread(path, text, "use an image with CUDA 12.8 or later", "image")


def _older_cuda(image: str) -> str:
    """The reason why an image has no code for Blackwell; empty without one, as for images of CUDA itself."""
    if re.search(r"nvidia/cuda:", image):
        return ""
    if _VLLM.search(image):
        return "the time of CUDA 12.4"
    if found := _MONTHLY.search(image):
        return f"20{found[1]}"
    found = _CUDA.search(image)
    return f"CUDA {found[1]}.{found[2]}" if found and (int(found[1]), int(found[2])) < _FIRST else ""


_OLD_BOARDS: Final = memo.pattern(
    r"\b(tesla-?)?(t4g?|v100|p100|p4|k80)\b|\b(g4dn|g5g|p3|p3dn|p2)\b|nc\d+.*_t4|_v3$", re.IGNORECASE
)
_PART_OF_MEMORY: Final = memo.pattern(
    r"--gpu[-_]memory[-_]utilization[=\s]+[\"']?([01](?:\.\d{1,9})?|\.\d{1,9})(?![\d.])"
)
_HALF_OF_MEMORY: Final = 0.5
"""The most that a server can take where at least two pods share a GPU."""
_HALF: Final = memo.pattern(r"--dtype(?:=|\s+)[\"']?(?:bf16|bfloat16)\b")


def _options_of_other_devices(pod_set: model.PodSet, container: model.Container) -> Found:
    """Options of vLLM that the selected GPUs do not have: bfloat16 needs Ampere or later."""
    text = " ".join(container.command)
    # KAI-Scheduler places pods by its annotations, and does not keep a program from the rest of the GPU.
    in_part = pod_set.scheduler.name == "kai-scheduler" and any(
        request.route is model.Route.FRACTION for request in pod_set.requests
    )
    is_vllm = container.parallelism is not None and container.parallelism["server"] == "vLLM"
    if not is_vllm and not (in_part and "vllm" in f"{container.image} {text}"):
        return
    part = _PART_OF_MEMORY.search(text)
    shares = in_part or "nvidia.com/gpu.shared" in container.accelerators
    if shares and (part is None or float(part[1]) > _HALF_OF_MEMORY):
        given, taken = (f"with {part[0]}", float(part[1])) if part else ("without --gpu-memory-utilization", 0.9)
        message = f"starts vLLM on a share of a GPU {given}, so it takes {taken:.0%} of the whole memory"
        remedy = "set --gpu-memory-utilization to its part of the memory"
        yield misread(container.path, message.replace("%", " %"), remedy, "image")
    if not _HALF.search(text):
        return
    selected = [
        each for key, each in pod_set.node_selector.items() if key in _BOARD_LABELS and _OLD_BOARDS.search(each)
    ]
    if selected:
        message = f"selects {selected[0]} and starts vLLM with bfloat16, which GPUs before Ampere do not have"
        yield misread(container.path, message, "set --dtype to half", "image")


_GROUP_OF_KSERVE: Final = "serving.kserve.io"
_PART: Final = 16
"""The storage initializer takes at least this part of what it downloads (kserve/kserve#5162, #5412)."""


def needs_of_cluster(
    workload: model.Workload | None, value: paths.Object, specs: Sequence[places.PodSpec], files: tuple[Objects, Lookup]
) -> Found:
    """Needs of the model servers of an object that known nodes and configurations do not meet.

    Args:
        files: the objects of the same directory, and of the same file.
    """
    objects, beside = files
    if workload is None or not workload.pod_sets:
        return
    yield from shares.users_of_one_server(specs, workload.namespace, objects, beside)
    for pod_set in workload.pod_sets:
        yield from pod_templates.apart_on_a_ring(pod_set, objects)
    for spec, path, _ in specs:
        yield from _larger_than_files_of_nodes(workload, spec, path, objects)
        yield from disks.pulled_by_ollama(spec, path, workload.namespace, objects)
    by_knative = workload.group == "serving.knative.dev"
    if workload.group == _GROUP_OF_KSERVE or by_knative:
        where, uri = next(
            iter(places.texts_with_paths(value, "spec{.model.uri,.predictor.model.storageUri}")), ("", "")
        )
        size = model_size(f"--model {uri.partition('://')[2]}", {}) if uri else None
        if size and uri.startswith("hf://"):
            yield from _of_initializer(where, uri, size, workload.kind, objects)
        if by_knative or (workload.kind == "InferenceService" and definition_limits.is_by_knative(value, objects)):
            yield from definition_limits.refused_by_knative(value, objects)
            yield from definition_limits.deadline_of_knative(workload, value, size, objects)


def _of_initializer(where: str, uri: str, size: model.ModelSize, kind: str, objects: Objects) -> Found:
    """A storage initializer with less memory than the download of the model takes.

    An LLMInferenceService does not look at ClusterStorageContainers (kserve/kserve#6024).
    """
    initializer = known_keys.setting("inferenceservice-config", "storageInitializer", objects)
    configured = paths.text(initializer.get("memoryLimit"))
    limit, source = configured, "memoryLimit of storageInitializer in the ConfigMap inferenceservice-config"
    for name, each in objects.known(_GROUP_OF_KSERVE, "ClusterStorageContainer").items():
        prefixes = tuple(places.texts_at(each, "spec.supportedUriFormats[].prefix"))
        limits = places.texts_at(each, "spec.container.resources.limits.memory")
        if kind == "InferenceService" and limits and uri.startswith(prefixes or ("?",)):
            limit, source = limits[0], f"limits.memory of ClusterStorageContainer {name[:100]}"
    given = pod_templates.bytes_of(limit)
    if given and given * _PART < size["gigabytes"] * 10**9:
        text = (
            f"downloads about {size['gigabytes']} GB of weights in a storage initializer with {limit[:20]} of memory, "
        )
        text += f"and it takes more than that: {source}"
        text += "" if kind == "InferenceService" else "; it looks at no ClusterStorageContainer"
        yield misread(where, text, f"raise it to at least {-(-size['gigabytes'] // 4)}Gi", "controller")


def _larger_than_files_of_nodes(
    workload: model.Workload, spec: Mapping[str, Any], path: str, objects: Objects
) -> Found:
    """Weights that a server downloads to no volume, and that the known nodes do not have room for."""
    pod_set = next((each for each in workload.pod_sets if each.spec_path == path and each.accelerators), None)
    for index, container, folder in started_programs.own_downloads(spec) if pod_set else ():
        size = model_size(" ".join(places.texts_at(container, "command[] args[]")), container)
        if pod_set is None or size is None or not size["hub"]:
            continue
        device = next(iter(pod_set.accelerators))
        most = max(pod_templates.amounts_of_nodes(pod_set, device, "ephemeral-storage", objects), default=0)
        if 0 < most < size["gigabytes"] * 9 * 10**8:
            text = f"downloads about {size['gigabytes']} GB of weights to {folder}, where it has no volume, and known "
            text += f"nodes have at most {most // 10**9} GB for the files of their pods, so the kubelet evicts it"
            yield misread(f"{path}/containers/{index}", text, f"mount a volume at {folder}", "controller")


class Family(Struct, frozen=True, kw_only=True):
    """Programs with one purpose."""

    name: str
    role: model.Role
    source: str
    commands: tuple[str, ...] = ()
    images: tuple[str, ...] = ()


ALL: Final = tuple(
    Family(
        name=row["name"],
        role=model.Role(role),
        source=row["source"],
        commands=tuple(row.get("commands", ())),
        images=tuple(row.get("images", ())),
    )
    for role, rows in orjson.loads(Path(__file__).with_name("programs.json").read_bytes()).items()
    for row in rows
)
"""In this order a container gets the role of the first family that one of its programs belongs to. So a server cannot
hide a trainer: the role with fewer rights comes first.
"""
