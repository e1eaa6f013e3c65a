"""The manifests of a corpus, each with what its index says of it."""

import csv
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from shared_files import Corpus
from unit.workloads.normalised import VOCABULARY
from usher import model, paths
from usher.kinds.reading.values import Objects
from usher.workloads.normalise import normalise


class Document(NamedTuple):
    file: str
    place: str
    kind: str
    value: paths.Object
    hint: str
    """`yes`, `no` or `unknown`: whether it asks for accelerators."""
    objects: Objects
    """The objects of the same file."""


def as_json(value: Any) -> paths.Json:
    """A document of YAML with the types that JSON has."""
    if isinstance(value, dict):
        return {str(key): as_json(child) for key, child in value.items()}
    if isinstance(value, list):
        return [as_json(child) for child in value]
    if isinstance(value, date):
        return value.isoformat()
    return value  # type: ignore[no-any-return]  # the rest is a scalar of JSON


@cache
def documents(corpus: Corpus) -> tuple[Document, ...]:
    rows = defaultdict(list)
    with (corpus.folder / "INDEX.tsv").open(encoding="utf-8", newline="") as index:
        for row in csv.DictReader(index, delimiter="\t"):
            rows[row["path"]].append(row)
    return tuple(
        document for path, rows_of_file in rows.items() for document in _documents_of(corpus, path, rows_of_file)
    )


def _documents_of(corpus: Corpus, path: str, rows: list[dict[str, str]]) -> Iterator[Document]:
    values = list(read(corpus.folder / path))
    objects = Objects(values)
    for row, value in zip(rows, values, strict=True):
        kind = f"{row['group']}/{row['kind']}"
        yield Document(path, f"{path}: {row['name']}", kind, value, row["has_accelerator_request"], objects)


def read(file: Path) -> Iterator[paths.Object]:
    with file.open("rb") as stream:
        for document in yaml.load_all(stream, Loader=yaml.CSafeLoader):
            value = as_json(document)
            if isinstance(value, dict):
                yield value


def workload(document: Document) -> model.Workload | None:
    return normalise(document.value, vocabulary=VOCABULARY, objects=document.objects)


def without_namespace(value: paths.Object) -> paths.Object:
    """The object in whatever namespace it is asked about."""
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        return value
    return {**value, "metadata": {key: field for key, field in metadata.items() if key != "namespace"}}
