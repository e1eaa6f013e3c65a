"""Manifests of workloads: our own of every kind, and those of public projects where they are there."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

import indexed_manifests
import shared_files
from e2e.cluster import Object
from usher.kinds.kind import Kind

_OF_THE_SERVER: Final = {"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}
_OF_JOBS: Final = ("batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name")
"""Labels that the API server makes up for each Job."""

_OF_EVERY_KIND: Final = Path(__file__).parents[1] / "data" / "mutations"


@cache
def manifests() -> Mapping[tuple[str, str], list[Object]]:
    """By group and kind, our own first."""
    found: dict[tuple[str, str], list[Object]] = defaultdict(list)
    for file in _files():
        for value in _read(file):
            if isinstance(value.get("kind"), str):
                group = str(value.get("apiVersion", "")).rpartition("/")[0]
                found[group, value["kind"]].append(value)
    return found


def _files() -> Iterator[Path]:
    yield from sorted(_OF_EVERY_KIND.glob("*/*.yaml"))
    for corpus in shared_files.available():
        yield from sorted(corpus.folder.rglob("*.yaml"))


def _read(file: Path) -> list[Object]:
    """The documents of a file; no documents if it is not YAML."""
    try:
        return list(indexed_manifests.read(file))
    except yaml.YAMLError:
        return []


def placed(value: Object, kind: Kind, namespace: str) -> Object:
    """The object under a name that does no harm, in a namespace of the tests."""
    metadata: Any = {**(value.get("metadata") or {}), "name": "sample"}
    for field in ("namespace", "generateName", "ownerReferences"):
        metadata.pop(field, None)
    if not kind.cluster_scoped:
        metadata["namespace"] = namespace
    return {**value, "metadata": metadata}


def as_written(created: Object) -> Object:
    """The created object as a user would write it, so that it can be created again."""
    value: Object = {name: field for name, field in created.items() if name != "status"}
    value["metadata"] = {name: field for name, field in created["metadata"].items() if name not in _OF_THE_SERVER}
    if (created["apiVersion"], created["kind"]) == ("batch/v1", "Job") and not created["spec"].get("manualSelector"):
        value["spec"] = {name: field for name, field in created["spec"].items() if name != "selector"}
        for holder in (value, value["spec"]["template"]):
            labels = holder["metadata"].get("labels", {})
            holder["metadata"]["labels"] = {key: each for key, each in labels.items() if key not in _OF_JOBS}
    return value
