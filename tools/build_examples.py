"""Turns the example manifests of all checks and mutations into input documents for the Rego tests.

The documents go through the normaliser that the webhook uses, so each is one that a cluster can send. They make
policies/examples.json, which is large and not in git: scripts/rego and scripts/mutants build it, in about a second.
Git holds policies/examples.sha256, with one digest for each check and mutation. scripts/policies writes the digests,
and scripts/check fails when one is stale: a change of the normaliser shows there which documents it changes.
"""

import argparse
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import orjson
import yaml

from usher import errors, paths
from usher.cluster.facts.store import Store
from usher.config import models
from usher.extensions.own_checks import trials
from usher.kinds.reading import values
from usher.policy.checks import metadata

FILE: Final = "examples.json"
DIGESTS: Final = "examples.sha256"

Documents = dict[str, object]
"""The input documents of one check or mutation, by the names of their files without `.yaml`."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policies", type=Path, required=True)
    parser.add_argument("--digests", action="store_true", help="write the digests too, which git holds")
    arguments = parser.parse_args()
    policies: Path = arguments.policies
    found = dict(build(policies))
    (policies / FILE).write_bytes(orjson.dumps({"examples": tree(found)}))
    if arguments.digests:
        (policies / DIGESTS).write_text("".join(digests(found)), encoding="utf-8")


def build(policies: Path) -> Iterator[tuple[str, Documents]]:
    """The input documents of every check and mutation, by its folder below `usher/`."""
    keys = {
        word: entry.key
        for entry in metadata.read_entries(policies)["checks"]
        for word in (entry.code, entry.name, *entry.aliases)
    }
    for folder in sorted((policies / "usher").glob("*/*/*/examples")):
        yield folder.parent.relative_to(policies / "usher").as_posix(), examples(folder.parent, keys)


def tree(found: Mapping[str, Documents]) -> dict[str, dict[str, dict[str, Documents]]]:
    """The documents as the tests find them in `data.examples`: by kind, category and name."""
    nested: dict[str, dict[str, dict[str, Documents]]] = {}
    for place, documents in found.items():
        kind, category, name = place.split("/")
        nested.setdefault(kind, {}).setdefault(category, {})[name] = documents
    return nested


def digests(found: Mapping[str, Documents]) -> Iterator[str]:
    """One line for each check and mutation, in the order of their folders."""
    for place, documents in found.items():
        yield f"{hashlib.sha256(orjson.dumps(documents)).hexdigest()}  {place}\n"


def examples(folder: Path, keys: Mapping[str, str]) -> Documents:
    """The input documents of the manifests of one check or mutation."""
    config, cluster = configuration(folder / "examples"), facts(folder / "examples")
    return {
        file.stem: input_document(file, config, keys, cluster)
        for file in sorted((folder / "examples").glob("*.yaml"))
        if file.name not in BESIDE
    }


BESIDE = ("cluster.yaml", "usher.yaml")
"""Files in the folder of the examples that are not examples: facts of the cluster, and the configuration."""


def facts(folder: Path) -> Store:
    """The facts of the cluster that the examples are for."""
    file = folder / "cluster.yaml"
    return Store.of(yaml.load_all(file.read_bytes(), yaml.CSafeLoader)) if file.exists() else Store()


def configuration(folder: Path) -> models.Config:
    file = folder / "usher.yaml"
    return models.Config.model_validate(read_yaml(file)) if file.exists() else models.Config()


def read_yaml(file: Path) -> Any:  # noqa: ANN401 - a manifest is arbitrary YAML
    """The first document of a file, which is the example itself."""
    return _documents(file)[0]


def _documents(file: Path) -> list[Any]:
    """Read by libyaml, which is many times faster than the parser in Python."""
    return list(yaml.load_all(file.read_bytes(), yaml.CSafeLoader))


def others(file: Path) -> list[paths.Object]:
    """The documents after the example: objects of the same file, which `usher check` knows and a review does not."""
    return _documents(file)[1:]


def objects(file: Path) -> values.Lookup:
    """Looks up the other objects of a file; nothing for a file with one document."""
    return _lookup(_documents(file))


def _lookup(documents: list[Any]) -> values.Lookup:
    return values.Objects(documents) if documents[1:] else values.NO_OBJECTS


def input_document(file: Path, config: models.Config, keys: Mapping[str, str], cluster: Store) -> object:
    """The document that rules see of a manifest, or of an AdmissionReview with a user or an old object."""
    documents = _documents(file)
    try:
        found = trials.input_of_example(documents[0], _lookup(documents), config=config, keys=keys, cluster=cluster)
    except errors.InputError as error:
        raise SystemExit(f"{file}: {error}") from None
    return orjson.loads(found)


if __name__ == "__main__":
    main()
