"""Renders manifests with kustomize and helm."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from usher import errors
from usher.dataclass import dataclass
from usher.scan import parsing, programs
from usher.scan.batches import Batch
from usher.scan.findings import Problem

_KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")


@dataclass(frozen=True, slots=True, kw_only=True)
class Charts:
    """Helm charts to render, with their values."""

    charts: Sequence[str] = ()
    """Directories, archives, or references that the installed helm resolves."""
    values: Sequence[str] = ()
    """Files of values; later ones override earlier ones."""
    namespace: str = "default"


def kustomized(directory: str) -> Batch:
    """The objects from `kustomize build` of a directory; a problem if it fails."""
    source = f"kustomize build {directory}"
    if not any((Path(directory) / name).is_file() for name in _KUSTOMIZATIONS):
        wanted = " or ".join(_KUSTOMIZATIONS[:2])
        return _problem(directory, f"not a directory with {wanted}; give its files as PATH instead of with -k")
    kustomize, kubectl = programs.find("kustomize"), programs.find("kubectl")
    if kustomize:
        command = [kustomize, "build", directory]
    elif kubectl:
        command = [kubectl, "kustomize", directory]
    else:
        return _problem(
            directory,
            "-k needs kustomize or kubectl, and neither is installed; or: kustomize build DIR | usher check -",
        )
    return _rendered(command, source)


def charted(given: Charts) -> list[Batch]:
    """The objects of each chart from `helm template`."""
    helm = programs.find("helm")
    if given.charts and not helm:
        reason = "--helm needs helm, which is not installed; or: helm template CHART | usher check -"
        return [_problem(chart, reason) for chart in given.charts]
    options = [f"--namespace={given.namespace}", *(f"--values={each}" for each in given.values)]
    return [
        _rendered([str(helm), "template", "release-name", chart, *options], f"helm template {chart}")
        for chart in given.charts
    ]


def _rendered(command: Sequence[str], source: str) -> Batch:
    try:
        content = programs.output(command)
    except errors.InputError as error:
        return _problem(source, str(error))
    return parsing.parsed(content, source=source, explicit=True)


def _problem(source: str, reason: str) -> Batch:
    return Batch(source=source, problems=(Problem(source=source, reason=reason),), is_file=False)
