"""Turns the example manifests of all checks and mutations into input documents for the Rego tests.

They go through the same normaliser as everything else, so that no test rests on an input that nobody could send.
Run it through scripts/policies.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import yaml

from usher.accelerators.vocabulary import Vocabulary
from usher.authorities.authority import Case
from usher.authorities.knowledge import Knowledge
from usher.config import models
from usher.facts.store import Store
from usher.policy.checks import metadata
from usher.policy.input import document
from usher.policy.request import Identities, User
from usher.reading.lookup import Absence
from usher.workloads.normalise import normalise


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policies", type=Path, required=True)
    policies: Path = parser.parse_args().policies
    keys = {
        word: entry.key
        for entry in metadata.read_all(policies)["checks"]
        for word in (entry.code, entry.name, *entry.aliases)
    }
    tree: dict[str, Any] = {}
    for folder in sorted((policies / "usher").glob("*/*/*/examples")):
        kind, category, name = folder.relative_to(policies / "usher").parts[:3]
        tree.setdefault(kind, {}).setdefault(category, {})[name] = examples(folder.parent, keys)
    text = orjson.dumps({"examples": tree}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    (policies / "examples.json").write_bytes(text)


def examples(folder: Path, keys: Mapping[str, str]) -> dict[str, object]:
    """The input documents of the manifests of one check or mutation, by the names of their files."""
    config, cluster = configuration(folder / "examples"), facts(folder / "examples")
    return {
        file.stem: input_document(file, config, keys, cluster)
        for file in sorted((folder / "examples").glob("*.yaml"))
        if file.name not in BESIDE
    }


BESIDE = ("cluster.yaml", "usher.yaml")
"""What stands beside examples and is none: facts of the cluster, and the configuration."""


def facts(folder: Path) -> Store:
    """What is known of the cluster that the examples are for."""
    file = folder / "cluster.yaml"
    return Store.of(yaml.safe_load_all(file.read_text())) if file.exists() else Store()


def configuration(folder: Path) -> models.Config:
    file = folder / "usher.yaml"
    return models.Config.model_validate(yaml.safe_load(file.read_text())) if file.exists() else models.Config()


def input_document(file: Path, config: models.Config, keys: Mapping[str, str], cluster: Store) -> object:
    """What the rules see of a manifest, or of an AdmissionReview where it matters who asks or what was there before."""
    vocabulary = Vocabulary(config.accelerators)
    value = yaml.safe_load(file.read_text())
    request = value["request"] if value["kind"] == "AdmissionReview" else {"object": value}
    namespace = request.get("namespace", "")
    workload = normalise(request["object"], vocabulary=vocabulary, namespace=namespace, objects=cluster)
    # What an example refers to is not known to the API server's webhooks either.
    misread = [each for each in workload.unknowns if Absence.NOT_KNOWN.value not in each.reason] if workload else []
    if workload is None or misread:
        raise SystemExit(f"{file}: not an object that can be read: {misread}")
    old = request.get("oldObject")
    user = request.get("userInfo")
    review: document.Review | None = None
    by = Identities(config).of(
        None if user is None else User(name=user["username"], groups=tuple(user.get("groups", ())))
    )
    if by is not None:
        review = {"operation": request["operation"], "subResource": request.get("subResource", ""), "by": list(by)}
    documents = document.Documents(config, vocabulary, keys=keys)
    old_workload = None if old is None else normalise(old, vocabulary=vocabulary, namespace=namespace)
    slice_ = documents.slices.of(
        Case(workload=workload), Knowledge(facts=cluster, config=config, vocabulary=vocabulary)
    )
    return orjson.loads(documents.build(workload, old=old_workload, review=review, cluster=slice_))


if __name__ == "__main__":
    main()
