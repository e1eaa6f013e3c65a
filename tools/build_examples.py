"""Turns the example manifests of all checks and mutations into input documents for the Rego tests.

They go through the same normaliser as everything else, so that no test rests on an input that nobody could send.
Run it through scripts/policies.
"""

import argparse
from pathlib import Path
from typing import Any

import orjson
import yaml

from usher.accelerators.vocabulary import Vocabulary
from usher.config import models
from usher.policy import document
from usher.workloads.lookup import Absence
from usher.workloads.normalise import normalise


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policies", type=Path, required=True)
    policies: Path = parser.parse_args().policies
    tree: dict[str, Any] = {}
    for folder in sorted((policies / "usher").glob("*/*/*/examples")):
        kind, category, name = folder.relative_to(policies / "usher").parts[:3]
        config = configuration(folder)
        for file in sorted(folder.glob("*.yaml")):
            if file.name != "usher.yaml":
                tree.setdefault(kind, {}).setdefault(category, {}).setdefault(name, {})[file.stem] = input_document(
                    file, config
                )
    text = orjson.dumps({"examples": tree}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    (policies / "examples.json").write_bytes(text)


def configuration(folder: Path) -> models.Config:
    file = folder / "usher.yaml"
    return models.Config.model_validate(yaml.safe_load(file.read_text())) if file.exists() else models.Config()


def input_document(file: Path, config: models.Config) -> object:
    vocabulary = Vocabulary(config.accelerators)
    workload = normalise(yaml.safe_load(file.read_text()), vocabulary=vocabulary)
    # What an example refers to is not known to the API server's webhooks either.
    misread = [each for each in workload.unknowns if Absence.NOT_KNOWN.value not in each.reason] if workload else []
    if workload is None or misread:
        raise SystemExit(f"{file}: not a workload that can be read: {misread}")
    return orjson.loads(document.Documents(config, vocabulary).build(workload))


if __name__ == "__main__":
    main()
