"""Manifests of every kind, as people write them and as the mutations leave them: the API server takes every field."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import record_mutations
from record_mutations import NAMESPACES, Subject

from e2e import crds
from e2e.cluster import ApiError, Cluster, Object
from generated_examples import in_turn
from usher.kinds.registry import WORKLOADS
from usher.policy.evaluator import Evaluator

pytestmark = pytest.mark.uses_definitions

FOLDER = Path(__file__).parents[1] / "data/mutations"

SUBJECTS = [
    subject
    for kind in WORKLOADS.values()
    if crds.is_served(kind)
    for subject in record_mutations.subjects(kind, FOLDER)
]


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return record_mutations.evaluator_of(FOLDER)


@pytest.fixture(scope="module")
def site(cluster: Cluster, evaluator: Evaluator) -> Iterator[Cluster]:
    """With the kinds, and with the namespaces and classes that usher.yaml speaks of."""
    crds.install(
        cluster,
        [
            f"{kind.group}/{kind.plural}"
            for kind in WORKLOADS.values()
            if crds.is_served(kind) and kind.group not in crds.BUILT_IN
        ],
    )
    priorities = evaluator.config.priorities
    names = {rule.priority_class for rule in priorities.classes} | {priorities.global_default}
    classes: list[Object] = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 1}
        for name in sorted(filter(None, names))
    ]
    for namespace in NAMESPACES:
        cluster.create_namespace(namespace)
    for each in classes:
        cluster.create(each)
    yield cluster
    for each in classes:
        cluster.delete("PriorityClass", each["metadata"]["name"], api_version=each["apiVersion"])
    for namespace in NAMESPACES:
        cluster.delete_namespace(namespace, wait=False)


@pytest.mark.parametrize(
    "subject",
    in_turn(SUBJECTS, every=4, always=lambda subject: subject.kind.group in crds.BUILT_IN),
    ids=lambda subject: f"{subject.kind.group}/{subject.kind.kind}/{subject.name}",
)
def test_the_api_server_takes_every_field(site: Cluster, evaluator: Evaluator, subject: Subject) -> None:
    for namespace in NAMESPACES:
        asked_in = "" if subject.kind.cluster_scoped else namespace
        after = without_newer_fields(evaluator.mutate(subject.request(asked_in)).value)

        assert refusal(site, subject.value, asked_in) == ""
        assert refusal(site, after, asked_in) == ""


def without_newer_fields(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object without the field of Jobs that API servers have from Kubernetes 1.37 on."""
    if (value["apiVersion"], value["kind"]) != ("batch/v1", "Job"):
        return value
    return {**value, "spec": {key: each for key, each in value["spec"].items() if key != "scheduling"}}


def refusal(cluster: Cluster, value: Mapping[str, Any], namespace: str) -> str:
    """Why the API server does not take an object, or which of its fields it does not know; empty where it takes all."""
    metadata = {**value["metadata"], **({"namespace": namespace} if namespace else {})}
    # An owner that is not there is no concern of these tests.
    metadata.pop("ownerReferences", None)
    try:
        cluster.create({**value, "metadata": metadata}, dry_run=True, strict=True)
    except ApiError as error:
        return error.message
    return ""
