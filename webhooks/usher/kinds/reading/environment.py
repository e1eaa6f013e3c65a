"""The environment variables of a container that rules read, and names that no program reads.

Sources of the names: `program_names.json`; the method of pkg/controllers/job/plugins/{env,svc} of volcano-sh/volcano,
pkg/utils/pod/pod_utils.go of kubernetes-sigs/lws and pkg/controller/job/indexed_job_utils.go of kubernetes/kubernetes
for variables that controllers set; vllm/v1/metrics of vllm-project/vllm and tools/server/README.md of
ggml-org/llama.cpp for metrics.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec import Struct, convert
from msgspec.structs import replace

from usher import errors, memo, model, paths, quantities
from usher.accelerators.names import GKE_DEVICES, GPU_FRACTION, GPU_FRACTION_CONTAINER, GPU_FRACTION_DEVICES, GPU_MEMORY
from usher.kinds.reading.values import Context, Lookup, Objects, Reading, Reference


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


_READ: Final = orjson.loads(Path(__file__).with_name("variables.json").read_bytes())

PORT_VARIABLES: Final = convert(_READ["ports"], tuple[PortVariable, ...])

READ_VARIABLES: Final[tuple[str, ...]] = (*_READ["families"], *(row.name for row in PORT_VARIABLES))
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


OF_NETWORKS: Final = ("NCCL_", "GLOO_SOCKET_", "TP_SOCKET_", "UCX_", "FI_", "RDMAV_")
"""Families about the network between pods, whose values count wherever they come from."""


def with_config_maps(container: Mapping[str, paths.Json], reading: Reading) -> Mapping[str, paths.Json]:
    """A container whose `env` also has the texts of ConfigMaps of the same files; the last of several counts."""
    brought, own, listed = container.get("envFrom"), container.get("env"), list[paths.Json]()
    for source in map(paths.mapping, brought if isinstance(brought, list) else ()):
        data = _data(source.get("configMapRef"), reading) or {}
        listed += [{"name": f"{source.get('prefix') or ''}{key}", "value": text} for key, text in data.items()]
    for entry in own if isinstance(own, list) else ():
        reference = paths.mapping(paths.mapping(paths.mapping(entry).get("valueFrom")).get("configMapKeyRef"))
        text = (_data(reference, reading) or {}).get(paths.text(reference.get("key"))) if reference else None
        listed.append(entry if text is None else {"name": paths.mapping(entry).get("name"), "value": text})
    return {**container, "env": listed} if listed else container


def with_known_texts(value: paths.Object, namespace: str, objects: Lookup) -> paths.Object:
    """An object in which `env` of each container also has the texts of known ConfigMaps, after its own entries."""
    if not isinstance(objects, Objects) or not objects.names("", "ConfigMap"):
        return value
    context = Context(namespace=paths.text(paths.metadata(value).get("namespace")) or namespace, objects=objects)
    return paths.mapping(_with_texts(dict(value), context))


def _with_texts(value: paths.Json, context: Context) -> paths.Json:
    if isinstance(value, list):
        return [_with_texts(each, context) for each in value]
    if not isinstance(value, dict):
        return value
    if "env" not in value and "envFrom" not in value:
        return {key: _with_texts(each, context) for key, each in value.items()}
    entries = paths.elements(with_config_maps(value, Reading(context)).get("env"))
    brought = len(entries) - len(paths.elements(value.get("env")))
    own = {paths.text(paths.mapping(each).get("name")) for each in entries[brought:]}
    added = [each for each in entries[:brought] if paths.mapping(each).get("name") not in own]
    return {**value, "env": [*entries[brought:], *added]} if entries else value


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
    full_names, prefixes = _whole_and_prefixes(names)
    return name in full_names or name.startswith(prefixes)


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
        elsewhere = _config_map(value)
        yield found if known is not None else replace(found, config_map=elsewhere, value=_text_of(value, reading))


def _text_of(entry: Mapping[str, paths.Json], reading: Reading) -> str | None:
    """The text of a known ConfigMap for a variable of the network; other values from elsewhere stay unknown."""
    found = _config_map(entry)
    if found is None or not paths.text(entry.get("name")).startswith(OF_NETWORKS):
        return None
    text = (_data({"name": found[0]}, reading) or {}).get(found[1])
    return text if isinstance(text, str) else None


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
_PLAIN: Final = memo.pattern(r"[+.0-9](?:[.0-9eE+-]{0,62}[.0-9])?", re.ASCII)
_WHOLE: Final = memo.pattern(r"0{0,40}[1-9][0-9]{0,17}", re.ASCII)
_ONE: Final = quantities.parse(1)

_GPU_DEVICE: Final = memo.pattern(r"/dev/nvidia[0-9]{1,3}\b", re.ASCII)


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


_NAMES: Final = Path(__file__).with_name("program_names.json")


@cache
def program_names() -> Mapping[str, Any]:
    """Variables that programs read, and metadata of KEDA's triggers; read when the first object needs them."""
    found = orjson.loads(_NAMES.read_bytes())
    metrics = {server: names.split() for server, names in found["metrics"].items()}
    sets = {key: frozenset(found[key].split()) for key in ("variables", "features")}
    return {**found, **sets, "metrics": metrics}


def misread(path: str, text: str, remedy: str, topic: str, *, refused: bool = False) -> model.UnreadKey:
    """A value that a controller or a program does not take."""
    return model.UnreadKey(path=path, text=text, remedy=remedy, important=refused, refused=refused, topic=topic)


def near(name: str, names: Iterable[str], least: float = 0.8) -> str:
    """The known name that a name is most like; empty without one."""
    found = difflib.get_close_matches(name[:100], sorted(names)[:500], n=1, cutoff=least)
    return found[0] if found else ""


_OF_FAMILIES: Final = memo.pattern(r"(TORCH_)?(NCCL|CCL|NCLL|NCLC|VLLM|VLMM|VLL?M)_", re.IGNORECASE)
_SURE_PART: Final = 0.75
_SHORT: Final = 4
"""Letters of a part of a name from which on a slip differs from another word."""


@lru_cache(maxsize=4096)
def _meant_variable(name: str) -> str:
    """The variable of NCCL, PyTorch or vLLM that a name is a slip for; empty for known and for other names."""
    if not _OF_FAMILIES.match(name) or len(name) > 100:
        return ""
    known = program_names()["variables"]
    if name in known:
        return ""
    if name.upper() in known:
        return name.upper()
    parts = name.upper().split("_")
    same = (each for each in sorted(known) if each.count("_") == len(parts) - 1)
    found = [each for each in same if _is_slip(parts, each.split("_"))]
    return found[0] if len(found) == 1 else ""


def _is_slip(parts: list[str], others: list[str]) -> bool:
    """Whether all parts but one are the same, and that one nearly so; of the first part only letters may be missing."""
    differing = [(one, other) for one, other in zip(parts, others, strict=True) if one != other]
    if len(differing) != 1 or len(parts) < 2:
        return False
    one, other = differing[0]
    if parts[0] != others[0]:
        return len(parts) > 2 and (sorted(one) == sorted(other) or one == "CCL")
    alike = sorted(one) == sorted(other) or difflib.SequenceMatcher(None, one, other).ratio() > _SURE_PART
    return alike and min(len(one), len(other)) >= _SHORT and re.sub(r"\D", "", one) == re.sub(r"\D", "", other)


_SET_BY_CONTROLLERS: Final = (
    (memo.pattern(r"JOB_COMPLETION_INDEX"), "indexed", "set completionMode: Indexed of a Job"),
    (
        memo.pattern(r"LWS_(?:LEADER_ADDRESS|GROUP_SIZE|WORKER_INDEX)"),
        "groups",
        "use a LeaderWorkerSet, or set it in env",
    ),
    (memo.pattern(r"V[CK]_TASK_INDEX"), "env", "add `env: []` to the plugins of a Job of Volcano"),
    (memo.pattern(r"VC_\w+_(?:HOSTS|NUM)"), "svc", "add `svc: []` to the plugins of a Job of Volcano"),
)
"""Variables that only some controllers set: the name, what sets it, and the remedy."""

_USED: Final = memo.pattern(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))")
_MARKS: Final = ("JOB_COMPLETION_INDEX", "LWS_", "_TASK_INDEX", "VC_", "$(")
_EXPANDED: Final = memo.pattern(r"(?<!\$)\$\(([A-Z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|[A-Z][A-Z0-9]{2,80})\)")
"""References that the kubelet replaces by variables of the container; commands of a shell have other names."""
_OF_OTHERS: Final = memo.pattern(
    r"(?:KUBERNETES|AWS|AZURE|GOOGLE|TPU|MEGASCALE|LWS|JOBSET)_\w+|\w+_SERVICE_\w+|\w+_PORT(?:_\w+)?"
)
"""Variables that Kubernetes sets for Services, and those of webhooks of clouds."""

_SETS_NONE: Final = frozenset({
    "apps DaemonSet", "apps Deployment", "apps StatefulSet", "batch CronJob", "batch Job", "batch.volcano.sh Job",
    "jobset.x-k8s.io JobSet", "kubeflow.org MPIJob", "kubeflow.org PyTorchJob", "kubeflow.org TFJob",
    "leaderworkerset.x-k8s.io LeaderWorkerSet", "ray.io RayCluster", "ray.io RayJob", "ray.io RayService",
})  # fmt: skip
"""Kinds whose controllers set only the variables that `set_by_controller` names."""


def set_by_controller(kind: str, value: paths.Object) -> frozenset[str] | None:
    """The sorts of variables that the controller of an object sets in its pods; None where usher does not know them."""
    if kind not in _SETS_NONE:
        return None
    spec = paths.mapping(value.get("spec"))
    found = {"groups"} if kind.endswith(" LeaderWorkerSet") else set[str]()
    if kind.partition(" ")[0] in {"batch.volcano.sh", "kubeflow.org", "ray.io"}:
        found.add("own")
    if kind.endswith(" JobSet") and "NonIndexed" not in str(spec.get("replicatedJobs")):
        found.add("indexed")
    jobs = [spec, paths.mapping(paths.mapping(spec.get("jobTemplate")).get("spec"))]
    if kind.startswith("batch ") and any(each.get("completionMode") == "Indexed" for each in jobs):
        found.add("indexed")
    return frozenset({*found, *paths.mapping(spec.get("plugins"))})


def misread_variables(container: object, path: str, sets: frozenset[str] | None) -> Iterator[model.UnreadKey]:
    """Misspelt variables of a container, ones that its program no longer reads, and ones that nothing sets.

    Args:
        container: the container as written.
        path: its place.
        sets: the sorts of variables that its controller sets; None if unknown.
    """
    if not isinstance(container, dict):
        return
    given = container.get("env")
    names = [each.get("name") if isinstance(each, dict) else None for each in given] if isinstance(given, list) else []
    for index, name in enumerate(names):
        if isinstance(name, str) and (meant := _meant_variable(name)) and meant not in names:
            text = f"sets the variable {name}, and no program reads it"
            yield misread(f"{path}/env/{index}/name", text, f"did you mean {meant}?", "variable")
        elif name == "VLLM_USE_V1" and _is_without_v0(container.get("image")):
            text = "sets the variable VLLM_USE_V1, which vLLM 0.12 and later do not read"
            yield misread(f"{path}/env/{index}/name", text, "remove it: V1 is the only engine", "variable")
    yield from _used_too_early(given, path)
    if container.get("command"):
        yield from words_without_shell(container, path)
    if sets is not None and "envFrom" not in container:
        yield from _set_by_nothing(container, path, sets, names)


def _set_by_nothing(
    container: Mapping[str, Any], path: str, sets: frozenset[str], names: list[Any]
) -> Iterator[model.UnreadKey]:
    for field in ("command", "args"):
        words = container.get(field)
        for index, word in enumerate(words if isinstance(words, list) else ()):
            if isinstance(word, str) and any(mark in word for mark in _MARKS):
                for text, remedy in (*_unset(word, sets, names), *_unexpanded(word, sets, names)):
                    yield misread(f"{path}/{field}/{index}", text, remedy, "variable")


def _used_too_early(given: object, path: str) -> Iterator[model.UnreadKey]:
    """Variables that use one which stands after them, where the kubelet does not replace it."""
    entries = [paths.mapping(each) for each in given] if isinstance(given, list) else []
    names = [each.get("name") for each in entries]
    for index, entry in enumerate(entries):
        text = entry.get("value")
        used = re.findall(r"(?<!\$)\$\((\w{1,80})\)", text) if isinstance(text, str) and "$(" in text else ()
        for name in used:
            if name in names[index + 1 :] and name not in names[:index]:
                message = f"sets {str(entry.get('name'))[:80]} with $({name}), which stays so: it is set later"
                yield misread(f"{path}/env/{index}/value", message, f"move {name} before it", "variable")


_SHELL: Final = memo.pattern(r"(?:^|/)(?:ba|da|k|z|a)?sh$")
_FOR_SHELLS: Final = frozenset({"&&", "||", "|", ">", ">>", "2>&1", "&"})
_POSITIONAL: Final = memo.pattern(r"\$[@*#\d]|\$\{[@*#\d]|\bshift\b|\bgetopts\b")


_OPTION_OF_SHELL: Final = memo.pattern(r"[-+][A-Za-z]+|--[a-z-]*")
_BEFORE_A_NAME: Final = memo.pattern(r"[-+][a-z]*o")


def _is_option(word: str, before: str) -> bool:
    """Whether a shell reads the word as an option, or as the value of `-o` before it."""
    return (
        re.fullmatch(r"[-+][A-Za-z]+|--[a-z-]*", word) is not None or re.fullmatch(r"[-+][a-z]*o", before) is not None
    )


def words_without_shell(container: Mapping[str, Any], path: str) -> Iterator[model.UnreadKey]:
    """Words of a command that only a shell understands and that a program gets, or that a shell does not pass on.

    Sources: kubernetes.io, define a command and arguments; sh(1) on the operands of -c.
    """
    words = [
        (f"{path}/{field}/{index}", each)
        for field in ("command", "args")
        for index, each in enumerate(paths.elements(container.get(field)))
        if isinstance(each, str)
    ]
    texts = [each for _, each in words]
    shell = next((at for at, each in enumerate(texts) if _SHELL.search(each)), None)
    if shell is not None:
        option = next((at for at, each in enumerate(texts) if at > shell and not _is_option(each, texts[at - 1])), 0)
        is_script = shell == 0 and any(re.match(r"-[a-z]*c", each) for each in texts[1:option])
        if is_script and len(texts) > option + 1 and not _POSITIONAL.search(texts[option]):
            message = f"starts a shell with {texts[option][:60]!r}, and {texts[option + 1][:60]!r} is not a part of it"
            yield misread(words[option][0], message, "write the script and its arguments as one text", "argument")
        return
    names = {paths.text(paths.mapping(each).get("name")) for each in paths.elements(container.get("env"))}
    for where, each in words:
        if each in _FOR_SHELLS:
            message = f"has {each} in a command that no shell reads, so the program gets it as an argument"
            yield misread(where, message, "start sh -c with the whole command as one text", "argument")
        for name in dict.fromkeys(re.findall(r"(?<!\$)\$\{?([A-Z][A-Z0-9_]{0,80})\b", each)) if "$" in each else ():
            if name in names or any(pattern.fullmatch(name) for pattern, _, _ in _SET_BY_CONTROLLERS):
                message = f"uses ${name} in a command that no shell reads, so the program gets it as it is written"
                yield misread(where, message, f"write $({name})", "argument")


def _unexpanded(word: str, sets: frozenset[str], names: list[Any]) -> Iterator[tuple[str, str]]:
    """References of a command to no variable of its container, with remedies."""
    for name in dict.fromkeys(_EXPANDED.findall(word)) if "own" not in sets else ():
        own = any(pattern.fullmatch(name) for pattern, _, _ in _SET_BY_CONTROLLERS)
        if name not in names and not own and not _OF_OTHERS.fullmatch(name):
            like = near(name, [each for each in names if isinstance(each, str)], 0.7)
            text = f"uses $({name[:80]}), but sets no variable with this name, so it stays as it is written"
            yield text, f"did you mean {like}?" if like else f"add {name[:80]} to env"


def _unset(word: str, sets: frozenset[str], names: list[Any]) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(next(filter(None, found)) for found in _USED.findall(word)):
        if name in names or re.search(rf"\b{name}=", word):
            continue
        for pattern, sort, remedy in _SET_BY_CONTROLLERS:
            if sort not in sets and pattern.fullmatch(name):
                yield f"uses the variable {name} in a command, and nothing sets it", remedy


_VLLM_VERSION: Final = memo.pattern(r"vllm/vllm-openai:v0\.(\d{1,9})\.")
_LAST_WITH_V0: Final = 11


def _is_without_v0(image: object) -> bool:
    found = _VLLM_VERSION.search(image) if isinstance(image, str) else None
    return found is not None and int(found[1]) > _LAST_WITH_V0


_METRIC: Final = memo.pattern(r"(?<![\w:])(vllm|llamacpp)([:_])([a-z]\w*)")
_ENDS: Final = memo.pattern(r"_(total|bucket|sum|count|created)$")
_GONE: Final = {
    "llamacpp:kv_cache_usage_ratio": "llamacpp:requests_deferred",
    "llamacpp:kv_cache_tokens": "llamacpp:requests_deferred",
}
"""Metrics of former versions, with one to use instead."""


def unknown_metrics(text: str, path: str, *, is_query: bool, use: str = "scales by") -> Iterator[model.UnreadKey]:
    """Metrics of a model server in a query or a name that the server does not export by this name.

    Args:
        is_query: whether Prometheus reads the name, and no adapter that may rename it.
        use: a verb for the message.
    """
    for server, mark, rest in dict.fromkeys(_METRIC.findall(text)):
        name, base = f"{server}{mark}{rest}", _ENDS.sub("", rest)
        known = program_names()["metrics"][server]
        if instead := _GONE.get(f"{server}:{rest}"):
            remedy = f"use {instead}"
        elif base in known and (mark == ":" or not is_query):
            continue
        elif base in known:
            remedy = f"write {server}:{rest}"
        elif mark == ":" and (like := near(base, known, 0.85)):
            remedy = f"did you mean {server}:{like}?"
        else:
            continue
        yield misread(path, f"{use} {name}, which the server does not export", remedy, "metric")


_QUOTED: Final = memo.pattern(r""" "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | `[^`]*` """, re.VERBOSE)
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}


def unbalanced(query: str) -> bool:
    """Whether brackets of a query of Prometheus do not match."""
    opened = list[str]()
    for mark in _QUOTED.sub("", query):
        if mark in "([{":
            opened.append(mark)
        elif mark in _PAIRS and (not opened or opened.pop() != _PAIRS[mark]):
            return True
    return bool(opened)
