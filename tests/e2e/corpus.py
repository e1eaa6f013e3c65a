"""Real manifests of public projects, beside the checkout; not part of the project."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e import crds
from e2e.cluster import Object
from usher.kinds.kind import Kind

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"

needed = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of manifests, ../shared/corpus, is not here")


def is_defined(kind: Kind) -> bool:
    """Whether its definition is among the published ones."""
    return (crds.PUBLISHED / kind.group / f"{kind.plural}.yaml").is_file()


@cache
def manifests() -> Mapping[tuple[str, str], list[Object]]:
    """All of the corpus, by group and kind."""
    found: dict[tuple[str, str], list[Object]] = defaultdict(list)
    for file in sorted(CORPUS.rglob("*.yaml")):
        with file.open("rb") as stream:
            for value in yaml.load_all(stream, Loader=yaml.CSafeLoader):
                if isinstance(value, dict) and isinstance(value.get("kind"), str):
                    group = str(value.get("apiVersion", "")).rpartition("/")[0]
                    found[group, value["kind"]].append(value)
    return found


def placed(value: Object, kind: Kind, namespace: str) -> Object:
    """The object under a name that does no harm, in a namespace of the tests."""
    metadata: Any = {**(value.get("metadata") or {}), "name": "sample"}
    for field in ("namespace", "generateName", "ownerReferences"):
        metadata.pop(field, None)
    if not kind.cluster_scoped:
        metadata["namespace"] = namespace
    return {**value, "metadata": metadata}
