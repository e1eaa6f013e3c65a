"""Manifests in a folder that git may hold, and what git, helm and kustomize need for tests with them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import builders
from integration import command
from usher import paths

TOOLS = Path(__file__).parents[2] / ".tools" / "bin"
GREEDY = builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"})

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
needs_helm = pytest.mark.skipif(not (TOOLS / "helm").exists(), reason="needs .tools/bin/helm (scripts/helm)")
needs_kubectl = pytest.mark.skipif(not (TOOLS / "kubectl").exists(), reason="needs .tools/bin/kubectl (scripts/tools)")

Git = Callable[..., str]


def write(file: Path, *objects: paths.Object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump_all(objects))


def greedy(name: str) -> paths.Object:
    return builders.pod(GREEDY, name=name)


def names(run: command.Run) -> set[str]:
    """The objects of a report."""
    return {each["name"] for each in run.json["workloads"]}
