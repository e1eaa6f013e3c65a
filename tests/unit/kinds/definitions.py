"""The definitions (CRDs) that the projects publish, read once for all tests."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

CRDS = Path(__file__).parents[4] / "shared" / "crds"

needed = pytest.mark.skipif(not CRDS.is_dir(), reason="the published CRDs, ../shared/crds, are not here")


class Definition(NamedTuple):
    group: str
    kind: str
    plural: str
    scope: str
    version: str
    served: bool
    replicas: str
    """The field that its `/scale` writes, as a JSON Pointer; empty where it has no scale."""


@cache
def definitions() -> tuple[Definition, ...]:
    """One for each version of each kind."""
    return tuple(definition for file in sorted(CRDS.rglob("*.yaml")) for definition in _read(file))


def _read(file: Path) -> Iterator[Definition]:
    value: Any = yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)
    spec = value["spec"]
    names = spec["names"]
    for version in spec["versions"]:
        replicas = version.get("subresources", {}).get("scale", {}).get("specReplicasPath", "")
        yield Definition(
            group=spec["group"],
            kind=names["kind"],
            plural=names["plural"],
            scope=spec["scope"],
            version=version["name"],
            served=version["served"],
            replicas=replicas.replace(".", "/"),
        )
