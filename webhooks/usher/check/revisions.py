"""The objects of a run that differ from an earlier commit of its files, and the objects that name these."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import orjson
from msgspec import Struct

from usher import errors, paths
from usher.check import sources, surroundings
from usher.check.batches import Batch
from usher.kinds import registry
from usher.workloads.grown_workloads import growth_of


class Changes(Struct, frozen=True, kw_only=True):
    """The changes since an earlier state."""

    since: str
    """The user's name for the earlier state."""
    sources: frozenset[str]
    """Names of the files that changed or are new."""
    known: frozenset[bytes]
    """Digests of all earlier objects in these files, independent of their place."""
    names: frozenset[str]
    """Names of objects that changed or are gone and that others may name, and of the targets of changed autoscalers."""
    selectors: tuple[frozenset[tuple[str, str]], ...]
    """The labels by which changed Services select pods."""

    def concerns(self, value: paths.Object, source: str) -> bool:
        """Whether an object changed, or refers to one that did."""
        if source in self.sources and object_digest(value) not in self.known:
            return True
        return not self.names.isdisjoint(_texts(value)) or self._selects(value)

    def _selects(self, value: paths.Object) -> bool:
        """Whether a changed Service selects the labels of an object or of a template in it."""
        return any(
            selector <= {(key, text) for key, text in each.items() if isinstance(text, str)}
            for each in (_mappings(value) if self.selectors else ())
            for selector in self.selectors
        )


def changes_between(before: Iterable[Batch], now: Iterable[Batch], *, since: str, namespace: str) -> Changes:
    """The changes of some files.

    Args:
        before: the files in their earlier state, including deleted ones.
        now: the files in their present state.
        since: the user's name for the earlier state.
        namespace: the namespace of objects without one.
    """
    after = list(now)
    old = {object_digest(item.value): item.value for batch in before for item in batch.items}
    new = {object_digest(item.value): item.value for batch in after for item in batch.items}
    differing = [value for found, other in ((old, new), (new, old)) for key, value in found.items() if key not in other]
    return Changes(
        since=since,
        sources=frozenset(batch.source for batch in after),
        known=frozenset(old),
        names=frozenset(name for value in differing for name in _names(value, namespace)),
        selectors=tuple(filter(None, map(_selector, differing))),
    )


def object_digest(value: paths.Object) -> bytes:
    """The digest of an object, independent of the order of its fields."""
    try:
        return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).digest()
    except orjson.JSONEncodeError:  # half surrogates and very large integers
        return hashlib.sha256(repr(value).encode(errors="backslashreplace")).digest()


def _names(value: paths.Object, namespace: str) -> Iterator[str]:
    named = surroundings.named(value, namespace)
    if (named.group, named.kind) not in registry.NEVER_NAMED:
        yield from filter(None, [named.name])
    growth = growth_of(value, namespace=namespace)
    if growth is not None:
        yield from filter(None, [growth.target.name])


def _selector(value: paths.Object) -> frozenset[tuple[str, str]]:
    """The labels that a Service selects; empty for any other object."""
    spec = value.get("spec")
    if (value.get("apiVersion"), value.get("kind")) != ("v1", "Service") or not isinstance(spec, dict):
        return frozenset()
    selector = spec.get("selector")
    labels = selector.items() if isinstance(selector, dict) else ()
    return frozenset((key, text) for key, text in labels if isinstance(text, str))


def _texts(value: paths.Json) -> Iterator[str]:
    return (each for each in _parts(value) if isinstance(each, str))


def _mappings(value: paths.Json) -> Iterator[paths.Object]:
    return (each for each in _parts(value) if isinstance(each, dict))


def _parts(value: paths.Json) -> Iterator[paths.Json]:
    pending = [value]
    while pending:
        each = pending.pop()
        yield each
        if isinstance(each, dict):
            pending.extend(each.values())
        elif isinstance(each, list):
            pending.extend(each)


class _Difference(Struct, frozen=True, kw_only=True):
    before: frozenset[str]
    """Paths in the commit, from the top of the repository, of files that changed or were deleted."""
    same: frozenset[str]
    """Absolute paths of files that git tracks and that did not change."""

    def leaves(self, found: sources.FileOrBatch) -> bool:
        """Whether a file is unchanged. Files outside git are always new: ignored files, other folders, a stream."""
        return isinstance(found, sources.File) and os.path.realpath(found.path) in self.same


def changed_since(revision: str, found: Sequence[sources.FileOrBatch], *, namespace: str) -> Changes:
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
    return changes_between(git.files(base, difference.before), now, since=revision, namespace=namespace)


class _Git(Struct, frozen=True, kw_only=True):
    program: str
    top: Path

    @classmethod
    def here(cls) -> "_Git":
        """The repository of the working directory."""
        program = sources.find_program("git")
        if program is None:
            raise errors.InputError("--changed-since needs git, which is not installed")
        printed = sources.program_output([program, "rev-parse", "--show-toplevel"])
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
                yield sources.parse_content(content, source=name, explicit=False)

    def _text(self, *arguments: str) -> str:
        return self._run(*arguments).decode(errors="replace").strip()

    def _names(self, *arguments: str) -> list[str]:
        return [os.fsdecode(name) for name in self._run(*arguments).split(b"\0") if name]

    def _run(self, *arguments: str) -> bytes:
        # `core.fsmonitor` could run a program from the repository.
        return sources.program_output([self.program, "-c", "core.fsmonitor=false", *arguments], where=self.top)
