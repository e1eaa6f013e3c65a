"""Real manifests of GPU and AI workloads, as their projects publish them."""

import csv
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from unit.workloads.normalised import VOCABULARY
from usher import model, paths
from usher.reading.lookup import Objects
from usher.workloads.normalise import normalise

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of manifests, ../shared/corpus, is not here")

WORKERS = "KServe writes GPUs into a runtime with a workerSpec, which the object itself does not show"

DISAGREEING = {
    "GoogleCloudPlatform+container-engine-accelerators/demo/tpu-training/inception-v3-tpu.yaml: inception-v3-tpu": (
        "asks for cloud-tpus.google.com/v2, a resource that GKE gave up"
    ),
    "NVIDIA+k8s-dra-driver-gpu/demo/specs/quickstart/v1/gpu-test-vfio-config.yaml: pod1-full-vfioconfig": (
        "its template of claims stands in another namespace, where the pod will not find it"
    ),
    **{
        f"kserve+kserve/{file}.yaml: kserve-huggingfaceserver-multinode": WORKERS
        for file in (
            "config/runtimes/kserve-huggingfaceserver-multinode",
            "install/v0.18.0/kserve-cluster-resources",
            "install/v0.19.0-rc0/kserve-cluster-resources",
        )
    },
}
"""Documents of known kinds in which we and the index see something else, and why."""

NOT_SEEN = {
    "resource.k8s.io/ResourceClaim": "makes no pods",
    "resource.k8s.io/ResourceClaimTemplate": "makes no pods",
    "scheduling.k8s.io/PodGroup": "makes no pods",
}
"""Kinds that ask for accelerators without being workloads, and why."""


class Document(NamedTuple):
    file: str
    place: str
    kind: str
    value: paths.Object
    hint: str
    """`yes`, `no` or `unknown`: whether it asks for accelerators."""
    objects: Objects
    """Those of the same file."""


def as_json(value: Any) -> paths.Json:
    """What YAML makes of a document, with the types that JSON has."""
    if isinstance(value, dict):
        return {str(key): as_json(child) for key, child in value.items()}
    if isinstance(value, list):
        return [as_json(child) for child in value]
    if isinstance(value, date):
        return value.isoformat()
    return value  # type: ignore[no-any-return]  # what is left is a scalar of JSON


@cache
def documents() -> tuple[Document, ...]:
    rows = defaultdict(list)
    with (CORPUS / "INDEX.tsv").open(encoding="utf-8", newline="") as index:
        for row in csv.DictReader(index, delimiter="\t"):
            rows[row["path"]].append(row)
    return tuple(document for path, rows_of_file in rows.items() for document in _documents_of(path, rows_of_file))


def _documents_of(path: str, rows: list[dict[str, str]]) -> Iterator[Document]:
    values = list(read(CORPUS / path))
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


def asks_accelerators(found: model.Workload) -> bool:
    return any(pod_set.asks_accelerators for pod_set in found.pod_sets)


def test_every_document_is_read_in_the_kind_that_the_index_names() -> None:
    for document in documents():
        found = workload(document)
        if found is not None:
            assert f"{found.group}/{found.kind}" == document.kind


def test_known_kinds_ask_for_accelerators_where_the_index_says_so() -> None:
    disagreeing = set()
    for document in documents():
        found = workload(document)
        if found is None or not found.pod_sets or document.hint == "unknown":
            continue
        if asks_accelerators(found) != (document.hint == "yes"):
            disagreeing.add(document.place)

    assert disagreeing == set(DISAGREEING)


def test_no_document_that_asks_for_accelerators_passes_as_none_but_of_the_kinds_that_are_listed() -> None:
    passing = set()
    for document in documents():
        found = workload(document)
        if document.hint == "yes" and not (found and found.makes_pods):
            passing.add(document.kind)

    assert passing == set(NOT_SEEN)


def test_what_stands_for_a_number_until_it_is_filled_in_is_unknown() -> None:
    (found,) = (
        workload(document)
        for document in documents()
        if document.place.endswith("FSDP/kubernetes/llama3_1_8b-fsdp.yaml: llama3-1-8b-fsdp")
    )

    assert found is not None
    assert not asks_accelerators(found)
    worker = "/spec/pytorchReplicaSpecs/Worker"
    resources = worker + "/template/spec/containers/0/resources"
    assert {unknown.path for unknown in found.unknowns} == {
        worker + "/replicas",
        *(
            f"{resources}/{kind}/{name}"
            for kind in ("requests", "limits")
            for name in ("nvidia.com~1gpu", "vpc.amazonaws.com~1efa")
        ),
    }
