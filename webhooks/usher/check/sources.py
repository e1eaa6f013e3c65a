"""Reads the objects of PATH arguments. A file that cannot be read becomes a problem, and usher goes on with
the others.

usher reads a tracked file even if a `.gitignore` names it, so that a manifest cannot hide from review.
"""

import glob
import itertools
import os
import select
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct
from msgspec.structs import replace

from usher import errors, memo, paths
from usher.check import batches, findings, programs
from usher.check.batches import Batch, Item
from usher.cluster.facts import store as facts_store
from usher.cluster.facts.store import Recorded, State, Store
from usher.documents import chunks, reader
from usher.kinds.reading import pod_templates

_META: Final = "meta.k8s.io/"
_WORDS: Final = 200
"""The most characters of a message that are shown."""

_ARCHIVES: Final = (
    (
        0,
        b"\x1f\x8b",
        "compressed; unpack it with gunzip, or a .tar.gz with tar -xzf. A snapshot of usher is for --facts",
    ),
    (0, b"\x28\xb5\x2f\xfd", "compressed; unpack it with unzstd"),
    (0, b"BZh", "compressed; unpack it with bunzip2"),
    (0, b"\xfd7zXZ", "compressed; unpack it with unxz"),
    (0, b"PK\x03\x04", "a ZIP archive; unpack it with unzip"),
    (257, b"ustar", "a tar archive; unpack it with tar -xf"),
)
"""The bytes that identify a type of file, their offset, and the remedy."""

_TEXTS: Final = (
    (memo.pattern(rb"(?:NAMESPACE|NAME) {2,}[A-Z]"), "the table that kubectl shows"),
    (memo.pattern(rb"Name: {6,}\S.*\n(?:Namespace|Labels|Roles): {2,}"), "the text of kubectl describe"),
    (
        memo.pattern(rb"Error from server|(?:The connection|Unable to connect) to the server|error: .*\n?\Z"),
        "an error of kubectl",
    ),
)
"""How these outputs begin. A YAML file may begin with `error:` or `Name:` too, as translations do, but it has more
lines.
"""
_REMEDY: Final = "and no objects; write them with kubectl get -o json or -o yaml"


def why_no_text(content: bytes) -> str:
    """Why a file cannot hold manifests: it is packed, or kubectl printed it for people; else empty."""
    for start, magic, reason in _ARCHIVES:
        if content.startswith(magic, start):
            return reason
    for pattern, name in _TEXTS:
        if pattern.match(content):
            return f"{name}, {_REMEDY}"
    return ""


def why_no_objects(value: paths.Json) -> str:
    """Why a document holds no objects although an API server sent it; empty for any other document."""
    if not isinstance(value, dict):
        return ""
    kind, version, items = value.get("kind"), paths.text(value.get("apiVersion")), value.get("items")
    if kind is None and version and isinstance(items, list) and any(map(_is_object, items)):
        return "a List without its kind, which kubectl writes at its end: the file was cut off; write it again"
    if kind == "Status" and version == "v1":
        return f"an answer of the API server, and no objects: {_excerpt(value.get('message'))}"
    if version.startswith(_META):
        name = "the table that kubectl shows" if kind == "Table" else "the metadata of objects"
        return f"{name}, {_REMEDY}"
    return ""


def why_list_is_cut(value: paths.Json) -> str:
    """Why a list is only a part of the cluster's list; empty for any other document."""
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(items, list):
        return ""
    metadata = paths.metadata(value)
    left = metadata.get("remainingItemCount")
    if not metadata.get("continue") and not left:
        return ""
    more = f"{left:,} more" if isinstance(left, int) else "more"
    return f"one page of a list: {len(items):,} objects are here, and the cluster has {more}; write the whole list"


def _is_object(value: paths.Json) -> bool:
    return isinstance(value, dict) and bool(value.get("kind")) and bool(value.get("apiVersion"))


def _excerpt(message: paths.Json) -> str:
    text = paths.text(message) or "it has no message"
    return text if len(text) <= _WORDS else f"{text[:_WORDS]}..."


def parse_content(content: bytes, *, source: str, explicit: bool, line: int = 1) -> Batch:
    """The objects of a file.

    Args:
        content: its content, or enough of it to show that it is too large.
        explicit: whether the user named the file. A directory may hold Helm values, workflows and kustomizations
            between the manifests, but the user wants a named file to be judged.
        line: where the content begins in its file.
    """
    if reason := why_no_text(content):
        return Batch(source=source, problems=(findings.Problem(source=source, reason=reason),))
    found = reader.parse_each(content, source=source, line=line)
    if not found.errors:
        return batch_of_documents(found.documents, source=source, explicit=explicit)
    if not explicit and _holds_no_object(content):
        return Batch(source=source, ignored=1)
    problems = [
        findings.Problem(source=source, line=error.line, column=error.column, reason=error.reason)
        for error in found.errors
    ]
    if len(problems) == reader.MAX_ERRORS:
        reason = f"after {reader.MAX_ERRORS} unusable documents the rest of the file is not read; mend these first"
        problems.append(findings.Problem(source=source, reason=reason))
    usable = batch_of_documents(found.documents, source=source, explicit=explicit)
    return replace(usable, problems=(*problems, *usable.problems))


def batch_of_documents(documents: Sequence[reader.Document], *, source: str, explicit: bool) -> Batch:
    """The objects in the documents of a file; arguments as for a file."""
    items: list[Item] = []
    notes, problems, ignored = [], [], 0
    for document in documents:
        answer, cut = why_no_objects(document.value), why_list_is_cut(document.value)
        if answer or cut:
            problems.append(findings.Problem(source=source, line=document.line, column=1, reason=answer or cut))
        if answer:
            continue
        completed = batches.completed(items[-1].value, document.value) if items else None
        if completed is not None:
            items[-1] = replace(items[-1], value=completed)
            continue
        for prefix, value in batches.flatten(document.value):
            reason = batches.why_not_object(value)
            if not reason and isinstance(value, dict):
                if not batches.is_usher_file(value):
                    items.append(Item(value=value, document=document, prefix=prefix))
                continue
            ignored += 1
            if explicit or batches.meant_as_workload(value):
                notes.append(
                    findings.Note(source=f"{source}:{document.line}", reason=f"{_place_prefix(prefix)}{reason}")
                )
    return Batch(
        source=source,
        items=tuple(items),
        documents=tuple(documents),
        problems=tuple(problems),
        notes=tuple(notes),
        ignored=ignored,
    )


def _holds_no_object(content: bytes) -> bool:
    """Whether a file that is not valid YAML certainly holds no object: for example a tsconfig.json with comments.

    Every object has the word apiVersion, every compiled pipeline the word pipelineInfo. Only a backslash makes other
    spellings of these words possible.
    """
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    words = (b"apiVersion", b"pipelineInfo", b"\\")
    return len(content) <= chunks.MAX_FILE_BYTES and not any(word in content for word in words)


def _place_prefix(prefix: str) -> str:
    return f"{paths.readable(prefix)}: " if prefix else ""


SUFFIXES: Final = (".yaml", ".yml", ".json")
"""Suffixes of the files that usher reads in a directory."""

_PACKED: Final = tuple(f"{suffix}.gz" for suffix in SUFFIXES)
"""Suffixes of files in a directory that usher reports and does not read."""

STDIN: Final = "-"

PIPE_SECONDS: Final = 10.0
"""Seconds for which usher waits for a program that writes into a named pipe."""

_CHART: Final = "Chart.yaml"
_PATTERN: Final = memo.pattern(r"[*?[]")


class File(Struct, frozen=True):
    """A file that usher has not read yet."""

    path: Path
    explicit: bool
    """Whether the user named it."""
    size: int
    """Bytes of a chunk."""
    is_regular: bool = True
    """Whether it can be read again. A pipe cannot."""


FileOrBatch = File | Batch
"""A file, or a batch that was read already: standard input, or a problem with an unreadable input."""


def read(arguments: Sequence[str], *, stdin: BinaryIO) -> Iterator[Batch]:
    """One batch per file that `find` finds."""
    return map(load, find_files(arguments, stdin=stdin))


def load(found: FileOrBatch) -> Batch:
    """The objects of a file; a batch stays unchanged."""
    if isinstance(found, Batch):
        return found
    content = read_content(found)
    return content if isinstance(content, Batch) else parse_file(found, content)


def read_content(file: File) -> bytes | Batch:
    """The content of a file, or enough of it to show that it is too large; the problem if it cannot be read."""
    try:
        if not file.size and stat.S_ISFIFO(file.path.stat().st_mode):
            return _written_into(file.path)
        with open(file.path, "rb", buffering=0) as stream:  # noqa: PTH123 - a path of pathlib buffers
            # Reading with the largest size would reserve that much memory for every file.
            content = stream.read(min(file.size, chunks.MAX_FILE_BYTES) + 1)
            if len(content) != file.size:  # it has changed, or its size is unreliable
                while more := stream.read(chunks.MAX_FILE_BYTES + 1 - len(content)):
                    content += more
            return content
    except OSError as error:
        return _unreadable(file.path, error)


def _written_into(pipe: Path) -> bytes | Batch:
    """The text that a program writes into a named pipe, for example `<(...)` of a shell."""
    content, deadline = b"", time.monotonic() + PIPE_SECONDS
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as stream:  # noqa: PTH123 - a path waits for a writer
        while len(content) <= chunks.MAX_FILE_BYTES:
            more = stream.read(chunks.MAX_FILE_BYTES + 1 - len(content))
            if more:
                content += more
            elif more is None:  # a program holds the other end, and may take long
                select.select([stream], [], [])
            elif content:
                break
            elif (left := deadline - time.monotonic()) > 0:
                select.select([stream], [], [], left)
            else:
                return _problem(pipe, f"a pipe into which nothing was written for {PIPE_SECONDS:g} s")
    return content


def parse_file(file: File, content: bytes) -> Batch:
    """The objects in the content of a file, without patches of kustomizations."""
    return without_patches(parse_content(content, source=path_text(file.path), explicit=file.explicit), file.path)


KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")


def is_base(source: str) -> bool:
    """Whether the folder of a file has a kustomization."""
    folder = os.path.dirname(os.path.realpath(source))  # noqa: PTH120 - quicker
    return any(Path(folder, name).is_file() for name in KUSTOMIZATIONS)


_PATCHES: Final = frozenset({"patches", "patchesstrategicmerge", "patchesjson6902"})
"""Fields of a kustomization that name files with parts of objects, in any case, as Go reads JSON."""

_FOLDERS_ABOVE: Final = 40
"""The most folders above a file in which its kustomization is looked for."""


def without_patches(batch: Batch, path: Path) -> Batch:
    """The batch of a file without parts of objects: a kustomization of its folder, or one above, names it as a patch.

    kustomize reads no patch from outside the folder of its kustomization. An object that could be applied alone is
    judged all the same; a note names each other one that makes pods.
    """
    real_path = os.path.realpath(path) if batch.items else ""
    folder = _patches_above(os.path.dirname(real_path)).get(real_path)  # noqa: PTH120 - quicker
    if folder is None:
        return batch
    kept: list[Item] = []
    parts: list[Item] = []
    for item in batch.items:
        (kept if _could_be_applied(item.value) else parts).append(item)
    reason = f"a patch; `usher check -k {path_text(_shown(Path(folder)))}` judges what it makes"
    notes = [
        findings.Note(source=f"{batch.source}:{item.document.line}", reason=reason)
        for item in parts
        if item.document is not None and batches.makes_pods(item.value)
    ]
    return replace(
        batch,
        items=tuple(kept),
        notes=(*batch.notes, *notes),
        ignored=batch.ignored + len(parts) - len(notes),
    )


def _could_be_applied(value: paths.Object) -> bool:
    """Whether the API server may accept an object: its containers have images, and what its group requires is there.

    A workload of the group apps has a selector. A Job has a restartPolicy, because the default of pods is refused.
    """
    found = pod_templates.find_pod_specs(value)
    group = batches.group_and_kind(value)[0]
    if found and group == "apps":
        return "selector" in paths.mapping(value.get("spec"))
    if found and group == "batch":
        return "restartPolicy" in paths.mapping(paths.resolve(dict(value), found[0]))
    return found != []


def forget_patches() -> None:
    """Reads kustomizations again from now on."""
    _patches_above.cache_clear()
    patches_of.cache_clear()


@lru_cache(maxsize=4096)
def _patches_above(folder: str) -> Mapping[str, str]:
    """The patches that kustomizations of a folder and of those above it apply, each with the nearest of these folders.

    No folder above the top of a repository counts.
    """
    found: dict[str, str] = {}
    for each in map(str, itertools.islice((Path(folder), *Path(folder).parents), _FOLDERS_ABOVE)):
        found = {**dict.fromkeys(patches_of(each), each), **found}
        if os.path.lexists(os.path.join(each, ".git")):  # noqa: PTH118 - quicker
            break
    return found


@lru_cache(maxsize=4096)
def patches_of(folder: str) -> frozenset[str]:
    """The real paths of the files that the kustomization of a folder applies as patches; it may be any text."""
    found = set[str]()
    for name in KUSTOMIZATIONS:
        file = Path(folder, name)
        # A pipe would wait for a writer, and what a link out of the tree leads to is not read.
        content = b"" if not file.is_file() or _leaves_its_repository(file) else read_content(File(file, False, 0))
        for document in reader.parse_each(content, source=name).documents if isinstance(content, bytes) else ():
            fields = paths.mapping(document.value)
            entries = (each for key in fields if key.lower() in _PATCHES for each in paths.elements(fields[key]))
            named = (each if isinstance(each, str) else paths.mapping(each).get("path") for each in entries)
            found.update(
                os.path.realpath(os.path.join(folder, each))  # noqa: PTH118 - quicker
                for each in named
                if isinstance(each, str) and "\n" not in each and "\0" not in each
            )
    return frozenset(found)


def _shown(folder: Path) -> Path:
    """A folder as a user would write it."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def find_files(arguments: Sequence[str], *, stdin: BinaryIO) -> Iterator[FileOrBatch]:
    """The files of the arguments in their order, sorted within a directory, and a batch for every other input.

    A file that is named twice is found once, so that its GPUs count once.

    Args:
        arguments: files, directories without what git ignores there, patterns, and `-` for standard input.
    """
    seen: set[tuple[int, int]] = set()
    for argument in dict.fromkeys(arguments):
        if argument == STDIN:
            yield parse_content(stdin.read(chunks.MAX_FILE_BYTES + 1), source="<stdin>", explicit=True)
            continue
        for path in _paths(argument):
            if _leaves_its_repository(path):
                yield _problem(path, _OUTSIDE)
                continue
            try:
                status = path.stat()
            except (OSError, ValueError) as error:
                yield _unreadable(path, error)
                continue
            if stat.S_ISDIR(status.st_mode):
                tree = programs.repository_top(path) or path
                left_out, tracked = programs.ignored_below(path), programs.dot_folders_below(path)
                yield from _Walk(seen=seen, left_out=left_out, tracked=tracked, tree=tree).below(path)
            elif _is_new(status, seen):
                yield File(path, explicit=True, size=status.st_size, is_regular=stat.S_ISREG(status.st_mode))


def _paths(argument: str) -> list[Path]:
    """The path of an argument, or the paths that match it: CI systems pass patterns that no shell expanded."""
    if _PATTERN.search(argument) and not os.path.lexists(argument):
        found = sorted(glob.glob(argument, recursive=True))  # noqa: PTH207 - the pattern may be absolute
        return [Path(each) for each in found] or [Path(argument)]
    return [Path(argument)]


def _leaves_its_repository(path: Path) -> bool:
    """Whether a path in a repository is, or passes, a link that leads out of it."""
    absolute = os.path.abspath(path)  # noqa: PTH100 - pathlib follows links
    if os.path.realpath(absolute) == absolute:
        return False
    top = programs.repository_top(absolute)
    return top is not None and programs.leads_outside(absolute, top)


class _Walk(Struct, frozen=True, kw_only=True):
    """Finds manifests below directories. It does not follow a link to a directory that was read already, or out of the
    tree.
    """

    seen: set[tuple[int, int]]
    """The files and directories that were found before."""
    left_out: AbstractSet[str]
    """Paths to skip."""
    tracked: AbstractSet[str]
    """Folders that begin with a dot and that git tracks; others are skipped."""
    tree: Path
    """The repository or directory that links may not leave."""

    def below(self, directory: Path) -> Iterator[FileOrBatch]:
        """The manifests below a directory, sorted by name."""
        try:
            if not _is_new(directory.stat(), self.seen):
                return
            with os.scandir(directory) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            yield _unreadable(directory, error)
            return
        is_chart = any(entry.name == _CHART for entry in entries)
        for entry in entries:
            path = directory / entry.name
            if self._is_left_out(entry.name, os.fspath(path)):
                continue
            if is_chart and entry.name == "templates":
                yield _chart(directory)
            else:
                yield from self._at(path, entry)

    def _is_left_out(self, name: str, path: str) -> bool:
        return path in self.left_out or (name.startswith(".") and path not in self.tracked)

    def _at(self, path: Path, entry: os.DirEntry[str]) -> Iterator[FileOrBatch]:
        """The manifests of an entry of a directory."""
        is_manifest = entry.name.endswith((*SUFFIXES, *_PACKED))
        try:
            status = entry.stat()
        except OSError as error:
            if is_manifest:
                yield _unreadable(path, error)
            return
        is_directory = stat.S_ISDIR(status.st_mode)
        if not is_directory and not (is_manifest and stat.S_ISREG(status.st_mode)):
            return
        if entry.is_symlink() and programs.leads_outside(path, self.tree):
            yield _problem(path, _OUTSIDE)
        elif is_directory:
            yield from self.below(path)
        elif _is_new(status, self.seen):
            yield _file_or_note(path, status)


def _chart(directory: Path) -> Batch:
    source = path_text(directory)
    reason = f"a Helm chart, whose templates usher does not render; run: helm template {source} | usher check -"
    return Batch(source=source, notes=(findings.Note(source=source, reason=reason),), is_file=False)


def _file_or_note(path: Path, status: os.stat_result) -> FileOrBatch:
    """A file of a directory, or a note about a compressed one."""
    if not path.name.endswith(_PACKED):
        return File(path, explicit=False, size=status.st_size)
    reason = "compressed, so it was not read; unpack it with gunzip. A snapshot of usher is for --facts"
    return Batch(source=path_text(path), notes=(findings.Note(source=path_text(path), reason=reason),), is_file=False)


def _unreadable(path: Path, error: OSError | ValueError) -> Batch:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return _problem(path, f"{reason[:1].lower()}{reason[1:]}")


_OUTSIDE: Final = (
    "a link that leads out of the tree, which a pull request could point anywhere; name what it leads to as PATH"
)


def _problem(path: Path, reason: str) -> Batch:
    problem = findings.Problem(source=path_text(path), reason=f"cannot be read: {reason}")
    return Batch(source=path_text(path), problems=(problem,))


def _is_new(status: os.stat_result, seen: set[tuple[int, int]]) -> bool:
    identity = (status.st_dev, status.st_ino)
    if identity in seen:
        return False
    seen.add(identity)
    return True


def path_text(path: Path) -> str:
    """The path as text that UTF-8 can encode, because file names are bytes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


_GROUP: Final = memo.pattern(rb"apiVersion[\"']?\s*:\s*[\"']?([a-z0-9-]+(?:\.[a-z0-9-]+)+)/")
_KIND: Final = memo.pattern(rb"kind[\"']?\s*:\s*[\"']?([A-Z][A-Za-z0-9]+)")


def named_kinds(files: Iterable[FileOrBatch]) -> frozenset[tuple[str, str]]:
    """Groups and kinds that files may hold objects of: each group of a file with each kind of it. It parses no file."""
    found = set[tuple[str, str]]()
    for each in files:
        if isinstance(each, Batch):
            written = ([paths.text(item.value.get(key)) for key in ("apiVersion", "kind")] for item in each.items)
            found.update((version.rpartition("/")[0], kind) for version, kind in written)
        elif each.is_regular and isinstance(content := read_content(each), bytes):
            kinds = set(_KIND.findall(content))
            found.update((group.decode(), kind.decode()) for group in set(_GROUP.findall(content)) for kind in kinds)
    return frozenset(found)


def from_files(arguments: Sequence[str]) -> Store:
    """The combined facts of files, directories and snapshots.

    For each kind in them, the files must hold all objects. A snapshot also names kinds that have no objects, or do not
    exist in the cluster.

    Raises:
        InputError: a file cannot be read. With only a part of the objects, the others would count as missing.
    """
    if not arguments:
        return Store()
    recorded: list[Recorded] = []
    manifests: list[str] = []
    for argument in arguments:
        content = _snapshot(argument)
        if content is None:
            manifests.append(argument)
        else:
            recorded += facts_store.loads(content, source=argument)
    values = [*_objects(manifests), *(value for each in recorded for value in each.values)]
    if not values and not recorded:
        raise errors.InputError(f"no objects found in {', '.join(arguments)}; --facts needs the objects of a cluster")
    store = Store.of(values)
    _add_empty(store, recorded)
    return store


def _objects(arguments: Sequence[str]) -> Iterable[paths.Object]:
    for batch in read(arguments, stdin=BytesIO()):
        for problem in batch.problems:
            place = f"{problem.source}:{problem.line}" if problem.line else problem.source
            raise errors.InputError(f"{place}: {problem.reason}")
        yield from (item.value for item in batch.items)


def _snapshot(argument: str) -> bytes | None:
    """The content of a compressed file; None for any other. Errors come up when the manifests are read."""
    path = Path(argument)
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            head = stream.read(len(facts_store.MAGIC))
            return head + stream.read(facts_store.LARGEST_FILE) if head == facts_store.MAGIC else None
    except (OSError, ValueError):
        return None


def _add_empty(store: Store, recorded: Iterable[Recorded]) -> None:
    """Adds the kinds of snapshots that have no objects."""
    for each in recorded:
        if store.knows(*each.kind.key):
            continue
        if each.state is State.KNOWN:
            store.replace(each.kind.key, [])
        elif each.state is State.MISSING:
            store.lacks(each.kind.key)
