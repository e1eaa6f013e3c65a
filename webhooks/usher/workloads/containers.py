"""Reads a container of a manifest into the form that rules see, and what it starts.

Sources: mpirun(1) of Open MPI on `-x`; Intel MPI and MPICH on `-genv` and `-env`.

A command is a program, so usher cannot read every command. It reads the plainest forms, and draws no conclusion from
any other.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec.structs import replace

from usher import memo, model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.kinds.reading import shapes, started_programs
from usher.kinds.reading.environment import is_read, of_operator, sources, variables, with_config_maps
from usher.kinds.reading.templates import ALL_REQUESTING, FIRST, ContainerPlace, Place, Template
from usher.kinds.reading.values import Reading
from usher.workloads import model_servers

_LAUNCHERS: Final = ("mpirun", "mpiexec")
_LONGEST_COMMAND: Final = 16_384
_OPTION: Final = memo.pattern(r"(?:^|\s)(?:-x|-genv|-env)\s{1,40}[\"']?([A-Z][A-Z0-9_]{0,80})", re.ASCII)


def passed_variables(command: Sequence[str]) -> tuple[str, ...]:
    """The names that the command passes on, from the families that rules read, in order; empty without a launcher."""
    text = "\n".join(command)
    if len(text) > _LONGEST_COMMAND or not any(launcher in text for launcher in _LAUNCHERS):
        return ()
    return tuple(sorted({name for name in _OPTION.findall(text) if is_read(name)}))


LAUNCH_VARIABLES: Final = ("PET_NPROC_PER_NODE", "NPROC_PER_NODE")
"""The variables that torchrun and its wrapper scripts read if no flag gives the number."""

LONG_WAIT: Final = 3600
"""Seconds of sleep from which on a container waits for a person and not for an event."""

_FLAG: Final = memo.pattern(r"--nproc[-_]per[-_]node(?:=|\s{1,40})[\"']?([^\s\"';|&\\]{1,80})")
_NUMBER: Final = memo.pattern(r"[0-9]{1,9}", re.ASCII)
_REFERENCE: Final = memo.pattern(r"\$(?:\((\w+)\)|\{(\w+)\}|(\w+))", re.ASCII)

_AROUND: Final = frozenset({"--", "dumb-init", "exec", "tini"})
_SHELLS: Final = frozenset({"ash", "bash", "dash", "ksh", "sh", "zsh"})
_RUNS_SCRIPT: Final = memo.pattern(r"-[a-z]{0,5}c[a-z]{0,5}")
_LONGEST_SCRIPT: Final = 4096
_STATEMENTS: Final = memo.pattern(r"[;&\n]+")
_ENDLESS: Final = memo.pattern(
    r"until\s+(?:false|\[\s+0\s+-eq\s+1\s+\])"
    r"|while\s*(?::|true|1|\[\[?\s+(?:1|true|1\s+-eq\s+1)\s+\]\]?|\(\(\s*1\s*\)\)|sleep\s.*)"
)
_ENDLESS_FOR: Final = memo.pattern(r"\bfor\s*\(\(\s*;\s*;\s*\)\)")
_PYTHON_WAITS: Final = memo.pattern(
    r"\s*(?:import time|from time import sleep)\s*[;\n]\s*(?:while (?:True|1):\s*)?(?:time\.)?"
    r"sleep\(([0-9]{1,12})\)\s*;?\s*",
    re.ASCII,
)
_BESIDE: Final = frozenset(
    {":", "date", "done", "echo", "env", "exit", "ls", "nvidia-smi", "printf", "set", "trap", "true", "wait"}
)  # fmt: skip
"""Commands that people run before and after the waiting. They do not compute on a GPU."""

_DURATION: Final = memo.pattern(r"([0-9]{1,9})(?:\.[0-9]{0,9})?([smhd]?)", re.ASCII)
_SECONDS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


class Launch(NamedTuple):
    processes: model.Processes | None
    parallelism: model.ModelParallelism | None
    idle_command: str
    """Path of the command that only waits; empty if no command is known to wait."""
    drain_seconds: int = 0
    one_program: str = ""
    one_text: str = ""


def _is_a_command_line(name: str) -> bool:
    """Whether a text is a program with its arguments; a path may itself hold spaces."""
    first, _, _ = name.partition(" ")
    return "\n" in name or " -" in name or (first != name and "/" not in first)


NO_LAUNCH: Final = Launch(None, None, "")

_PROGRAM: Final = memo.pattern(r"(?:\S*/)?python[0-9.]*\n(?:-u\n)?[^-\n][^\n]*\.py(?:\n.*)?", re.DOTALL)
"""Words of a command that starts one Python program itself, and no module like torch.distributed.run."""

_DRAINS: Final = memo.pattern(
    r"(?:^|\s)--(?:shutdown-timeout|timeout-graceful-shutdown|graceful-timeout|exit-timeout-secs)(?:=|\s+)([0-9]{1,6})(?![\w.])"
)
"""Flags of vLLM, uvicorn, gunicorn and Triton: seconds in which a server finishes its requests after SIGTERM."""


def read_launch(
    container: Mapping[str, paths.Json],
    path: str,
    environment: Sequence[model.EnvironmentVariable],
    reading: Reading,
) -> Launch:
    """The processes that the container at a path starts; `environment` holds its variables that rules read."""
    command, args = container.get("command") or [], container.get("args") or []
    if not isinstance(command, list) or not isinstance(args, list):
        return _unreadable(command, args, path, reading)
    words: list[str] = [*command, *args]  # type: ignore[list-item]  # the next line finds words that are not text
    try:
        text = "\n".join(words)
    except TypeError:
        return _unreadable(command, args, path, reading)
    asked = _processes_flag(text) if "--nproc" in text else None
    if asked is not None:
        index = next(index for index, word in enumerate(words) if "--nproc" in word)
        place = f"{path}/command/{index}" if index < len(command) else f"{path}/args/{index - len(command)}"
        number = _number_of_processes(asked, container)
        processes = None if number is None else model.Processes(number=number, path=place)
    elif environment:
        processes = _by_variable(environment)
    else:
        processes = None
    if not words and _PAUSE.search(str(container.get("image"))):
        return Launch(None, None, f"{path}/image")
    idle = any(word in text for word in _WAITING) and len(text) <= _LONGEST_SCRIPT and _only_waits(words)
    parallelism = None
    if _may_be_server(text, container):
        container = with_config_maps(container, reading)
        parallelism = model_servers.read_parallelism(container, words, path)
    if parallelism is not None and (size := model_servers.model_size(text, container)) is not None:
        is_known = parallelism["server"] == "vLLM"
        parallelism["model"] = started_programs.with_cache(size, text) if is_known else size
    drains = [int(each) for each in _DRAINS.findall(text)] if "timeout" in text else []
    program = f"{path}/{'command' if command else 'args'}" if _PROGRAM.fullmatch(text) else ""
    name = words[0].strip() if command else ""
    one_text = f"{path}/command/0" if _is_a_command_line(name) else ""
    if processes is None and parallelism is None and not (idle or drains or program or one_text):
        return NO_LAUNCH
    idle_command = f"{path}/{'command' if command else 'args'}" if idle else ""
    return Launch(processes, parallelism, idle_command, max(drains, default=0), program, one_text)


def _may_be_server(text: str, container: Mapping[str, paths.Json]) -> bool:
    image = container.get("image")
    texts = f"{text}\n{image}" if isinstance(image, str) else text
    return "modelFormat" in container or any(map(texts.__contains__, model_servers.HINTS))


def _unreadable(command: object, args: object, path: str, reading: Reading) -> Launch:
    reading.texts(command, path + "/command")
    reading.texts(args, path + "/args")
    return NO_LAUNCH


def _processes_flag(text: str) -> str | None:
    """The value of `--nproc-per-node`; None without the flag, and empty if several flags differ."""
    found: list[str] = _FLAG.findall(text)
    if len(found) == 1:
        return found[0]
    return None if not found else found[0] if len(set(found)) == 1 else ""


def _number_of_processes(text: str, container: Mapping[str, paths.Json]) -> int | None:
    """The number; None if a launcher computes it (`auto`, `gpu`), or for a variable with an unknown value."""
    if text.startswith("$"):
        reference = _REFERENCE.fullmatch(text)
        text = "" if reference is None else _value_of(reference[reference.lastindex or 0], container)
    return int(text) if _NUMBER.fullmatch(text) else None


def _value_of(name: str, container: Mapping[str, paths.Json]) -> str:
    """The value of a variable of the container; the last of several entries counts."""
    variables = container.get("env")
    for variable in reversed(variables if isinstance(variables, list) else []):
        if isinstance(variable, dict) and variable.get("name") == name:
            value = variable.get("value")
            return value if isinstance(value, str) else ""
    return ""


def _by_variable(environment: Sequence[model.EnvironmentVariable]) -> model.Processes | None:
    for name in LAUNCH_VARIABLES:
        for variable in reversed(environment):
            if variable.name == name:
                known = variable.value is not None and _NUMBER.fullmatch(variable.value)
                return model.Processes(number=int(variable.value or 0), path=variable.path) if known else None
    return None


_PAUSE: Final = memo.pattern(r"(?:^|/)pause(?:-amd64|-arm64)?(?:[:@].*)?$")
"""The image that does nothing but wait."""

_WAITING: Final = ("sleep", "tail", "pause")


def _only_waits(words: Sequence[str]) -> bool:
    """Whether a command only waits for a person who enters the container."""
    words = list(dropwhile(lambda word: _program([word]) in _AROUND, words))
    if _program(words) not in _SHELLS:
        return _command_waits(words)
    for index, word in enumerate(words[:-1]):
        if index and _RUNS_SCRIPT.fullmatch(word):
            script = words[index + 2 : index + 3] if words[index + 1] == "--" else words[index + 1 : index + 2]
            return bool(script) and _script_waits(script[0])
    return False


def _script_waits(script: str) -> bool:
    waiting, endless = False, False
    for statement in _STATEMENTS.split(_ENDLESS_FOR.sub("while true", script)):
        words = statement.split()
        if words and words[0] in ("do", "exec"):
            words = words[1:]
        if _ENDLESS.fullmatch(" ".join(words)):
            endless = True
            waiting = waiting or words[1:2] == ["sleep"]
        elif _command_waits(words, endless=endless):
            waiting = True
        elif words and not _is_beside(words[0], statement):
            return False
    return waiting


def _is_beside(program: str, statement: str) -> bool:
    if program.startswith("#"):
        return True
    return program.strip("'\"") in _BESIDE and not any(mark in statement for mark in ("|", "`", "$("))


def _command_waits(words: Sequence[str], *, endless: bool = False) -> bool:
    program, rest = _program(words), words[1:]
    if program == "pause":
        return not rest
    if program.startswith("python") and rest[:1] == ["-c"] and len(rest) == 2:
        found = _PYTHON_WAITS.fullmatch(rest[1])
        return found is not None and ("while" in rest[1] or int(found[1]) >= LONG_WAIT)
    if program == "tail":
        return len(rest) > 1 and rest[-1] == "/dev/null" and rest[0].lower() == "-f"
    if program != "sleep" or not rest:
        return False
    if rest[0] in ("inf", "infinity"):
        return True
    duration = _DURATION.fullmatch(rest[0])
    return duration is not None and (endless or int(duration[1]) * _SECONDS[duration[2]] >= LONG_WAIT)


def _program(words: Sequence[str]) -> str:
    return words[0].rpartition("/")[2] if words else ""


_PLAIN: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
"""Resources that nearly every container requests and that are not accelerators."""

_EMPTY: Final[Mapping[str, paths.Json]] = MappingProxyType({})


def read_container(
    place: ContainerPlace,
    template: Template,
    *,
    reading: Reading,
    vocabulary: Vocabulary,
    giving: Mapping[str, frozenset[str]],
) -> model.Container:
    """The container at a place.

    Args:
        place: the container, and the places of its parts.
        giving: the claims of the pod that give accelerators, with the names of the requests that do.
    """
    value, path = place.value, place.path
    resources, resources_path = value.get("resources"), path + "/resources"
    stated = _EMPTY if resources is None else reading.mapping(resources, resources_path)
    requests = _quantities("requests", place.requests, stated, resources_path, reading)
    limits = _quantities("limits", place.limits, stated, resources_path, reading)
    names = [name for name in {**requests, **limits} if name not in _PLAIN]
    accelerators = tuple(filter(vocabulary.contains, names))
    asks = any(requests[name] if name in requests else limits[name] for name in accelerators)
    asks = asks or _asks_unreadable(place, stated, {**requests, **limits}, vocabulary)
    if stated.get("claims") is not None:
        asks = _claims(stated["claims"], resources_path + "/claims", reading, giving) or asks
    name = place.name or reading.text(value.get("name"), path + "/name")
    environment = _environment(place, reading)
    launch = read_launch(value, place.program_path or path, environment, reading) if asks else NO_LAUNCH
    command = _command(value)
    return model.Container(
        name=name,
        path=path,
        type=place.type,
        requests=requests,
        limits=limits,
        environment=environment,
        environment_sources=_sources(value.get("envFrom"), path, reading),
        operator_variables=_of_operator(place, template) if template.traits.operator_environment else None,
        accelerators=accelerators,
        lookalikes=(lookalikes := tuple(filter(vocabulary.looks_like, names))),
        meant_resources={each: meant for each in lookalikes if (meant := vocabulary.meant(each))},
        asks_accelerators=asks,
        uses_claims=bool(stated.get("claims")),
        trains=_trains(place.type, name, path, template=template, asks=asks),
        image=image if isinstance(image := value.get("image"), str) else "",
        command=command,
        passes_on=passed_variables(command) if command else (),
        processes=launch.processes or (template.traits.processes if asks else None),
        parallelism=launch.parallelism or _started_by_operator(value, template, asks=asks),
        idle_command=launch.idle_command,
        drain_seconds=launch.drain_seconds,
        one_program=launch.one_program,
        one_text=launch.one_text,
        model_server="" if asks or names else _model_server(place, value, command),
        fields=_EMPTY
        if shapes.CONTAINER_FIELDS.isdisjoint(value)
        else shapes.read_shape(shapes.CONTAINER, value, path, reading.unknown),
        places=_places(place),
        field_places=place.field_places,
        environment_path=place.environment_path,
        environment_elsewhere=_names(place.environment) if place.environment_path else frozenset(),
        reserved_environment=place.reserved_environment,
        resources_path=place.resources_path,
        inherited_resources=place.inherited_resources,
        not_repeated=place.not_repeated,
    )


_ON_GPUS: Final = frozenset({"vLLM", "SGLang", "TensorRT-LLM", "Text Generation Inference"})
_OF_CPU: Final = ("VLLM_CPU_", "VLLM_TARGET_DEVICE")

_FOR_OTHERS: Final = memo.pattern(
    r"cpu|neuron|tpu|gaudi|hpu|xpu|openvino|simulat|(?:^|[-_/])sim(?:[-_:]|$)|ascend|npu", re.IGNORECASE
)
"""Images of servers for other processors and devices, and of simulators."""

_WITHOUT_GPU: Final = memo.pattern(
    r"(?:^|\s)--device(?:=|\s{1,40})[\"']?(?!cuda|auto)\w"
    r"|(?:^|\s)(?:--data[-_]parallel[-_]size[-_]local|-dpl)(?:=|\s{1,40})[\"']?0\b"
    r"|(?:^|\s)--(?:help|version)\b"
)


def _model_server(place: ContainerPlace, container: Mapping[str, paths.Json], command: Sequence[str]) -> str:
    """The model server that a container without any device starts, if it runs on GPUs alone as far as it says."""
    text, image = "\n".join(command), container.get("image")
    if place.type is not model.ContainerType.APP or not _may_be_server(text, container):
        return ""
    variables = container.get("env")
    names = (
        [str(each.get("name")) for each in variables if isinstance(each, dict)] if isinstance(variables, list) else []
    )
    others = isinstance(image, str) and _FOR_OTHERS.search(image)
    if others or _WITHOUT_GPU.search(text) or any(name.startswith(_OF_CPU) for name in names):
        return ""
    name = model_servers.server_name(container, command)
    return name if name in _ON_GPUS else ""


def _started_by_operator(
    container: Mapping[str, paths.Json], template: Template, *, asks: bool
) -> model.ModelParallelism | None:
    """The server that the operator starts in the container; a command or arguments may start it in another way."""
    if not asks or container.get("command") or container.get("args"):
        return None
    return template.traits.parallelism


def _command(container: Mapping[str, paths.Json]) -> tuple[str, ...]:
    """The words that start the container; empty if they cannot be read, which the launch has reported."""
    lists = [value for field in ("command", "args") if isinstance(value := container.get(field), list)]
    words = [word for value in lists for word in value]
    return tuple(word for word in words if isinstance(word, str)) if words else ()


def _quantities(
    name: str, elsewhere: Place | None, resources: Mapping[str, paths.Json], path: str, reading: Reading
) -> model.Resources:
    if elsewhere is not None:
        return reading.resources(*elsewhere)
    value = resources.get(name)
    return {} if value is None else reading.resources(value, f"{path}/{name}")


def _asks_unreadable(
    place: ContainerPlace, resources: Mapping[str, paths.Json], read: model.Resources, vocabulary: Vocabulary
) -> bool:
    """Whether it names an accelerator with an unreadable amount, as in a template that is not rendered."""
    lists = (
        resources.get("requests") if place.requests is None else place.requests.value,
        resources.get("limits") if place.limits is None else place.limits.value,
    )
    return any(
        name not in read and vocabulary.contains(name) for each in lists if isinstance(each, dict) for name in each
    )


def _claims(value: object, path: str, reading: Reading, giving: Mapping[str, frozenset[str]]) -> bool:
    """Whether a claim that the container uses gives it accelerators."""
    gives = False
    for claim_path, claim in reading.items(value, path):
        name = reading.text(claim.get("name"), claim_path + "/name")
        request = reading.text(claim.get("request"), claim_path + "/request")
        gives = gives or request in giving.get(name, ())
    return gives


def give_accelerators(
    containers: tuple[model.Container, ...], names: frozenset[str], template: Template, *, first: bool
) -> Iterator[model.Container]:
    """All containers. Those with these names, or the first, get accelerators by a route that they do not name."""
    first_app = next((found for found in containers if found.type is model.ContainerType.APP), None)
    for found in containers:
        gets = found.name in names or (first and found is first_app)
        if not gets:
            yield found
            continue
        trains = _trains(found.type, found.name, found.path, template=template, asks=True)
        yield replace(found, asks_accelerators=True, trains=trains)


def _trains(kind: model.ContainerType, name: str, path: str, *, template: Template, asks: bool) -> bool:
    """Whether a container is the one that does the work."""
    wanted = template.traits.trains
    if wanted == ALL_REQUESTING:
        return asks
    if kind is not model.ContainerType.APP:
        return False
    if wanted == FIRST:
        # In a pod spec, the first of the list; the path contains its index.
        return template.containers is not None or path.endswith("/containers/0")
    return name == wanted


def _environment(place: ContainerPlace, reading: Reading) -> tuple[model.EnvironmentVariable, ...]:
    if place.environment is not None:
        return tuple(variable for environment in place.environment for variable in variables(*environment, reading))
    value = place.value.get("env")
    return () if value is None else tuple(variables(value, place.path + "/env", reading))


def _sources(value: object, path: str, reading: Reading) -> tuple[model.EnvironmentSource, ...]:
    return () if value is None else tuple(sources(value, path + "/envFrom", reading))


def _names(lists: tuple[Place, ...] | None) -> frozenset[str]:
    """The names of all variables. Only the values stay in the manifest."""
    entries = (entry for each in lists or () for entry in (each.value if isinstance(each.value, list) else ()))
    names = (entry.get("name") for entry in entries if isinstance(entry, dict))
    return frozenset(name for name in names if isinstance(name, str))


def _of_operator(place: ContainerPlace, template: Template) -> Mapping[str, str] | None:
    lists = place.environment
    if lists is None:
        lists = (Place(place.value.get("env"), place.path + "/env"),)
    names = template.traits.operator_environment
    return dict(found for each in lists for found in of_operator(*each, names)) or None


def _places(place: ContainerPlace) -> Mapping[str, str] | None:
    if place.requests is None and place.limits is None:
        return None
    both = (("requests", place.requests), ("limits", place.limits))
    return {name: elsewhere.path for name, elsewhere in both if elsewhere is not None}
