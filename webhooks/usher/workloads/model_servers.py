"""Programs by purpose, and how many GPUs a model server or a NIM uses by the parallelism in its command and variables.

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
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import memo, model, paths

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
    """The parallelism of a NIM; None for other images, and if its variables do not set it."""
    image, variables = container.get("image"), container.get("env")
    if not isinstance(image, str) or NIM_HINT not in image or not isinstance(variables, list):
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

_HINTS: Final = "vllm sglang lmdeploy trtllm text-generation tgi- huggingfaceserver --tensor triton"
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
    if not (words or server.variable) or _has(server.elsewhere, text):
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
    if server.variable and not _has(server.tensor, text):
        given = _value_of(server.variable, container)
        return int(given) if _NUMBER.fullmatch(given) else None
    if server.takes_all and not _has(server.tensor, text):
        return None
    return _size(server.tensor, text, container)


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
    return f"{path}/{'args' if container.get('args') else 'command'}"


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
