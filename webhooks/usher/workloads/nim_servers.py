"""Reads from its variables how many GPUs an NVIDIA NIM uses.

Source: docs.nvidia.com/nim/large-language-models (configuration and model profiles). The names of profiles contain the
parallel sizes: tensorrt_llm-h100-fp8-tp2-pp1-latency. Without one of these variables, a NIM chooses a profile for the
GPUs that it has.
"""

import re
from collections.abc import Mapping
from typing import Final

from usher import model, paths

HINT: Final = "/nim/"
"""A part of the image name of every NIM."""

_TENSOR: Final = "NIM_TENSOR_PARALLEL_SIZE"
_PIPELINE: Final = "NIM_PIPELINE_PARALLEL_SIZE"
_PROFILE: Final = "NIM_MODEL_PROFILE"
_SEVERAL_PODS: Final = frozenset({"NIM_LEADER_ROLE", "NIM_MULTI_NODE", "NIM_NODE_RANK", "NIM_NUM_COMPUTE_NODES"})

READ_VARIABLES: Final = (_TENSOR, _PIPELINE, _PROFILE, *sorted(_SEVERAL_PODS))
"""The variables that this module reads."""

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,3}", re.ASCII)
_IN_PROFILE: Final = re.compile(r"[-_]tp([1-9][0-9]{0,3})(?:[-_]pp([1-9][0-9]{0,3}))?(?![0-9a-z])", re.ASCII)


def read(container: Mapping[str, paths.Json], path: str) -> model.ModelParallelism | None:
    """The parallelism of a NIM; None for other images, and if its variables do not set it.

    Args:
        container: the container.
        path: the path of the container.
    """
    image, variables = container.get("image"), container.get("env")
    if not isinstance(image, str) or HINT not in image or not isinstance(variables, list):
        return None
    # The last of several variables with one name counts.
    found = {
        str(entry.get("name")): (entry.get("value"), f"{path}/env/{index}/value")
        for index, entry in enumerate(variables)
        if isinstance(entry, dict)
    }
    if not _SEVERAL_PODS.isdisjoint(found):
        return None
    sizes: dict[str, tuple[int, int]] = {}
    if _TENSOR in found:
        sizes[_TENSOR] = (_number(found, _TENSOR), _number(found, _PIPELINE))
    if _PROFILE in found:
        sizes[_PROFILE] = _sizes(found[_PROFILE][0])
    if len(set(sizes.values())) != 1 or 0 in next(iter(sizes.values())):
        return None
    name, (tensor, pipeline) = next(iter(sizes.items()))
    return model.ModelParallelism(server="NIM", tensor=tensor, pipeline=pipeline, data=1, path=found[name][1])


def _number(found: Mapping[str, tuple[paths.Json, str]], name: str) -> int:
    """The size that a variable sets: 1 without the variable, and 0 if the size is unknown."""
    value = found[name][0] if name in found else "1"
    return int(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else 0


def _sizes(profile: paths.Json) -> tuple[int, int]:
    """The tensor and pipeline parallel sizes in the name of a profile; zeros if it is a digest."""
    match = _IN_PROFILE.search(profile) if isinstance(profile, str) else None
    return (0, 0) if match is None else (int(match[1]), int(match[2] or 1))
