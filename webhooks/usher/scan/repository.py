"""Reads files of a git repository from an earlier commit."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from usher import errors
from usher.dataclass import dataclass
from usher.scan import changes, parsing, programs, sources
from usher.scan.batches import Batch


@dataclass(frozen=True, slots=True, kw_only=True)
class _Difference:
    before: frozenset[str]
    """Paths in the commit, from the top of the repository, of files that changed or were deleted."""
    same: frozenset[str]
    """Absolute paths of files that git tracks and that did not change."""

    def leaves(self, found: sources.Found) -> bool:
        """Whether a file is unchanged. Files outside git are always new: ignored files, other folders, a stream."""
        return isinstance(found, sources.File) and os.path.realpath(found.path) in self.same


def changed_since(revision: str, found: Sequence[sources.Found], *, namespace: str) -> changes.Changes:
    """The changes of a run's files since their branch left a revision, including uncommitted changes.

    Args:
        revision: a commit, a branch or a tag.
        found: the files of the run.
        namespace: the namespace of objects without one.

    Raises:
        InputError: git is missing, or does not know the revision.
    """
    git = _Git.here()
    base = git.base(revision)
    difference = git.difference(base)
    now = [sources.load(each) for each in found if not difference.leaves(each)]
    return changes.of(git.files(base, difference.before), now, since=revision, namespace=namespace)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Git:
    program: str
    top: Path

    @classmethod
    def here(cls) -> "_Git":
        """The repository of the working directory."""
        program = programs.find("git")
        if program is None:
            raise errors.InputError("--changed-since needs git, which is not installed")
        printed = programs.output([program, "rev-parse", "--show-toplevel"])
        return cls(program=program, top=Path(os.fsdecode(printed.removesuffix(b"\n"))))

    def base(self, revision: str) -> str:
        """The commit where the branch left the revision; the revision itself without a common ancestor."""
        try:
            commit = self._text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except errors.InputError:
            raise errors.InputError(
                f"--changed-since {revision}: git knows no commit of this name; in a shallow clone, fetch it first"
            ) from None
        try:
            return self._text("merge-base", commit, "HEAD")
        except errors.InputError:
            return commit

    def difference(self, base: str) -> _Difference:
        """The difference between a commit and the present files."""
        before, now = set[str](), set[str]()
        top = os.path.realpath(self.top)
        entries = iter(self._names("diff", "--name-status", "-z", "--find-renames", "--no-ext-diff", base))
        for status in entries:
            old = next(entries, "")
            new = next(entries, "") if status[:1] in {"R", "C"} else old
            if status != "A":
                before.add(old)
            if status != "D":
                now.add(new)
        tracked = set(self._names("ls-files", "-z")) - now
        return _Difference(before=frozenset(before), same=frozenset(f"{top}/{name}" for name in tracked))

    def files(self, base: str, names: frozenset[str]) -> Iterator[Batch]:
        """The files of a commit that may hold manifests."""
        for name in sorted(names):
            if name.endswith(sources.SUFFIXES):
                content = self._run("cat-file", "blob", f"{base}:{name}")
                yield parsing.parsed(content, source=name, explicit=False)

    def _text(self, *arguments: str) -> str:
        return self._run(*arguments).decode(errors="replace").strip()

    def _names(self, *arguments: str) -> list[str]:
        return [os.fsdecode(name) for name in self._run(*arguments).split(b"\0") if name]

    def _run(self, *arguments: str) -> bytes:
        # `core.fsmonitor` could run a program from the repository.
        return programs.output([self.program, "-c", "core.fsmonitor=false", *arguments], where=self.top)
