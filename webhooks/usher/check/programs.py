"""Runs git, helm and kustomize in trees that may be hostile: those of a pull request, or an unpacked archive.

A program gets an environment of ours, bounded time, memory and output, and no terminal. usher runs only commands of git
that read objects and the index: they never look at attributes, so no filter, textconv or external diff runs.
Sources: git-config(1), git(1) "Environment Variables", and "Security" in git-upload-pack(1).
"""

import contextlib
import hashlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from usher import errors, memo
from usher.documents import chunks
from usher.extensions.installed_programs import find_program, search_path

PROGRAM_SECONDS: Final = 120.0
_LONGEST_MESSAGE: Final = 2000
_MEMORY: Final = 2 * 2**30
"""Bytes of memory of a program; helm needs about 200 MiB for large charts."""


def program_output(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    where: Path | None = None,
    seconds: float = PROGRAM_SECONDS,
) -> bytes:
    """The standard output of a program.

    Args:
        command: the program and its arguments, which no shell interprets.
        environment: all its variables.
        where: the directory in which it starts.
        seconds: its time limit.

    Raises:
        InputError: it cannot be started, fails, prints more than a file may hold, or takes too long.
    """
    name = Path(command[0]).name
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as complaint:
        try:
            code = _end_of(
                subprocess.Popen(  # noqa: S603 - a program that the user has installed
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=printed,
                    stderr=complaint,
                    cwd=where,
                    env=dict(environment),
                    start_new_session=True,
                ),
                seconds,
            )
        except subprocess.TimeoutExpired:
            raise errors.InputError(f"{name} did not end within {seconds:g} s: {' '.join(command[1:])}") from None
        except OSError as error:
            raise errors.InputError(f"{name} cannot be started: {error.strerror}") from None
        if printed.seek(0, os.SEEK_END) > chunks.MAX_FILE_BYTES:
            raise errors.InputError(
                f"{name} printed more than {chunks.MAX_FILE_BYTES // 2**20} MiB; render parts of it"
            )
        if code:
            complaint.seek(0)
            message = complaint.read(_LONGEST_MESSAGE).decode(errors="replace").strip()
            raise errors.InputError(f"{name} failed (exit code {code}): {message or 'it does not say why'}")
        printed.seek(0)
        return printed.read()


def _end_of(process: subprocess.Popen[bytes], seconds: float) -> int:
    """The exit code of a program with limits. A program that takes too long ends, with all programs that it started."""
    if sys.platform == "linux":
        largest = chunks.MAX_FILE_BYTES + 1
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest, largest))
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
            resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
    try:
        return process.wait(timeout=seconds)
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def leads_outside(path: str | Path, tree: str | Path) -> bool:
    """Whether a path, with all its links followed, is outside of a tree."""
    real, top = os.path.realpath(path), os.path.realpath(tree)
    return real != top and not real.startswith(top.rstrip("/") + "/")


def repository_top(place: str | Path) -> Path | None:
    """The top of the repository around a place, without following links of the place; None outside of one.

    A bare repository is never meant: git adds no folder `.git` to a commit, but a commit may hold a bare repository.
    """
    absolute = Path(os.path.abspath(place))  # noqa: PTH100 - pathlib follows links
    return next((each for each in (absolute, *absolute.parents) if os.path.lexists(each / ".git")), None)


_CONFIGURATION: Final = {
    "safe.bareRepository": "explicit",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.pager": "cat",
    "core.alternateRefsCommand": "false",
    "submodule.recurse": "false",
}
"""Keys that could run a program, or change what a command sees. Those of the command line win over those of files."""

_ENVIRONMENT: Final = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    # A partial clone would fetch missing objects by the program that its configuration names.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
}
_KEPT_VARIABLES: Final = memo.pattern(
    r"HOME|XDG_CONFIG_HOME|TMPDIR|SUDO_UID|GIT_CONFIG_(?:COUNT|GLOBAL|SYSTEM|NOSYSTEM|KEY_\d+|VALUE_\d+)"
)
"""Variables by which git finds the configuration of the user, which says whose repositories are safe."""

_SECONDS_FOR_IGNORED: Final = 30.0


class Blob(Struct, frozen=True, kw_only=True):
    """A file of a commit."""

    digest: str
    size: int
    is_link: bool = False


class Repository(Struct, frozen=True, kw_only=True):
    """A repository of git whose files, configuration and hooks run nothing."""

    program: str
    top: Path
    git_directory: Path

    @classmethod
    def around(cls, place: Path) -> "Repository | None":
        """The repository around a place; None outside of one and without git.

        Raises:
            InputError: git refuses it, for example because another user owns it.
        """
        program, top = find_program("git"), repository_top(os.path.realpath(place))
        if program is None or top is None:
            return None
        # git itself compares the owner. It looks nowhere else for a repository.
        environment = {**_git_environment(), "GIT_CEILING_DIRECTORIES": os.fspath(top.parent)}
        command = [program, *_options(), "rev-parse", "--absolute-git-dir"]
        printed = program_output(command, where=top, environment=environment, seconds=_SECONDS_FOR_IGNORED)
        found = Path(os.fsdecode(printed.removesuffix(b"\n")))
        inside = top / ".git"
        if inside.is_dir() and os.path.realpath(found) != os.path.realpath(inside):
            raise errors.InputError(f"{inside}: not a repository of git")
        return cls(program=program, top=top, git_directory=found)

    def commit(self, revision: str) -> str:
        """The name of the commit of a revision.

        Raises:
            InputError: git knows no commit of this name.
        """
        found = ""
        if not revision.startswith("-"):
            with contextlib.suppress(errors.InputError):
                found = self.text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if not re.fullmatch(r"[0-9a-f]{40,64}", found):
            raise errors.InputError("git knows no commit of this name; in a shallow clone, fetch it first")
        return found

    def files(self, commit: str) -> dict[str, Blob]:
        """The regular files and links of a commit by their path from the top."""
        found = dict[str, Blob]()
        for entry in self.run("ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0"):
            described, _, name = entry.partition(b"\t")
            mode, kind, digest, size = described.decode().split() if described else ("", "", "", "")
            if kind == "blob":
                is_link = mode == "120000"
                number = int(size) if size.isdecimal() else 0
                found[os.fsdecode(name)] = Blob(digest=digest, size=number, is_link=is_link)
        return found

    def content(self, blob: Blob) -> bytes:
        """The content of a file as git keeps it.

        Raises:
            InputError: it is too large, or a partial clone does not hold it.
        """
        return self.run("cat-file", "blob", blob.digest)

    def holds_unchanged(self, name: str, blob: Blob) -> bool:
        """Whether the file of that path is a regular file with this content. It applies no filter and no attribute."""
        try:
            with open(os.open(self.top / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:  # noqa: PTH123 - a path follows links
                if os.fstat(stream.fileno()).st_size != blob.size:
                    return False
                content = stream.read(blob.size + 1)
        except OSError:
            return False
        algorithm = hashlib.sha256 if len(blob.digest) == hashlib.sha256().digest_size * 2 else hashlib.sha1
        return algorithm(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest() == blob.digest

    def ignored_below(self, directory: Path) -> frozenset[str]:
        """The paths below a directory that git ignores; they begin with the directory as it was given."""
        printed = self.run(
            *("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z", "--", "."),
            where=Path(os.path.realpath(directory)),
            seconds=_SECONDS_FOR_IGNORED,
        )
        return frozenset(os.fspath(directory / os.fsdecode(name)) for name in printed.split(b"\0") if name)

    def dot_folders_below(self, directory: Path) -> frozenset[str]:
        """The folders below a directory that begin with a dot and that git tracks, as `ignored_below` writes them."""
        printed = self.run(
            *("ls-files", "-z", "--", "."), where=Path(os.path.realpath(directory)), seconds=_SECONDS_FOR_IGNORED
        )
        found = set[str]()
        for name in printed.split(b"\0"):
            if name.startswith(b".") or b"/." in name:
                steps = os.fsdecode(name).split("/")[:-1]
                for number, step in enumerate(steps, start=1):
                    if step.startswith("."):
                        found.add(os.fspath(directory.joinpath(*steps[:number])))
        return frozenset(found)

    def revisions(self, *, seconds: float) -> Iterator[str]:
        """The names of branches and tags."""
        found = self.run(
            *("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags"), seconds=seconds
        )
        yield from found.decode(errors="replace").splitlines()

    def text(self, *arguments: str) -> str:
        """The output of a command as text."""
        return self.run(*arguments).decode(errors="replace").strip()

    def run(self, *arguments: str, where: Path | None = None, seconds: float = PROGRAM_SECONDS) -> bytes:
        """The output of a command of git that reads objects or the index. It must not look at attributes."""
        places = [f"--git-dir={self.git_directory}", f"--work-tree={self.top}"]
        return program_output(
            [self.program, *places, *_options(), *arguments],
            where=where or self.top,
            environment=_git_environment(),
            seconds=seconds,
        )


def _options() -> Iterator[str]:
    yield "--no-pager"
    for key, value in _CONFIGURATION.items():
        yield from ("-c", f"{key}={value}")


def _git_environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if _KEPT_VARIABLES.fullmatch(name)}
    return {**kept, **_ENVIRONMENT, "PATH": search_path()}


def dot_folders_below(directory: Path) -> frozenset[str]:
    """The folders below a directory that begin with a dot and that git tracks; empty as for `ignored_below`."""
    try:
        repository = Repository.around(directory)
        return frozenset() if repository is None else repository.dot_folders_below(directory)
    except errors.InputError:
        return frozenset()


def ignored_below(directory: Path) -> frozenset[str]:
    """The paths below a directory that git ignores; empty outside a repository, without git, and if git refuses it.

    They begin with the directory as it was given.
    """
    try:
        repository = Repository.around(directory)
        return frozenset() if repository is None else repository.ignored_below(directory)
    except errors.InputError:
        return frozenset()
