"""Objects without pods of which rules read a few fields."""

import pytest

import builders
from usher import paths
from usher.accelerators.vocabulary import Vocabulary
from usher.config import models
from usher.workloads.normalise import normalise

VOCABULARY = Vocabulary(models.Accelerators())


def namespace_of(value: paths.Object) -> str:
    found = normalise(value, vocabulary=VOCABULARY, namespace="asked-in")
    assert found is not None
    return found.namespace


def test_a_namespace_is_judged_by_what_is_said_of_it() -> None:
    assert namespace_of(builders.custom("v1", "Namespace", {}, name="ml-research", namespace=None)) == "ml-research"


@pytest.mark.parametrize(
    ("api_version", "kind", "namespace"),
    [
        ("v1", "ResourceQuota", "asked-in"),
        ("v1", "Node", ""),
        ("scheduling.k8s.io/v1", "PriorityClass", ""),
        ("kueue.x-k8s.io/v1beta2", "ClusterQueue", ""),
    ],
)
def test_what_belongs_to_no_namespace_is_judged_in_none(api_version: str, kind: str, namespace: str) -> None:
    assert namespace_of(builders.custom(api_version, kind, {}, name="one", namespace=None)) == namespace


def test_a_version_that_is_not_known_is_not_judged() -> None:
    found = normalise(builders.custom("kueue.x-k8s.io/v9", "ClusterQueue", {}), vocabulary=VOCABULARY)

    assert found is not None
    assert found.view == {}
    assert [unknown.path for unknown in found.unknowns] == ["/apiVersion"]
