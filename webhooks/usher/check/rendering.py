"""The objects that helm and kustomize render of a tree that may be hostile.

They run with an environment of ours: no plugin, no git, no configuration of the user, and a proxy that refuses every
connection. What they would read is looked up before: a link or a base that leads out of the tree, or to a server, is a
problem and not rendered. Facts are from their sources: helm follows links in charts (`internal/sympath`), and a
`values.schema.json` may refer to files and servers (`pkg/chartutil/jsonschema.go`); kustomize keeps files in the folder
of their kustomization, but not bases, and takes a URL where it takes a file (`api/internal/loader/fileloader.go`).
"""

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from usher import errors, memo, paths
from usher.check import programs, sources
from usher.check.batches import Batch
from usher.check.findings import Problem
from usher.documents import chunks, reader
from usher.extensions import installed_programs

_MOST_ENTRIES: Final = 100_000
"""The most files of a chart, and the most kustomizations, that usher looks through."""

_NOWHERE: Final = "http://127.0.0.1:9"
_CLEAN: Final = {
    "LC_ALL": "C",
    "PATH": "",
    "KUBECONFIG": os.devnull,
    "HELM_NO_PLUGINS": "1",
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _NOWHERE),
}


class Charts(Struct, frozen=True, kw_only=True):
    """Helm charts to render, with their values."""

    charts: Sequence[str] = ()
    """Directories or archives."""
    values: Sequence[str] = ()
    """Files of values; later ones override earlier ones."""
    namespace: str = "default"


def render_charts(given: Charts) -> list[Batch]:
    """The objects of each chart from `helm template`."""
    helm = installed_programs.find_program("helm")
    if given.charts and not helm:
        reason = "--helm needs helm, which is not installed; or: helm template CHART | usher check -"
        return [_rendering_problem(chart, reason) for chart in given.charts]
    return [_rendered_chart(str(helm), chart, given) for chart in given.charts]


def _rendered_chart(helm: str, chart: str, given: Charts) -> Batch:
    source = f"helm template {chart}"
    reason = _why_no_chart(chart) or next(filter(None, map(_why_no_values, given.values)), "")
    if reason:
        return _rendering_problem(source, reason)
    command = [
        *(helm, "template", "release-name", _absolute(chart)),
        # A schema may refer to any file and server. It decides nothing about the output.
        "--skip-schema-validation",
        f"--namespace={given.namespace}",
        *(f"--values={_quoted(_absolute(each))}" for each in given.values),
    ]
    return _rendered(command, source)


def _why_no_chart(chart: str) -> str:
    """Why usher does not render a chart; empty if it does."""
    if not Path(chart).exists():
        return (
            f"{chart} is not a directory or archive, and usher fetches no charts; run helm pull before, or: "
            "helm template CHART | usher check -"
        )
    return _why_link(chart) or (_why_links_below(chart) if Path(chart).is_dir() else "")


def _why_no_values(file: str) -> str:
    """Why usher does not pass a file of values to helm; empty if it does."""
    if not Path(file).is_file():
        return f"--values {file}: not a file, and usher fetches no values"
    return _why_link(file)


def _why_link(path: str) -> str:
    outside = programs.leads_outside(path, _tree_of(path))
    return f"{path} is a link that leads out of the tree" if outside else ""


def _why_links_below(directory: str) -> str:
    """Why a chart may not be rendered: the first link in it that leads out of the tree, or too many files."""
    tree, seen, pending = _tree_of(directory), set[str](), [os.path.realpath(directory)]
    number = 0
    while pending:
        here = pending.pop()
        if here in seen:
            continue
        seen.add(here)
        with os.scandir(here) as entries:
            for entry in entries:
                number += 1
                if number > _MOST_ENTRIES:
                    return f"{directory} holds more than {_MOST_ENTRIES:,} files"
                if entry.is_symlink() and programs.leads_outside(entry.path, tree):
                    return f"{entry.path} is a link that leads out of the tree, which helm would follow"
                if entry.is_dir():
                    pending.append(os.path.realpath(entry.path))
    return ""


def _quoted(path: str) -> str:
    """A path in an option that helm splits at commas, as in CSV."""
    return '"' + path.replace('"', '""') + '"'


def render_kustomization(directory: str) -> Batch:
    """The objects from `kustomize build` of a directory; a problem if it fails."""
    source = f"kustomize build {directory}"
    if not any((Path(directory) / name).is_file() for name in sources.KUSTOMIZATIONS):
        wanted = " or ".join(sources.KUSTOMIZATIONS[:2])
        return _rendering_problem(
            directory, f"not a directory with {wanted}; give its files as PATH instead of with -k"
        )
    kustomize, kubectl = installed_programs.find_program("kustomize"), installed_programs.find_program("kubectl")
    if not kustomize and not kubectl:
        return _rendering_problem(
            directory,
            "-k needs kustomize or kubectl, and neither is installed; or: kustomize build DIR | usher check -",
        )
    reason = next(_why_not_kustomized(directory), "")
    if reason:
        return _rendering_problem(source, reason)
    program = [kustomize, "build"] if kustomize else [str(kubectl), "kustomize"]
    return _rendered([*program, _absolute(directory), "--load-restrictor=LoadRestrictionsRootOnly"], source)


_FOLDERS: Final = frozenset({"resources", "bases", "components", "generators", "transformers", "validators"})
"""Fields of a kustomization whose entries may be other folders, in any case, as Go reads JSON."""
_PLUGINS: Final = frozenset({"generators", "transformers", "validators"})
"""Fields whose entries configure what a kustomization does, in files or in its text."""
_FILES: Final = _FOLDERS | {
    *("path", "files", "envs", "env", "crds", "configurations", "patchesstrategicmerge"),
    *("valuesfile", "additionalvaluesfiles", "repo"),
}
"""Fields whose texts kustomize loads."""
_URL: Final = memo.pattern(r"\s*(?:[^=\s]*=)?\s*[a-z][a-z0-9+.-]*:(?!\s)", re.IGNORECASE)


def _why_not_kustomized(directory: str) -> Iterator[str]:
    """Why a kustomization may not be rendered, by each of its parts."""
    tree, seen, pending = _tree_of(directory), set[str](), [os.path.realpath(directory)]
    if programs.leads_outside(directory, tree):
        yield f"{directory} is a link that leads out of the tree"
    while pending:
        here = pending.pop()
        if here in seen:
            continue
        seen.add(here)
        if len(seen) > _MOST_ENTRIES:
            yield f"{directory} has more than {_MOST_ENTRIES:,} bases"
            return
        for name in sources.KUSTOMIZATIONS:
            file = Path(here) / name
            if not file.exists():
                continue
            found = _Kustomization(file=file, tree=tree)
            yield from found.reasons()
            pending += found.folders()


class _Kustomization(Struct, frozen=True, kw_only=True):
    """A file with what a folder renders."""

    file: Path
    tree: Path

    def reasons(self) -> Iterator[str]:
        """Why it may not be rendered."""
        values, reason = _documents(self.file, self.tree)
        if reason:
            yield reason
        for value in values:
            yield from (f"{self.file}: {text} is on a server, and usher fetches nothing" for text in _remote(value))
        for field, entry in self._entries(values):
            yield from self._reasons_of(field, entry)

    def folders(self) -> Iterator[str]:
        """The folders whose kustomizations it renders."""
        for _, entry in self._entries(_documents(self.file, self.tree)[0]):
            place = self.file.parent / entry
            if "\n" not in entry and place.is_dir():
                yield os.path.realpath(place)

    def _entries(self, values: Iterable[paths.Json]) -> Iterator[tuple[str, str]]:
        for value in values:
            for key, each in value.items() if isinstance(value, dict) else ():
                field = key.lower()
                if field in _FOLDERS and isinstance(each, list):
                    yield from ((field, entry) for entry in each if isinstance(entry, str))

    def _reasons_of(self, field: str, entry: str) -> Iterator[str]:
        """Why an entry may not be rendered."""
        if "\n" in entry:
            found = reader.parse_each(entry, source=str(self.file))
            if found.errors:
                yield f"{self.file}: {found.errors[0].reason}"
            for document in found.documents:
                yield from (f"{self.file}: {text} is on a server" for text in _remote(document.value))
            return
        place = self.file.parent / entry
        if not os.path.lexists(place):
            yield f"{self.file}: {entry} does not exist here, and usher fetches no remote bases"
        elif programs.leads_outside(place, self.tree):
            yield (
                f"{self.file}: {entry} leads out of {self.tree}, which usher does not read; run usher in the folder "
                "that holds both"
            )
        elif field in _PLUGINS and place.is_file():
            values, reason = _documents(place, self.tree)
            if reason:
                yield reason
            for value in values:
                yield from (f"{place}: {text} is on a server, and usher fetches nothing" for text in _remote(value))


def _documents(file: Path, tree: Path) -> tuple[list[paths.Json], str]:
    """The documents of a file that configures kustomize, or the reason why they cannot be read."""
    if programs.leads_outside(file, tree):
        return [], f"{file} is a link that leads out of the tree"
    try:
        with file.open("rb") as stream:
            content = stream.read(chunks.MAX_FILE_BYTES + 1)
    except OSError as error:
        return [], f"{file}: cannot be read: {error.strerror}"
    found = reader.parse_each(content, source=str(file))
    return [each.value for each in found.documents], f"{file}: {found.errors[0].reason}" if found.errors else ""


def _remote(value: paths.Json) -> Iterator[str]:
    """The texts at places where kustomize loads a file, and that are addresses of servers."""
    pending: list[tuple[bool, paths.Json]] = [(False, value)]
    while pending:
        is_file, each = pending.pop()
        if isinstance(each, Mapping):
            pending += [(key.lower() in _FILES, below) for key, below in each.items()]
        elif isinstance(each, list):
            pending += [(is_file, below) for below in each]
        elif is_file and isinstance(each, str) and "\n" not in each and _URL.match(each):
            yield each


def _tree_of(path: str) -> Path:
    """The tree of a chart or a kustomization: its repository, else the working directory, else the path itself."""
    absolute = Path(_absolute(path))
    top = programs.repository_top(absolute)
    if top is not None:
        return top
    return Path.cwd() if not programs.leads_outside(absolute.parent, Path.cwd()) else absolute


def _absolute(path: str) -> str:
    """A path that begins with `/`, so that no program takes it for an option or an address."""
    return os.path.abspath(path)  # noqa: PTH100 - pathlib follows links


def _rendered(command: Sequence[str], source: str) -> Batch:
    try:
        with tempfile.TemporaryDirectory() as home:
            content = programs.program_output(command, environment={**_CLEAN, "HOME": home, "TMPDIR": home})
    except errors.InputError as error:
        reason = str(error)
        if "unknown flag: --skip-schema-validation" in reason:
            reason = "--helm needs helm 3.16 or newer: older ones read what the schema of a chart refers to"
        return _rendering_problem(source, reason)
    return sources.parse_content(content, source=source, explicit=True)


def _rendering_problem(source: str, reason: str) -> Batch:
    return Batch(source=source, problems=(Problem(source=source, reason=reason),), is_file=False)
