"""The programs that the command of a container starts, as lists of words.

A command can do anything, so usher reads only plain forms: a program behind wrappers (`tini`, `env`), the statements of
a shell script, and the programs that an MPI launcher starts. It reads a limited length.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

Words = tuple[str, ...]

MOST_PROGRAMS: Final = 64
_LONGEST_COMMAND: Final = 16_384
_MOST_WORDS: Final = 256
_MOST_AFTER_LAUNCHER: Final = 96

_SHELLS: Final = frozenset({"ash", "bash", "dash", "ksh", "sh", "zsh"})
_RUNS_SCRIPT: Final = re.compile(r"-[a-z]{0,5}c[a-z]{0,5}")
_AROUND: Final = frozenset({
    "!", "(", "--", "catatonit", "do", "dumb-init", "else", "env", "exec", "if", "nohup", "sudo", "then", "time",
    "tini", "while", "{",
})  # fmt: skip
"""Words before a program that do not change what it does."""
_RUNNERS: Final = frozenset({("poetry", "run"), ("uv", "run")})
_MPI_LAUNCHERS: Final = frozenset({"mpiexec", "mpiexec.hydra", "mpirun", "srun"})
_STATEMENTS: Final = re.compile(r"[;&|\n]+")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_PYTHON: Final = re.compile(r"python[0-9.]*")
_BESIDE: Final = frozenset({
    ")", ".", ":", "[", "[[", "case", "cat", "cd", "chmod", "cp", "date", "done", "echo", "esac", "exit", "export",
    "fi", "hostname", "let", "ls", "mkdir", "printf", "pwd", "read", "rm", "set", "sleep", "source", "test", "trap",
    "true", "ulimit", "unset", "wait", "}",
})  # fmt: skip


class Program(NamedTuple):
    """A program that a container starts."""

    words: Words
    by_mpi: bool = False
    """Whether an MPI launcher starts it on all nodes of the job."""


def read(command: Sequence[str]) -> tuple[Program, ...]:
    """The programs of a command with its arguments; empty for a command that is too long to read."""
    if sum(map(len, command)) > _LONGEST_COMMAND:
        return ()
    return tuple(program for program, _ in zip(_of(list(command[:_MOST_WORDS])), range(MOST_PROGRAMS), strict=False))


def is_beside(program: Program) -> bool:
    """Whether a program only prepares, prints or waits, so that it is not the work of its container.

    Options do not start a program either: without a command, `args` go to the program of the image.
    """
    name = program.words[0]
    return name in _BESIDE or name.startswith(("#", "-")) or bool(_ASSIGNMENT.fullmatch(name))


def is_mpi_launcher(program: Program) -> bool:
    """Whether a program starts others through MPI."""
    return _base(program.words[0]) in _MPI_LAUNCHERS


def _of(words: list[str]) -> Iterator[Program]:
    words = _unwrapped(words)
    if not words:
        return
    name = _base(words[0])
    if name not in _SHELLS:
        yield from _started(words)
        return
    for index, word in enumerate(words[1:-1], start=1):
        if _RUNS_SCRIPT.fullmatch(word):
            script = words[index + 1]
            if script == "--" and index + 2 < len(words):
                script = words[index + 2]
            yield from _of_script(script)
            return
    yield from _started(words[1:])


def _of_script(script: str) -> Iterator[Program]:
    for statement in _STATEMENTS.split(script.replace("\\\n", " ")):
        words = _unwrapped(statement.split(maxsplit=_MOST_WORDS))
        if words and _base(words[0]) in _SHELLS:
            words = words[1:]
        yield from _started(words)


def _started(words: list[str]) -> Iterator[Program]:
    plain = _plain(words)
    if not plain:
        return
    yield Program(plain)
    if _base(plain[0]) in _MPI_LAUNCHERS:
        # The options of launchers take values, so every word may be the program.
        for index in range(1, min(len(plain), _MOST_AFTER_LAUNCHER)):
            behind = () if plain[index].startswith("-") else _plain(list(plain[index:]))
            if behind:
                yield Program(behind, by_mpi=True)


def _unwrapped(words: list[str]) -> list[str]:
    while words:
        name = _base(words[0])
        if name in _AROUND or _ASSIGNMENT.fullmatch(name):
            words = words[1:]
            while name in ("tini", "env", "sudo") and words and words[0].startswith("-"):
                words = words[1:]
        elif tuple(words[:2]) in _RUNNERS:
            words = words[2:]
        elif name in ("numactl", "stdbuf", "timeout"):
            words = words[1:]
            while words and words[0].startswith("-"):
                words = words[1:]
            words = words[1:] if name == "timeout" else words
        else:
            return words
    return words


def _plain(words: list[str]) -> Words:
    """The words without quotes, with `python` for all its versions and without Python's options."""
    words = [word.strip("'\"()") for word in words]
    if not words or not words[0]:
        return ()
    if _PYTHON.fullmatch(_base(words[0])):
        rest = words[1:]
        while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
            rest = rest[1:]
        words = ["python", *rest]
    return tuple(words)


def _base(word: str) -> str:
    return word.strip("'\"").rpartition("/")[2]
