"""Finds out how many processes a container starts on its node, and whether it only waits.

A command is a program, so usher cannot read every command. It reads the plainest forms, and draws no conclusion from
any other.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import dropwhile
from typing import Final, NamedTuple

from usher import model, paths
from usher.reading.values import Reading
from usher.workloads import model_servers

VARIABLES: Final = ("PET_NPROC_PER_NODE", "NPROC_PER_NODE")
"""The variables that torchrun and its wrapper scripts read if no flag gives the number."""

LONG: Final = 3600
"""Seconds of sleep from which on a container waits for a person and not for an event."""

_FLAG: Final = re.compile(r"--nproc[-_]per[-_]node(?:=|\s{1,40})[\"']?([^\s\"';|&\\]{1,80})")
_NUMBER: Final = re.compile(r"[0-9]{1,9}", re.ASCII)
_REFERENCE: Final = re.compile(r"\$(?:\((\w+)\)|\{(\w+)\}|(\w+))", re.ASCII)

_AROUND: Final = frozenset({"--", "dumb-init", "exec", "tini"})
_SHELLS: Final = frozenset({"ash", "bash", "dash", "ksh", "sh", "zsh"})
_RUNS_SCRIPT: Final = re.compile(r"-[a-z]{0,5}c[a-z]{0,5}")
_LONGEST_SCRIPT: Final = 4096
_STATEMENTS: Final = re.compile(r"[;&\n]+")
_ENDLESS: Final = frozenset({("until", "false"), ("while", ":"), ("while", "true")})
_BESIDE: Final = frozenset(
    {":", "date", "done", "echo", "env", "exit", "ls", "nvidia-smi", "printf", "set", "trap", "true", "wait"}
)  # fmt: skip
"""Commands that people run before and after the waiting. They do not compute on a GPU."""

_DURATION: Final = re.compile(r"([0-9]{1,9})(?:\.[0-9]{0,9})?([smhd]?)", re.ASCII)
_SECONDS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


class Launch(NamedTuple):
    processes: model.Processes | None
    parallelism: model.ModelParallelism | None
    idle_command: str
    """Path of the command that only waits; empty if no command is known to wait."""


NOTHING: Final = Launch(None, None, "")


def read(
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
    asked = _asked(text) if "--nproc" in text else None
    if asked is not None:
        index = next(index for index, word in enumerate(words) if "--nproc" in word)
        place = f"{path}/command/{index}" if index < len(command) else f"{path}/args/{index - len(command)}"
        number = _number(asked, container)
        processes = None if number is None else model.Processes(number=number, path=place)
    elif environment:
        processes = _by_variable(environment)
    else:
        processes = None
    idle = ("sleep" in text or "tail" in text) and len(text) <= _LONGEST_SCRIPT and _only_waits(words)
    parallelism = model_servers.read(container, words, path) if _may_be_server(text, container) else None
    if processes is None and parallelism is None and not idle:
        return NOTHING
    return Launch(processes, parallelism, f"{path}/{'command' if command else 'args'}" if idle else "")


def _may_be_server(text: str, container: Mapping[str, paths.Json]) -> bool:
    image = container.get("image")
    return any(hint in text or (isinstance(image, str) and hint in image) for hint in model_servers.HINTS)


def _unreadable(command: object, args: object, path: str, reading: Reading) -> Launch:
    reading.texts(command, path + "/command")
    reading.texts(args, path + "/args")
    return NOTHING


def _asked(text: str) -> str | None:
    """The value of `--nproc-per-node`; None without the flag, and empty if several flags differ."""
    found: list[str] = _FLAG.findall(text)
    if len(found) == 1:
        return found[0]
    return None if not found else found[0] if len(set(found)) == 1 else ""


def _number(text: str, container: Mapping[str, paths.Json]) -> int | None:
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
    for name in VARIABLES:
        for variable in reversed(environment):
            if variable.name == name:
                known = variable.value is not None and _NUMBER.fullmatch(variable.value)
                return model.Processes(number=int(variable.value or 0), path=variable.path) if known else None
    return None


def _only_waits(words: Sequence[str]) -> bool:
    """Whether a command only waits for a person who enters the container."""
    words = list(dropwhile(lambda word: _program([word]) in _AROUND, words))
    if _program(words) not in _SHELLS:
        return _waits(words)
    for index, word in enumerate(words[:-1]):
        if index and _RUNS_SCRIPT.fullmatch(word):
            return _script_waits(words[index + 1])
    return False


def _script_waits(script: str) -> bool:
    waiting, endless = False, False
    for statement in _STATEMENTS.split(script):
        words = statement.split()
        if words and words[0] in ("do", "exec"):
            words = words[1:]
        if tuple(words) in _ENDLESS:
            endless = True
        elif _waits(words, endless=endless):
            waiting = True
        elif words and not _is_beside(words[0], statement):
            return False
    return waiting


def _is_beside(program: str, statement: str) -> bool:
    if program.startswith("#"):
        return True
    return program.strip("'\"") in _BESIDE and not any(mark in statement for mark in ("|", "`", "$("))


def _waits(words: Sequence[str], *, endless: bool = False) -> bool:
    program, rest = _program(words), words[1:]
    if program == "tail":
        return len(rest) > 1 and rest[-1] == "/dev/null" and rest[0].lower() == "-f"
    if program != "sleep" or not rest:
        return False
    if rest[0] in ("inf", "infinity"):
        return True
    duration = _DURATION.fullmatch(rest[0])
    return duration is not None and (endless or int(duration[1]) * _SECONDS[duration[2]] >= LONG)


def _program(words: Sequence[str]) -> str:
    return words[0].rpartition("/")[2] if words else ""
