"""Boards, models, memory, users and addresses that programs of pods need, and arguments that programs do not take.

Sources: options of programs, `program_names.json`; sizes of tensor parallelism, verify_with_parallel_config of vLLM and
config.json of each model; memory of each rank, LMCache/LMCache#949; PYTHONHASHSEED, docs.lmcache.ai; names of users,
vllm-project/vllm#44548; the address of the side channel, volcano-sh/kthena#503; the launcher of DeepSpeed uses ssh
(deepspeed.ai, getting started); pods of a StatefulSet in order (kubernetes.io, podManagementPolicy).
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from usher import errors, memo, model, paths, quantities
from usher.kinds.reading import known_keys
from usher.kinds.reading import value_forms as places
from usher.kinds.reading.environment import misread, program_names, words_without_shell

Found = Iterator[model.UnreadKey]
_Map = Mapping[str, Any]

_ROWS: Final = Path(__file__).with_suffix(".json")
_OF_A_PROGRAM: Final = memo.pattern(
    r"vllm|sglang|lmcache|text-(?:generation|embeddings)-inference|tritonserver|llama\.cpp|trtllm|ollama|rayproject/ray|/nim/|pytorch|jupyter"
    r"|kubeflownotebookswg|litellm|kserve/huggingfaceserver|deepspeed|torchrun|accelerate|CUDA_VISIBLE_DEVICES|GLOO_|LMCACHE_|--node[-_]rank"
)
"""Words of containers that a rule here reads; others cost no more than this search."""
_DIRECT: Final = frozenset({"", "apps", "batch", "jobset.x-k8s.io", "leaderworkerset.x-k8s.io"})
"""Groups whose controllers add no volumes."""


@cache
def _rows(part: str) -> Sequence[Mapping[str, Any]]:
    return list(orjson.loads(_ROWS.read_bytes())[part])


class _Started:
    """A container with its words, its variables and its place."""

    def __init__(self, container: _Map, spec: _Map, path: str, group: str = "?", claimed: Sequence[str] = ()) -> None:
        self.value, self.spec, self.path, self.claimed = container, spec, path, set(claimed)
        self.whole = group in _DIRECT
        self.command = places.texts_at(container, "command[] args[]")
        self.words = " ".join(self.command)
        self.image = paths.text(container.get("image"))
        self.variables = {
            paths.text(each.get("name")): paths.text(each.get("value"))
            for each in map(paths.mapping, paths.elements(container.get("env")))
        }
        self.complete = "envFrom" not in container
        sidecars = places.values_at(spec, "initContainers[].restartPolicy")
        self.alone = len(paths.elements(spec.get("containers"))) == 1 and "Always" not in sidecars
        given = " ".join(f"{name}={value}" for name, value in self.variables.items())
        self.text = f"{self.image} {self.words} {given}"

    def number(self, option: str) -> int:
        """A whole number of an option; 1 without it."""
        found = re.search(rf"(?:^|\s)(?:{option})[=\s]+[\"']?(\d{{1,4}})\b", self.words)
        return int(found[1]) if found else 1

    def limit(self, resource: str) -> quantities.Quantity | None:
        return _amount(paths.mapping(paths.mapping(self.value.get("resources")).get("limits")).get(resource))

    def mounts(self) -> list[tuple[str, str, str]]:
        """The folder, the volume and the place of each mount."""
        found = places.at(self.value, "volumeMounts[]", self.path)
        return [
            (paths.text(each.get("mountPath")).rstrip("/") or "/", paths.text(each.get("name")), where)
            for where, each in found
            if isinstance(each, dict)
        ]

    def size_of_empty_folder(self, path: str) -> quantities.Quantity | None:
        """The most that the emptyDir takes in which a path is; None without one, or without a size."""
        names = {name for folder, name, _ in self.mounts() if path and _is_below(path.removeprefix("file://"), folder)}
        volumes = map(paths.mapping, paths.elements(self.spec.get("volumes")))
        named = [each for each in volumes if paths.text(each.get("name")) in names]
        return _amount(next(iter(places.values_at(named, "[].emptyDir.sizeLimit")), None))

    def volumes(self, *sources: str) -> set[str]:
        """The names of the volumes of the pod with one of some sources."""
        found = map(paths.mapping, paths.elements(self.spec.get("volumes")))
        return {paths.text(each.get("name")) for each in found if not each.keys().isdisjoint(sources)}

    def find(self, word: str) -> str:
        """The place of the entry of the command, or of the variable, with a word."""
        for where, each in places.texts_with_paths(self.value, "command[] args[] env[].name", self.path):
            if word in each:
                return where
        return self.path


def _amount(given: object) -> quantities.Quantity | None:
    try:
        return None if given is None else quantities.parse(given)
    except errors.QuantityError:
        return None


_TENSOR: Final = r"--tensor[-_]parallel[-_]size|-tp|--tp(?:[-_]size)?|--num[-_]shard"
_STAGES: Final = r"--pipeline[-_]parallel[-_]size|-pp|--pp(?:[-_]size)?"
_DOWNLOADS: Final = memo.pattern(
    r"\b(download|clone|cp|rsync|sync|curl|wget|tar|ln|mount|mkdir|aws|gsutil|gcloud|s5cmd|rclone)\b"
)


def _model_of(row: Mapping[str, Any], started: _Started) -> str:
    """The model that a server gets on its command line: a path, or a name of the hub."""
    found = re.search(rf"(?:{row['model']})[\"']?([\w./@:-]{{1,300}})", started.words)
    first = started.value.get("args")
    if not found and (variable := started.variables.get(row.get("variable", ""))):
        return variable
    if found or "command" in started.value or row["name"] != "vLLM" or not isinstance(first, list):
        return found[1] if found else ""
    return paths.text(first[0]) if first and re.fullmatch(r"[\w.@/-]+", paths.text(first[0])) else ""


def _is_below(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def _without_its_model(started: _Started) -> Found:
    """Paths of models in no volume, and downloads beside the volume that is meant for them."""
    row = next((each for each in _rows("servers") if re.search(each["image"], started.image)), None)
    if row is None or _DOWNLOADS.search(started.words) or "lifecycle" in started.value:
        return
    named, mounts = _model_of(row, started), started.mounts()
    if any(places.is_placeholder(folder) for folder, _, _ in mounts) or places.is_placeholder(named):
        return
    if named.startswith("/"):
        if not any(_is_below(named, folder) for folder, _, _ in mounts):
            message = f"starts {row['name']} with {named[:120]}, which is in no volume of the container"
            volumes = ", ".join(folder for folder, _, _ in mounts if folder != "/dev/shm")[:100]  # noqa: S108
            remedy = f"mount a volume with the model there{f', or write a path below {volumes}' if volumes else ''}"
            yield misread(started.find(named), message, remedy, "controller")
        return
    downloads = _own_folder(row, started, named)
    claims = started.volumes("persistentVolumeClaim", "ephemeral") | started.claimed
    meant = [
        (folder, where)
        for folder, name, where in mounts
        if name in claims and re.search(r"cache|hugging|hf|model|weights|ollama|nim", f"{folder} {name}")
    ]
    if downloads and meant and not any(folder.startswith(f"{downloads}/") for folder, _ in meant):
        folder, where = meant[0]
        message = f"downloads its model to {downloads} at each start, and its volume is at {folder[:100]}"
        way = row.get("way", "HF_HOME")
        yield misread(where, message, f"set {way} to {folder[:100]}, or mount the volume at {downloads}", "controller")


def _own_folder(row: Mapping[str, Any], started: _Started, named: str) -> str:
    """The folder of the image to which a server downloads its model; empty where it may be another, or in a volume."""
    downloads = str(row.get("folder", ""))
    user = f"{started.spec.get('securityContext')}{started.value.get('securityContext')}"
    if (
        not downloads
        or re.search(row.get("moved", "^"), started.text)
        or not started.complete
        or not (row.get("always") or ("/" in named and ":" not in named))
        or (not row.get("always") and "runAsUser" in user)
        or any(_is_below(downloads, folder) for folder, _, _ in started.mounts())
    ):
        return ""
    return downloads


def own_downloads(spec: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any], str]]:
    """The servers of a pod that download their model into their own files: their numbers, and the folder."""
    for index, container in enumerate(paths.elements(spec.get("containers"))):
        if isinstance(container, dict) and _OF_A_PROGRAM.search(str(container)):
            started = _Started(container, spec, "")
            row = next((each for each in _rows("servers") if re.search(each["image"], started.image)), None)
            known = row and not _DOWNLOADS.search(started.words) and "lifecycle" not in container
            if row and known and (folder := _own_folder(row, started, _model_of(row, started))):
                yield index, container, folder


def _hidden(started: _Started) -> Found:
    """Empty volumes, and claims, at the folder of the program."""
    row = next((each for each in _rows("programs") if re.search(each["image"], started.image)), None)
    if row is None or "initContainers" in started.spec:
        return
    covering = started.volumes("emptyDir", "persistentVolumeClaim", "ephemeral")
    for folder, name, where in started.mounts():
        if name in covering and _is_below(row["folder"], folder):
            message = f"mounts a volume at {folder[:100]}, which hides the program of {started.image[:100]}"
            yield misread(f"{where}/mountPath", message, "mount the volume at a folder of its own", "controller")


def _heads(started: _Started) -> Found:
    """Tensor parallel sizes that do not divide the attention heads of the model."""
    tensor = started.number(_TENSOR)
    row = next((each for each in _rows("servers") if tensor > 1 and re.search(each["model"], started.words)), None)
    if row is None or row["name"] not in ("vLLM", "SGLang", "Text Generation Inference"):
        return
    named = _model_of(row, started).lower()
    heads = next((each["heads"] for each in _rows("heads") if re.search(each["model"], named)), tensor)
    if heads % tensor:
        sizes = [each for each in range(1, 17) if not heads % each]
        message = f"starts {named[:100]} with tensor size {tensor}, which does not divide its {heads} attention heads"
        remedy = f"use one of {', '.join(map(str, sizes))}, with as many GPUs"
        yield misread(started.path, message, remedy, "controller")


def _memory(started: _Started) -> Found:
    """Memory of the host that the ranks of a server take, above the limit of the container."""
    ranks = started.number(_TENSOR) * started.number(_STAGES)
    if re.search(r"--nnodes|-backend[=\s]+ray", started.words):
        return
    for row in _rows("memory"):
        what = row.get("of", "memory")
        limit = started.limit(what) or started.size_of_empty_folder(started.variables.get(row.get("folder", ""), ""))
        option = rf"(?:^|\s){row['name'].replace('-', '[-_]')}[=\s]+[\"']?(\d{{1,6}})(?=[\s.\"']|$)"
        found = re.search(option, started.text)
        if found is None or limit is None or re.search(row.get("but", r"(?!)"), started.text):
            continue
        each, times = int(found[1]), ranks if row.get("each") else 1
        if quantities.parse(f"{each * times}G") > limit:
            counted = f"for each of {times} ranks, {each * times} GB together," if times > 1 else ""
            message = f"takes {each} GB of {what} by {row['name']} {counted} which is above its limit"
            name = row["name"] if row["name"] in started.variables else found[0].split()[0].partition("=")[0]
            yield misread(started.find(name), message.replace("  ", " "), "set less, or raise the limit", "controller")


_NOWHERE: Final = frozenset({"0.0.0.0", "localhost", "127.0.0.1", "::", "::1"})  # noqa: S104 - read in manifests


def _variables(started: _Started, key: tuple[str, str]) -> Found:
    """Variables whose value gives others a wrong address, hides the GPUs, or makes a shared cache useless."""
    others = sum("vllm" in str(each) for each in paths.elements(started.spec.get("containers")))
    for row in _rows("addresses"):
        value = started.variables.get(row["name"], "")
        if value in _NOWHERE and others == 1 and key[0] != "orchestration.aibrix.ai":  # its router has the address
            message = f"sets {row['name']} to {value}, which {row['who']} get as its address"
            yield misread(started.find(row["name"]), message, "take status.podIP by valueFrom.fieldRef", "variable")
    seen, gpus = started.variables.get("CUDA_VISIBLE_DEVICES", ""), started.limit("nvidia.com/gpu")
    if "privileged" in str(started.value.get("securityContext")) or "NVIDIA_VISIBLE_DEVICES" in started.variables:
        seen = ""
    numbers = [int(each) for each in seen.split(",")] if re.fullmatch(r"\d{1,3}(,\d{1,3})*", seen) else []
    if gpus is not None and numbers and quantities.parse(max(numbers)) >= gpus > quantities.parse(0):
        message = (
            f"sets CUDA_VISIBLE_DEVICES to {seen[:40]}, but its GPUs have the numbers from 0, whatever the node has"
        )
        yield misread(started.find("CUDA_VISIBLE_DEVICES"), message, "remove it", "variable")
    remote = started.variables.get("LMCACHE_REMOTE_URL", "")
    seeds = {"PYTHONHASHSEED", "LMCACHE_PRE_CACHING_HASH_ALGORITHM"}
    old = re.search(r":v?0\.[0-2]\.", started.image)
    if re.match(r"(?!file|fs)\w+://", remote) and started.complete and not old and seeds.isdisjoint(started.variables):
        message = "shares a cache by LMCACHE_REMOTE_URL without PYTHONHASHSEED, so no process finds the keys of another"
        yield misread(started.find("LMCACHE_REMOTE_URL"), message, "set PYTHONHASHSEED to 0 everywhere", "variable")


_NAMES_OF_USERS: Final = frozenset({"LOGNAME", "USER", "LNAME", "USERNAME", "TORCHINDUCTOR_CACHE_DIR"})


def _without_a_name(started: _Started) -> Found:
    """Users without a name in the image of vLLM. PyTorch asks for the name when it starts."""
    user = paths.mapping(started.value.get("securityContext")).get(
        "runAsUser", paths.mapping(started.spec.get("securityContext")).get("runAsUser")
    )
    if user in (None, 0, 2000) or not re.search(r"(^|/)vllm/vllm-openai:(?!v0\.[0-7]\.)", started.image):
        return
    has_name = any(folder in ("/etc", "/etc/passwd") for folder, _, _ in started.mounts()) or "USER=" in started.words
    if started.complete and not has_name and _NAMES_OF_USERS.isdisjoint(started.variables):
        message = f"runs vLLM as the user {str(user)[:10]}, who has no name in its image, and PyTorch fails without one"
        yield misread(
            started.path, message, "set the variable USER, or run as the user 2000 of newer images", "controller"
        )


_Version = tuple[int, ...]
_NEWEST: Final = (9999,)
_TAG: Final = memo.pattern(r":v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?![\d.])")
_LATEST: Final = memo.pattern(r"(?:^|/)[^:@]+(?::latest)?$")
_OPTION: Final = memo.pattern(r"--([A-Za-z][\w-]{1,80})(?=$|[=\s.])")
_WORDS_OF_SHELL: Final = memo.pattern(r"(?:\\\n|[^\n;&|])*")


def _version(text: str) -> _Version:
    return tuple(map(int, text.split(".")))


def _version_of(image: str) -> _Version:
    """The version in the tag of an image; without one, () or for `latest` a newer one than all."""
    found = _TAG.search(image)
    return tuple(int(each or 0) for each in found.groups()) if found else _NEWEST if _LATEST.match(image) else ()


class _Options(NamedTuple):
    """The options of a program, without their dashes, and the versions of it that were read."""

    known: frozenset[str]
    gone: Mapping[str, _Version]
    """The first version without an option."""
    since: Mapping[str, _Version]
    """The last version without an option."""
    last: _Version


@cache
def _options(program: str) -> _Options:
    row = program_names()["options"][program]
    gone, since = (
        {name: _version(number) for name, number in (each.split("=") for each in row.get(part, "").split())}
        for part in ("gone", "since")
    )
    return _Options(frozenset(row["known"].split()), gone, since, _version(row.get("last", "0")))


def _words_of(row: Mapping[str, Any], started: _Started) -> tuple[list[str], bool]:
    """The words after a program in a command, and whether no shell reads them; empty if it is not started."""
    command, args = (places.texts_at(started.value, f"{part}[]") for part in ("command", "args"))
    if not command:
        return (args, True) if "image" in row and re.search(row["image"], started.image) else ([], False)
    found = re.search(row["start"], started.words)
    if found is None:
        return [], False
    if re.search(r"(^|/)(ba|da|z)?sh$", command[0]):
        text = _WORDS_OF_SHELL.match(started.words, found.end())
        return (text[0] if text else "").replace("\\\n", " ").split(), False
    length = 0
    for index, each in enumerate(started.command):
        length += len(each) + 1
        if length >= found.end():
            return started.command[index + 1 :], True
    return [], False


def _arguments(started: _Started) -> Found:
    """Arguments that a program does not know in its version, that need others, or that a shell would split."""
    args = places.texts_at(started.value, "args[]")
    for entry in _rows("entries") if args and not started.value.get("command") else ():
        if re.search(entry["image"], started.image) and re.fullmatch(entry["first"], args[0]):
            message = (
                f"begins its arguments with {args[0][:40]}, and the entry point of its image already is {entry['is']}"
            )
            yield misread(f"{started.path}/args/0", message, f"remove {entry['remove']}, or set command", "argument")
            return
    for row in _rows("programs_with_options"):
        words, direct = _words_of(row, started)
        words += _options_by_variable(row, started) if row.get("variables") else []
        if words:
            script = next((at for at in range(len(words)) if _is_script(words, at)), len(words))
            own = words[:script] if row.get("launches") else words
            version = _version_of(started.image) if re.search(row.get("image", "(?!)"), started.image) else ()
            for word in own:
                yield from _argument(started, row, word, version, direct=direct)
            if direct and not started.value.get("command"):
                yield from words_without_shell(started.value, started.path)
            yield from _combinations(started, row["name"], " ".join(own), version)
            variables = (f"{name}={value}" for name, value in started.variables.items())
            yield from _choices(started, row["name"], " ".join([*own, *variables]), version)
            yield from _values(started, row, " ".join(own))
    yield from _combinations(started, "", started.words, _version_of(started.image))


def _options_by_variable(row: Mapping[str, Any], started: _Started) -> list[str]:
    """The options that a program reads from variables of their names."""
    if not re.search(row["image"], started.image) and not re.search(row["start"], started.words):
        return []
    named = ((name.lower().replace("_", "-"), value) for name, value in started.variables.items())
    return [f"--{name}={value}" for name, value in named if value and name in _options(row["name"]).known]


def _is_script(words: list[str], index: int) -> bool:
    """Whether a word is what a launcher starts: a file, -m, or a word that is not the value of an option."""
    before = words[index - 1] if index else "="
    is_value = before.startswith("-") and "=" not in before
    return re.search(r"\.py$|^-m$|^--module$", words[index]) is not None or not (
        words[index].startswith("-") or is_value
    )


def _argument(started: _Started, row: Mapping[str, Any], word: str, version: _Version, *, direct: bool) -> Found:
    name, quoted = _OPTION.match(word), re.fullmatch(r"(--[\w-]+=)?(['\"])(.*)\2", word)
    if name and direct and re.match(r"\s+[^\s{]", word[name.end() :]) and "\n" not in word:
        message = f"starts {row['name']} with the one argument {word[:80]!r}, which it takes for the name of an option"
        remedy = f"write {name[0]}={word[name.end() :].strip()}"
        yield misread(started.find(word), message, remedy, "argument")
    elif quoted and direct:
        message = f"gives {row['name']} the argument {word[:80]} with its quotes, because no shell takes them off"
        yield misread(started.find(word), message, f"write {quoted[1] or ''}{quoted[3]}", "argument")
    elif name and not places.is_placeholder(name[0]):
        yield from _option(started, row, name[1], version, word)


def _option(started: _Started, row: Mapping[str, Any], name: str, version: _Version, word: str) -> Found:
    """An option that its program does not have, or not in this version."""
    options, plain = _options(row["name"]), name.replace("_", "-")
    plain = plain.removeprefix("no-") if plain not in options.known else plain
    is_start = any(each.startswith(plain) and each != plain for each in options.known)
    what, remedy, number = "", "remove it", ".".join(map(str, version))
    if plain in options.known:
        gone, since = options.gone.get(plain), options.since.get(plain, ())
        if row.get("dashes") and "_" in name:
            what, remedy = "which it does not know with underscores", f"write --{plain}"
        elif gone and version >= gone and not is_start:
            of = "its newest version" if version == _NEWEST else f"version {number}"
            what, remedy = f"which {of} no longer has", row.get("instead", {}).get(plain, remedy)
        elif () < version <= since and not is_start:
            what, remedy = f"which version {number} does not have yet", "remove it, or use a newer image"
    elif not is_start:
        near = [each for each in options.known if known_keys.is_slip(plain, each)]
        if len(near) == 1:
            what, remedy = "which it does not know", f"did you mean --{near[0]}?"
        elif () < version <= options.last or plain in row.get("others", ()):
            what = "which it does not know"
    if what:
        message = f"starts {row['name']} with the option --{name[:80]}, {what}"
        yield misread(started.find(word), message, remedy, "argument")


def _number_of(option: str, text: str) -> int | None:
    found = re.search(rf"(?:^|\s)(?:{option})[=\s]+[\"']?(\d{{1,12}})(?=[\s\"']|$)", text)
    return int(found[1]) if found else None


def _combinations(started: _Started, program: str, text: str, version: _Version) -> Found:
    """Arguments and variables of a program that need, forbid or bound others."""
    own, of_pod = (paths.mapping(each.get("securityContext")) for each in (started.value, started.spec))
    variables = [f"{name}={value}" for name, value in started.variables.items()]
    given = " ".join([started.words, *variables, *(f"mount={folder}" for folder, _, _ in started.mounts())])
    has = given.lower().__contains__
    for rule in _rows("arguments"):
        is_possible = rule.get("program", "") == program and any(map(has, rule.get("words", ("",))))
        found = re.search(rule.get("has", ""), given) if is_possible else None
        if found is None:
            continue
        numbers = [_number_of(each, text) for order in _ORDERS for each in rule.get(order, ())]
        if (
            ("from" in rule and version < _version(rule["from"]))
            or ("before" in rule and not () < version < _version(rule["before"]))
            or ("lacks" in rule and (not started.complete or re.search(rule["lacks"], given)))
            or (rule.get("user") and not own.get("runAsUser", of_pod.get("runAsUser", 0)))
            or (rule.get("host") and started.spec.get("hostNetwork") is not True)
            or not re.search(rule.get("image", ""), started.image)
            or (rule.get("alone") and not started.alone)
            or (rule.get("whole") and not started.whole)
            or (numbers and not _is_out_of_order(numbers, next(each for each in _ORDERS if each in rule)))
        ):
            continue
        word = found[found.lastindex or 0][:80]
        said, remedy = (rule[each].format(word=word, before=rule.get("before")) for each in ("text", "remedy"))
        yield misread(started.find(word or "-"), said, remedy, "argument")


def _choices(started: _Started, program: str, text: str, version: _Version) -> Found:
    """Values of options that a program does not have: slips, names of others, and all unknown ones in versions read."""
    for row in _rows("choices"):
        found = re.search(rf"(?:^|\s)(?:{row['option']})[=\s]+[\"']?([\w.+-]{{1,40}})(?=[\s\"']|$)", text)
        if found is None or row["program"] != program or re.search(row.get("lacks", "(?!)"), text):
            continue
        word, known = found[1], row["known"].split()
        slips = [each for each in known if known_keys.is_slip(word, each)]
        right = row.get("instead", {}).get(word.lower()) or (slips[0] if len(slips) == 1 else "")
        if word not in known and (right or () < version <= _version(row["last"])):
            name = found[0].split("=")[0].split()[0]
            message = f"gives {program} {word} as {name}, which it does not know"
            remedy = f"use {right}" if right else f"use one of {', '.join(known[:8])}{', ...' * (len(known) > 8)}"
            yield misread(started.find(word), message, remedy, "argument")


def needs_other_board(image: str, command: Sequence[str], selected: Sequence[str]) -> tuple[str, str] | None:
    """Why a program does not run on a board by its compute capability, and a remedy.

    Args:
        selected: values of labels of the nodes that a pod selects, which name boards or machine types.
    """
    for board in selected:
        has = next((each["capability"] for each in _rows("capabilities") if re.search(each["board"], board.lower())), 0)
        for row in _rows("demands") if has else ():
            found = re.search(row.get("has", ""), " ".join(command))
            is_of_version = "before" not in row or () < _version_of(image) < _version(row["before"])
            if found and is_of_version and re.search(row["image"], image) and not row["least"] <= has <= row["most"]:
                word = found[found.lastindex or 0][:80] or image[:120]
                text = f"selects {board[:60]}, whose compute capability is {has // 10}.{has % 10}, and {row['text']}"
                return text.format(word=word, image=image[:120]), str(row["remedy"])
    return None


_ORDERS: Final = ("above", "below", "divides")


def _is_out_of_order(numbers: Sequence[int | None], order: str) -> bool:
    """Whether the first of two numbers is not above the second one, is below it, or does not divide it."""
    first, second = numbers
    if first is None or second is None:
        return False
    return second % max(first, 1) != 0 if order == "divides" else (first < second) is (order == "below")


def _values(started: _Started, row: Mapping[str, Any], text: str) -> Found:
    """Values that a program cannot read, that its model does not have, or that count other processes than meant."""
    for option in row.get("json", "").split():
        value = re.search(rf"--{option.replace('-', '[-_]')}[=\s]+(\{{.*?\}})(?=\s--|$)", text)
        word = next((each for each in started.command if value and each.endswith(value[1])), "")
        if value and word and "$" not in word and "{{" not in word and not _is_json(value[1]):
            message = f"gives {row['name']} the option --{option} with a text that is not JSON"
            yield misread(started.find(word), message, "write names and texts in double quotes", "argument")
    named = _model_of({"model": row.get("model", "(?!)"), "name": row["name"]}, started).lower()
    length = _number_of(row.get("length", "(?!)"), text)
    most = next((each["tokens"] for each in _rows("contexts") if named and re.search(each["model"], named)), None)
    if length and most and length > most and not re.search(r"rope|overrides|ALLOW_\w*LONG|--config\b", started.text):
        message = f"starts {row['name']} with {length} tokens, but {named[:80]} has {most} positions"
        yield misread(started.find(str(length)), message, f"set at most {most}", "argument")
    processes, machines = _number_of(row.get("processes", "(?!)"), text), _number_of("--num[-_]machines", text) or 1
    gpus = started.limit("nvidia.com/gpu")
    if (
        processes
        and gpus
        and (quantities.parse(processes) == gpus if machines > 1 else quantities.parse(processes) > gpus)
    ):
        message = f"starts {row['name']} with {processes} processes on {machines} machines with as many GPUs each"
        remedy = f"set {processes * machines}, which counts the processes of all machines"
        if machines == 1:
            message = f"starts {row['name']} with {processes} processes for the GPUs, but its container has {gpus}"
            remedy = "start as many processes as GPUs"
        yield misread(started.find(str(processes)), message, remedy, "argument")


_LENGTH: Final = r"--max[-_]model[-_]len"
_OTHER_CACHE: Final = memo.pattern(r"rope|overrides|kv[-_]cache[-_]dtype|--config\b|--num-gpu-blocks|\$", re.IGNORECASE)


def with_cache(size: model.ModelSize, words: str) -> model.ModelSize:
    """The size with the cache of the longest request, if layers and heads of the model in a command of vLLM are known.

    vLLM does not start if its cache has no room for one request (its check of the size of the cache).
    """
    text = words.lower()
    row = next((each for each in _rows("caches") if re.search(each["model"], text)), None)
    given = next((each["tokens"] for each in _rows("contexts") if re.search(each["model"], text)), None)
    tokens = _number_of(_LENGTH, text) if re.search(_LENGTH, text) else given
    if row is None or not tokens or _OTHER_CACHE.search(text):
        return size
    return {**size, "context": tokens, "cache": row["bytes"] * tokens // 10**9}


def _is_json(text: str) -> bool:
    with contextlib.suppress(orjson.JSONDecodeError):
        orjson.loads(text)
        return True
    return False


def _is_custom(key: tuple[str, str], value: paths.Object, path: str) -> bool:
    """Whether containers belong to an InferenceService that names no model, so KServe adds no volume for it."""
    is_predictor = key == ("serving.kserve.io", "InferenceService") and path == "/spec/predictor"
    return is_predictor and not re.search("storage_?uri|'storage'|'model'", str(value).lower())


def needs_of_programs(key: tuple[str, str], value: paths.Object, specs: Sequence[places.PodSpec]) -> Found:
    """Findings about programs in the pods of an object: their containers do not give what they need."""
    claimed = places.texts_at(value, "spec.volumeClaimTemplates[].metadata.name")
    for spec, path, _ in specs:
        for index, container in enumerate(paths.elements(spec.get("containers"))):
            if isinstance(container, dict) and _OF_A_PROGRAM.search(str(container)):
                group = "" if _is_custom(key, value, path) else key[0]
                started = _Started(container, spec, f"{path}/containers/{index}", group, claimed)
                yield from _without_its_model(started) if started.whole else ()
                for rule in (_hidden, _heads, _memory, _without_a_name, _arguments):
                    yield from rule(started)
                yield from _variables(started, key)
                yield from _launcher_without_ssh(key, value, started)
                yield from _one_after_another(value, started) if key == ("apps", "StatefulSet") else ()


_WITHOUT_SSH: Final = frozenset({"Job", "JobSet", "LeaderWorkerSet", "PyTorchJob", "StatefulSet", "TrainJob"})
_SEVERAL: Final = memo.pattern(r"\s(?:--num_nodes[=\s]+([2-9]|\d\d+)\b|--hostfile[=\s]|-H[=\s])")


def _launcher_without_ssh(key: tuple[str, str], value: paths.Object, started: _Started) -> Found:
    """The launcher of DeepSpeed on several nodes, in pods that serve no ssh."""
    spec, start = paths.mapping(value.get("spec")), re.search(r"\bdeepspeed\b", started.words)
    if key[1] not in _WITHOUT_SSH or not start or not _SEVERAL.search(started.words, start.end()):
        return
    if not re.search(r"no_ssh|--launcher|\bssh\b", started.words) and "ssh" not in f"{spec.get('plugins')}":
        message = "starts DeepSpeed on several nodes, which reaches them by ssh, and its pods do not serve it"
        remedy = "use torchrun, or --no_ssh with --node_rank and --master_addr, or an MPIJob"
        yield from () if "sshd" in str(spec) else (misread(started.find("deepspeed"), message, remedy, "controller"),)


def _one_after_another(value: paths.Object, started: _Started) -> Found:
    """Ranks that wait for each other in a StatefulSet that starts a pod when the one before it is ready."""
    spec = paths.mapping(value.get("spec"))
    in_order = spec.get("podManagementPolicy", "OrderedReady") == "OrderedReady" and spec.get("replicas", 1) not in (
        0,
        1,
    )
    if not in_order or started.value.keys().isdisjoint(("readinessProbe", "startupProbe")):
        return
    nodes = started.number(r"--nnodes")
    if nodes > 1 and re.search(r"--node[-_]rank|rdzv", started.words):
        message = f"starts each pod when the one before is ready, but ranks of {nodes} nodes wait for each other"
        remedy = "set podManagementPolicy to Parallel"
        yield misread("/spec", message, remedy, "controller")
