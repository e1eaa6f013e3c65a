"""The definitions (CRDs) of kinds: those that projects publish where they are there (shared_files.py), else our own.

Ours, in tests/data/crds, are small: group, names, versions, scope and subresources as published, and any spec is taken.
"""

from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

import generated_examples
import shared_files

PUBLISHED: Final = shared_files.FOLDER / "crds"
OWN: Final = Path(__file__).parent / "data" / "crds"


def file_of(group: str, plural: str) -> Path | None:
    """The definition of a kind; None where there is neither a published one nor one of ours."""
    folders = [PUBLISHED, OWN] if shared_files.is_there() else [OWN]
    return next((file for folder in folders if (file := folder / group / f"{plural}.yaml").is_file()), None)


def quick_file_of(group: str, plural: str) -> Path | None:
    """The definition for an API server: ours first in a change, because it needs minutes to take the published ones.

    At night, and with a folder in USHER_TEST_CORPUS, it is that of `file_of`.
    """
    own = OWN / group / f"{plural}.yaml"
    quick = not generated_examples.are_thorough() and not shared_files.is_chosen()
    return own if quick and own.is_file() else file_of(group, plural)


def files() -> list[Path]:
    """All that are published, where they are there, and ours of all other kinds."""
    folders = [OWN, PUBLISHED] if shared_files.is_there() else [OWN]
    return sorted({file.relative_to(folder): file for folder in folders for file in folder.rglob("*.yaml")}.values())


class Definition(NamedTuple):
    """A version of a kind."""

    group: str
    kind: str
    plural: str
    scope: str
    version: str
    served: bool
    stored: bool
    status: bool
    """Whether its status is written apart."""
    replicas: str
    """The field that its `/scale` writes, as a JSON Pointer; empty where it has no scale."""


def definitions() -> list[Definition]:
    return [version for file in files() for version in versions(file)]


@cache
def versions(file: Path) -> tuple[Definition, ...]:
    spec: Any = yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)["spec"]
    return tuple(_definition(spec, version) for version in spec["versions"])


def _definition(spec: Any, version: Any) -> Definition:
    subresources = version.get("subresources", {})
    return Definition(
        group=spec["group"],
        kind=spec["names"]["kind"],
        plural=spec["names"]["plural"],
        scope=spec["scope"],
        version=version["name"],
        served=version["served"],
        stored=version["storage"],
        status="status" in subresources,
        replicas=subresources.get("scale", {}).get("specReplicasPath", "").replace(".", "/"),
    )
