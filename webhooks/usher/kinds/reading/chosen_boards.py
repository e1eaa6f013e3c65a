"""Images, options and node selectors of pods that fit other boards than those that the pods get."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from usher import memo, model, paths
from usher.kinds.reading import value_forms as places
from usher.kinds.reading.environment import misread

Found = Iterator[model.UnreadKey]

_FOR_CPUS: Final = memo.pattern(
    r"(^|/)(kserve/huggingfaceserver:(latest|v0\.(1[5-9]|[2-9]\d)\.\d+[-\w]*(?<!-gpu))$"
    r"|ggml-org/llama\.cpp:(server|full|light)(-b\d+)?$|text-embeddings-inference:cpu-"
    r"|tensorflow/(tensorflow|serving):(latest|\d[\d.]*)(-jupyter)?$)"
    r"|/vllm-cpu[-\w]*:|:[\w.-]*-cpu(-[\w.-]+)?$"
)
"""Images of programs that were built for CPUs alone; a tag with -cpu says so itself."""

_BLACKWELL: Final = memo.pattern(
    r"\b(g?b[23]00)\b|blackwell|rtx-?pro-?[2-6]\d{3}\b|rtx-?50[5-9]0|^p6e?-|\ba4x?-(high|ultra|mega|max)gpu|^g7e\.",
    re.IGNORECASE,
)
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
        boards = [
            each for key, each in pod_set.node_selector.items() if key in _BOARD_LABELS and _BLACKWELL.search(each)
        ]
        for container in pod_set.containers:
            yield from _options_of_other_devices(pod_set, container)
            if not container.image or "nvidia.com/gpu" not in container.accelerators:
                continue
            path = f"{container.path}/image"
            if _FOR_CPUS.search(container.image):
                text = f"has a container with GPUs and the image {container.image[:120]}, whose program uses only CPUs"
                yield misread(path, text, "use the image for GPUs, or ask for no GPU", "image")
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
    if container.parallelism is None or container.parallelism["server"] != "vLLM":
        return
    part = _PART_OF_MEMORY.search(text)
    if "nvidia.com/gpu.shared" in container.accelerators and (part is None or float(part[1]) > _HALF_OF_MEMORY):
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


_PRODUCT: Final = "nvidia.com/gpu.product"
_BARE: Final = {
    **{
        name: f"NVIDIA-{name}"
        for name in ("A10", "A10G", "A30", "A40", "B200", "B300", "GB200", "GB300", "H20", "H200")
    },
    **{name: f"NVIDIA-{name}" for name in ("L4", "L40", "L40S")},
    "A100": "NVIDIA-A100-SXM4-80GB",
    "H100": "NVIDIA-H100-80GB-HBM3",
    "T4": "Tesla-T4",
    "V100": "Tesla-V100-SXM2-32GB",
}
"""Boards, with the name that drivers give them; some have several."""

_REQUIRED_LABELS: Final = (
    "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[].matchExpressions[]"
)


def boards_without_their_name(specs: Sequence[places.PodSpec]) -> Found:
    """Boards that pods select without the name that gpu-feature-discovery writes."""
    for spec, path, _ in specs:
        if spec.keys().isdisjoint(("nodeSelector", "affinity")):
            continue
        chosen = [(paths.join(f"{path}/nodeSelector", _PRODUCT), paths.mapping(spec.get("nodeSelector")).get(_PRODUCT))]
        for where, each in places.at(spec, _REQUIRED_LABELS, path):
            if isinstance(each, dict) and each.get("key") == _PRODUCT and each.get("operator") == "In":
                chosen += [(f"{where}/values", text) for text in places.texts_at(each, "values[]")]
        for where, text in chosen:
            right = _BARE.get(text.upper().removeprefix("NVIDIA-")) if isinstance(text, str) else None
            if right is not None and text != right:
                wrong = f"selects nodes with {_PRODUCT}: {text}, but gpu-feature-discovery writes names like {right}"
                yield misread(where, wrong, f"write the value of your nodes, for example {right}", "controller")
