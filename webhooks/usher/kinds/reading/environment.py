"""The environment variables of a container that rules read."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from usher import errors, model, paths, quantities
from usher.accelerators.names import GKE_DEVICES, GPU_FRACTION, GPU_FRACTION_CONTAINER, GPU_FRACTION_DEVICES, GPU_MEMORY
from usher.kinds.reading.values import Reading, Reference


class PortVariable(Struct, frozen=True, kw_only=True):
    """A variable from which a program reads the number of a port.

    A Service with the first part of the name gives every pod of its namespace this variable, with a text like
    tcp://10.0.0.7:8000, unless the pod has `enableServiceLinks: false`. The program then ends with an error.
    """

    name: str
    program: str
    words: tuple[str, ...]
    """Its image or its command has one of these words."""
    source: str


PORT_VARIABLES: Final = (
    *(
        PortVariable(name=name, program="vLLM", words=("vllm", "llm-d"), source="vllm/envs.py")
        for name in ("VLLM_PORT", "VLLM_DP_MASTER_PORT", "VLLM_NIXL_SIDE_CHANNEL_PORT")
    ),
    PortVariable(name="APHRODITE_PORT", program="Aphrodite", words=("aphrodite",), source="aphrodite/common/envs.py"),
    PortVariable(
        name="BENTOML_PORT", program="BentoML", words=("bentoml",), source="bentoml_cli/serve.py, option --port"
    ),
    *(
        PortVariable(name=name, program="GPUStack", words=("gpustack",), source="gpustack/cmd/start.py, option --port")
        for name in ("GPUSTACK_PORT", "GPUSTACK_WORKER_PORT")
    ),
    PortVariable(name="GRADIO_SERVER_PORT", program="Gradio", words=("gradio",), source="gradio/http_server.py"),
    PortVariable(
        name="INVOKEAI_PORT",
        program="InvokeAI",
        words=("invokeai", "invoke-ai"),
        source="invokeai/app/services/config, every setting with the prefix INVOKEAI_",
    ),
    PortVariable(name="JUPYTER_PORT", program="Jupyter", words=("jupyter",), source="jupyter_server/serverapp.py"),
    PortVariable(
        name="LABEL_STUDIO_PORT",
        program="Label Studio",
        words=("label-studio", "label_studio"),
        source="label_studio/core/argparser.py, option --port",
    ),
    PortVariable(
        name="LLAMA_ARG_PORT",
        program="llama.cpp",
        words=("llama-server", "llama.cpp"),
        source="common/arg.cpp, option --port",
    ),
    PortVariable(name="MLFLOW_PORT", program="MLflow", words=("mlflow",), source="mlflow/utils/cli_args.py"),
    *(
        PortVariable(name=name, program="a NIM", words=("/nim/",), source="docs.nvidia.com/nim, configuration")
        for name in ("NIM_HTTP_API_PORT", "NIM_SERVER_PORT")
    ),
    PortVariable(
        name="STREAMLIT_SERVER_PORT", program="Streamlit", words=("streamlit",), source="lib/streamlit/config.py"
    ),
)

READ_VARIABLES: Final = (
    "ASCEND_ALLOW_LINK",
    "ASCEND_RUNTIME_",
    "ASCEND_VNPU_SPECS",
    "CUDA_",
    "DOCKER_RESOURCE_",
    "FI_",
    "GLOO_SOCKET_",
    "HABANA_VISIBLE_DEVICES",
    "HCU_MOFED",
    "HF_HOME",
    "HF_HUB_CACHE",
    "HF_HUB_OFFLINE",
    "HOME",
    "MASTER_ADDR",
    "NCCL_",
    "NPROC_PER_NODE",
    "NVIDIA_",
    "PET_NPROC_PER_NODE",
    "RDMAV_",
    "TP_SOCKET_",
    "TRANSFORMERS_OFFLINE",
    "UCX_",
    *(row.name for row in PORT_VARIABLES),
)
"""The families of variables that rules read. Others stay in the manifest: their values may be secrets."""

READ_SUFFIX: Final = "_VISIBLE_DEVICES"
"""The end of names by which container runtimes of many vendors give devices. Rules read all of these."""

_INITIALS: Final = frozenset(family[0] for family in READ_VARIABLES)


def is_read(name: str) -> bool:
    """Whether rules read a variable."""
    return (name[:1] in _INITIALS and name.startswith(READ_VARIABLES)) or name.endswith(READ_SUFFIX)


def variables(value: object, path: str, reading: Reading) -> Iterator[model.EnvironmentVariable]:
    """The entries of `env` that belong to these families."""
    if value is None:
        return
    for index, entry in enumerate(reading.sequence(value, path)):
        # A pod may have hundreds of variables; rules do not read most of them.
        if isinstance(entry, dict):
            name, text = entry.get("name"), entry.get("value")
            if name and text and isinstance(name, str) and isinstance(text, str):
                if is_read(name):
                    yield _variable(name, text, f"{path}/{index}")
                continue
        yield from _odd_variable(entry, f"{path}/{index}", reading)


def sources(value: object, path: str, reading: Reading) -> Iterator[model.EnvironmentSource]:
    """The entries of `envFrom`, each with the variables of these families that it brings.

    usher reads only ConfigMaps of the same files: of a cluster it keeps only their names, and it reads no Secret.
    """
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        # Shapes record entries of wrong types.
        source = entry if isinstance(entry, dict) else {}
        prefix = source.get("prefix")
        prefix = prefix if isinstance(prefix, str) else ""
        data = _data(source.get("configMapRef"), reading)
        brought = None
        if data is not None:
            named = ((prefix + key, text) for key, text in data.items())
            brought = {name: text for name, text in named if is_read(name) and isinstance(text, str)}
        yield model.EnvironmentSource(path=f"{path}/{index}", prefix=prefix, variables=brought)


def _data(reference: object, reading: Reading) -> Mapping[str, paths.Json] | None:
    """The texts of a ConfigMap; None if they are unknown."""
    name = reference.get("name") if isinstance(reference, dict) else None
    if not isinstance(name, str):
        return None
    wanted = Reference(group="", kind="ConfigMap", name=name, namespace=reading.context.namespace)
    found = reading.context.find(wanted)
    data = None if found is None else found.get("data")
    return data if isinstance(data, dict) else None


def of_operator(value: object, path: str, names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Name and path of the entries that set variables of the kind's operator; values stay in the manifest.

    Wrong lists and entries are not reported here: `variables` records them.

    Args:
        names: the variables of the operator; names ending in * are prefixes.
    """
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str) and is_operators(name, names):
            yield name, f"{path}/{index}"


def is_operators(name: str, names: frozenset[str]) -> bool:
    """Whether the kind's operator sets a variable; names ending in * are prefixes."""
    whole, prefixes = _whole_and_prefixes(names)
    return name in whole or name.startswith(prefixes)


@lru_cache(maxsize=64)
def _whole_and_prefixes(names: frozenset[str]) -> tuple[frozenset[str], tuple[str, ...]]:
    prefixes = tuple(sorted(name[:-1] for name in names if name.endswith("*")))
    return frozenset(name for name in names if not name.endswith("*")), prefixes


def _odd_variable(value: object, path: str, reading: Reading) -> Iterator[model.EnvironmentVariable]:
    """An entry whose value comes from another object, or an entry that cannot be read."""
    if not isinstance(value, dict):
        reading.not_an_object(value, path)
        return
    name = reading.text(value.get("name"), path + "/name")
    known = _variable_value(value, path, reading) if name else None
    if value.get("name") in (None, ""):
        reading.unknown(path, "this entry has no name")
    elif is_read(name):
        found = _variable(name, known, path)
        yield found if known is not None else replace(found, config_map=_config_map(value))


def _config_map(entry: Mapping[str, paths.Json]) -> tuple[str, str] | None:
    source = entry.get("valueFrom")
    reference = source.get("configMapKeyRef") if isinstance(source, dict) else None
    if not isinstance(reference, dict):
        return None
    name, key = reference.get("name"), reference.get("key")
    return (name, key) if isinstance(name, str) and isinstance(key, str) else None


def _variable(name: str, value: str | None, path: str) -> model.EnvironmentVariable:
    """A variable. Its value is unknown with `$(NAME)`, which the kubelet replaces by variables from any source."""
    known = None if value is not None and "$(" in value else value
    return model.EnvironmentVariable(name=name, value=known, path=path)


def _variable_value(entry: Mapping[str, paths.Json], path: str, reading: Reading) -> str | None:
    """The value of an entry; the kubelet reads `valueFrom` only if `value` is empty."""
    value = entry.get("value")
    if value is not None and not isinstance(value, str):
        reading.text(value, path + "/value")
        return None
    if value or entry.get("valueFrom") is None:
        return value or ""
    reading.mapping(entry.get("valueFrom"), path + "/valueFrom")
    return None


_FRACTIONS: Final = frozenset({GPU_FRACTION, GPU_MEMORY})
_KAI: Final = frozenset({"kai-scheduler", "runai-scheduler"})

# KAI-Scheduler reads numbers as Go's strconv does: no spaces, no suffixes, and nothing beyond 64 bits.
_PLAIN: Final = re.compile(r"[+.0-9](?:[.0-9eE+-]{0,62}[.0-9])?", re.ASCII)
_WHOLE: Final = re.compile(r"0{0,40}[1-9][0-9]{0,17}", re.ASCII)
_ONE: Final = quantities.parse(1)

_GPU_DEVICE: Final = re.compile(r"/dev/nvidia[0-9]{1,3}\b", re.ASCII)


class Annotated(Struct, frozen=True, kw_only=True):
    """The accelerators that annotations of a pod template request, and the containers that get them."""

    requests: tuple[model.AcceleratorRequest, ...] = ()
    containers: frozenset[str] = frozenset()
    first_container: bool = False
    """Whether the first container gets them, because no annotation says which."""
    unclear: tuple[model.UnclearDevices, ...] = ()


NOTHING: Final = Annotated()


def of_pod(annotations: Mapping[str, str], path: str, reading: Reading, *, scheduler: str = "") -> Annotated:
    """The accelerators that the annotations of a pod template request.

    A value that KAI-Scheduler refuses is unknown, but not for a pod that KAI-Scheduler places: a check denies that.
    """
    mounted = [key for key in annotations if key.startswith(GKE_DEVICES)]
    if not mounted and annotations.keys().isdisjoint(_FRACTIONS):
        return NOTHING
    fraction = _fraction(annotations, path, Reading() if scheduler in _KAI else reading)
    container = annotations.get(GPU_FRACTION_CONTAINER, "")
    given = {key: files for key in mounted if (files := set(_GPU_DEVICE.findall(annotations[key])))}
    names = {key.removeprefix(GKE_DEVICES) for key in given}
    return Annotated(
        requests=(*filter(None, [fraction]), *_mounted(given, path)),
        containers=frozenset(names | {container} if fraction is not None and container else names),
        first_container=fraction is not None and not container,
    )


def _fraction(annotations: Mapping[str, str], path: str, reading: Reading) -> model.AcceleratorRequest | None:
    """A part of a GPU, or MiB of its memory, from each of several GPUs.

    KAI-Scheduler's webhook refuses a pod with both, and its scheduler would take the fraction (ValidateGpuRequests in
    pkg/binder/plugins/gpusharing/gpu-request, updatePodAdditionalFields in pkg/scheduler/api/pod_info). It also refuses
    a pod that has a limit of nvidia.com/gpu as well; here both count, each under its name.
    """
    if GPU_FRACTION in annotations:
        name, share = GPU_FRACTION, _part(annotations[GPU_FRACTION])
        wanted = "is not a part of a GPU; write a number between 0 and 1, for example 0.5"
        if GPU_MEMORY in annotations:
            reading.unknown(paths.join(path, GPU_MEMORY), f"KAI-Scheduler refuses it beside {GPU_FRACTION}; remove one")
    elif GPU_MEMORY in annotations:
        name, share = GPU_MEMORY, _parse_whole_number(annotations[GPU_MEMORY])
        wanted = "is not a number of MiB; write a whole number, for example 4096"
    else:
        return None
    here = paths.join(path, name)
    devices = _parse_whole_number(annotations.get(GPU_FRACTION_DEVICES, "1"))
    if share is None:
        reading.unknown(here, f"{annotations[name][:40]!r} {wanted}")
    if devices is None:
        text = annotations[GPU_FRACTION_DEVICES][:40]
        reason = f"{text!r} is not a number of GPUs; write a whole number, 1 or more"
        reading.unknown(paths.join(path, GPU_FRACTION_DEVICES), reason)
    if share is None or devices is None:
        return None
    asked = share * devices.value
    return model.AcceleratorRequest(route=model.Route.FRACTION, name=name, minimum=asked, maximum=asked, path=here)


def _part(text: str) -> quantities.Quantity | None:
    if _PLAIN.fullmatch(text) is None:
        return None
    try:
        found = quantities.parse(text)
    except errors.QuantityError:
        return None
    return found if quantities.ZERO < found < _ONE else None


def _parse_whole_number(text: str) -> quantities.Quantity | None:
    return quantities.parse(int(text)) if _WHOLE.fullmatch(text) else None


def _mounted(files: Mapping[str, Iterable[str]], path: str) -> list[model.AcceleratorRequest]:
    """The GPUs that GKE's device injector mounts by annotation; containers that share a device count once.

    Each annotation lists devices in YAML. Only their paths matter (nri_device_injector in
    GoogleCloudPlatform/container-engine-accelerators). Other containers of the node may have asked for them, so they
    have a name of their own.
    """
    if not files:
        return []
    number = quantities.parse(len(set().union(*files.values())))
    return [
        model.AcceleratorRequest(
            route=model.Route.DEVICE_ANNOTATION,
            name=GKE_DEVICES.rstrip("."),
            minimum=number,
            maximum=number,
            path=paths.join(path, next(iter(files))),
        )
    ]
