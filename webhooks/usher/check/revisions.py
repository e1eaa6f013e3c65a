"""The objects of a run that differ from an earlier commit of its files, and the objects that name these."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import orjson
from msgspec import Struct

from usher import errors, paths
from usher.check import programs, sources, surroundings
from usher.check.batches import Batch
from usher.documents import chunks
from usher.extensions import installed_programs
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
    before: Mapping[str, programs.Blob]
    """Files of the commit that may hold manifests, and that changed or are gone, by their path from the top."""
    same: frozenset[str]
    """Absolute paths of files of the run that did not change."""

    def leaves(self, found: sources.FileOrBatch) -> bool:
        """Whether a file is unchanged. Files outside the commit are new: ignored files, other folders, a stream."""
        return isinstance(found, sources.File) and os.path.realpath(found.path) in self.same


def changed_since(revision: str, found: Sequence[sources.FileOrBatch], *, namespace: str) -> Changes:
    """The changes of a run's files since their branch left a revision, including uncommitted changes.

    Files are compared byte for byte with what git keeps, so no attribute and no flag of the index hides a change.

    Args:
        revision: a commit, a branch or a tag.
        namespace: the namespace of objects without one.

    Raises:
        InputError: git is missing, or does not know the revision.
    """
    repository = repository_for("--changed-since")
    commit = named_commit(repository, revision, option="--changed-since")
    try:
        base = repository.text("merge-base", commit, "HEAD")
    except errors.InputError:  # without a common ancestor
        base = commit
    difference = _difference(repository, base, found)
    now = [sources.load(each) for each in found if not difference.leaves(each)]
    return changes_between(_earlier_batches(repository, difference), now, since=revision, namespace=namespace)


def repository_for(option: str) -> programs.Repository:
    """The repository of the working directory, which an option needs.

    Raises:
        InputError: it has no repository, or git is missing or refuses it.
    """
    if installed_programs.find_program("git") is None:
        raise errors.InputError(f"{option} needs git, which is not installed")
    repository = programs.Repository.around(Path())
    if repository is None:
        raise errors.InputError(
            f"{option} needs a repository of git, but no folder around the working directory is one"
        )
    return repository


def named_commit(repository: programs.Repository, revision: str, *, option: str) -> str:
    """The name of the commit of a revision that an option has.

    Raises:
        InputError: git knows no commit of this name.
    """
    try:
        return repository.commit(revision)
    except errors.InputError as error:
        raise errors.InputError(f"{option} {revision}: {error}") from None


def _difference(repository: programs.Repository, base: str, found: Sequence[sources.FileOrBatch]) -> _Difference:
    """The difference between a commit and the present files."""
    top = os.path.realpath(repository.top)
    named = {os.path.realpath(each.path) for each in found if isinstance(each, sources.File)}
    of_run = {path.removeprefix(f"{top}/") for path in named if path.startswith(f"{top}/")}
    before, same = dict[str, programs.Blob](), set[str]()
    for name, blob in repository.files(base).items():
        may_hold = name.endswith(sources.SUFFIXES)
        if blob.is_link or (not may_hold and name not in of_run):
            continue
        if repository.holds_unchanged(name, blob):
            same.add(f"{top}/{name}")
        elif may_hold:
            before[name] = blob
    return _Difference(before=before, same=frozenset(same))


def _earlier_batches(repository: programs.Repository, difference: _Difference) -> Iterator[Batch]:
    """The files of the commit that changed. One that is too large is left out, so its objects count as new."""
    for name, blob in sorted(difference.before.items()):
        if blob.size <= chunks.MAX_FILE_BYTES:
            yield sources.parse_content(repository.content(blob), source=name, explicit=False)


class RevisionFiles(Struct, frozen=True, kw_only=True):
    """The files of a commit, written into a folder where a run needs them instead of those of the tree."""

    repository: programs.Repository
    revision: str
    """The user's name for the commit."""
    files: Mapping[str, programs.Blob]
    folder: Path

    @classmethod
    def of(cls, revision: str, folder: Path, *, option: str) -> "RevisionFiles":
        """The files of a revision of the repository of the working directory.

        Raises:
            InputError: git is missing, or does not know the revision.
        """
        repository = repository_for(option)
        commit = named_commit(repository, revision, option=option)
        return cls(repository=repository, revision=revision, files=repository.files(commit), folder=folder)

    def written(self, path: str) -> str | None:
        """The path of the written copy of a file or folder; None if the commit lacks it.

        A path outside of the repository stays, because no pull request can change it.

        Raises:
            InputError: it is, or holds, a link; or it cannot be written.
        """
        name = self._name(path)
        if name is None:
            return path
        below = {
            each: blob
            for each, blob in self.files.items()
            if each == name or each.startswith(f"{name}/") or name == os.curdir
        }
        for each, blob in below.items():
            if blob.is_link:
                raise errors.InputError(f"{each} is a link in {self.revision}; name the file that it leads to")
            place = self.folder / each
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(self.repository.content(blob))
        return os.fspath(self.folder / name) if below else None

    def differs(self, path: str) -> bool:
        """Whether a file or folder of the tree is not the one of the commit."""
        name = self._name(path)
        if name is None:
            return False
        here = self.repository.top / name
        found = (
            {name}
            if here.is_file()
            else {
                os.path.relpath(Path(folder) / file, self.repository.top)
                for folder, _, files in os.walk(here)
                for file in files
            }
        )
        known = {each for each in self.files if each == name or each.startswith(f"{name}/")}
        return found != known or not all(self.repository.holds_unchanged(each, self.files[each]) for each in known)

    def _name(self, path: str) -> str | None:
        """The path from the top of the repository; None for one outside, by its words and by its links."""
        lexical = os.path.abspath(path)  # noqa: PTH100 - a link of the tree must not lead out of the commit
        for whole in (lexical, os.path.realpath(path)):
            if whole == os.fspath(self.repository.top) or whole.startswith(f"{self.repository.top}/"):
                return os.path.relpath(whole, self.repository.top)
        return None
