"""A policy sees an object, and the objects that it compares with."""

import orjson
import pytest

from usher import errors, paths
from usher.extensions.gatekeeper import evaluation
from usher.extensions.gatekeeper.constraint_templates import Written

DEPLOYMENT: paths.Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"replicas": 2},
}
NAMESPACE: paths.Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}


def of_review(**request: paths.Json) -> evaluation.Review:
    value: paths.Object = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return evaluation.review_of_admission_review(Written(value=value, source="review.yaml"))


def test_an_object_becomes_the_request_that_gatekeeper_makes_of_it() -> None:
    assert evaluation.review_of_object(DEPLOYMENT, operation="CREATE", namespace=NAMESPACE).document == {
        "uid": "",
        "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "resource": {"group": "", "version": "", "resource": ""},
        "name": "web",
        "namespace": "shop",
        "operation": "CREATE",
        "userInfo": {},
        "object": DEPLOYMENT,
        "oldObject": None,
        "options": None,
        "namespaceObject": NAMESPACE,
    }


def test_an_object_of_the_cluster_has_no_namespace() -> None:
    document = evaluation.review_of_object(NAMESPACE).document

    assert document["kind"] == {"group": "", "version": "v1", "kind": "Namespace"}
    assert "namespace" not in document


def test_an_admission_review_is_taken_as_it_is() -> None:
    found = of_review(operation="UPDATE", userInfo={"username": "alice"}, object=DEPLOYMENT, oldObject=NAMESPACE)

    assert found.document["operation"] == "UPDATE"
    assert found.document["userInfo"] == {"username": "alice"}
    assert [subject.value for subject in found.subjects] == [DEPLOYMENT, NAMESPACE]


def test_a_deletion_judges_the_object_that_goes() -> None:
    found = of_review(operation="DELETE", oldObject=DEPLOYMENT)

    assert found.document["object"] == DEPLOYMENT
    assert found.document["oldObject"] == DEPLOYMENT


@pytest.mark.parametrize("operation", ["DELETE", "CREATE"])
def test_a_review_without_an_object_is_an_error(operation: str) -> None:
    with pytest.raises(errors.InputError, match=r"review\.yaml: request\.(object|oldObject): is missing"):
        of_review(operation=operation)


def test_an_object_is_matched_with_its_namespace_where_that_is_known() -> None:
    other: paths.Object = {**NAMESPACE, "metadata": {"name": "bank"}}

    found = evaluation.review_with_namespaces(evaluation.review_of_object(DEPLOYMENT), [other, NAMESPACE])

    assert [subject.namespace for subject in found.subjects] == [NAMESPACE]
    assert evaluation.review_with_namespaces(
        evaluation.review_of_object(DEPLOYMENT), [other]
    ) == evaluation.review_of_object(DEPLOYMENT)


def test_the_inventory_holds_objects_by_place_version_kind_and_name() -> None:
    assert orjson.loads(evaluation.inventory_data([DEPLOYMENT, NAMESPACE])) == {
        "inventory": {
            "namespace": {"shop": {"apps/v1": {"Deployment": {"web": DEPLOYMENT}}}},
            "cluster": {"v1": {"Namespace": {"shop": NAMESPACE}}},
        }
    }


def test_an_inventory_beyond_the_limit_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "LARGEST_INVENTORY", 100)

    with pytest.raises(errors.InputError, match="usher takes 100; check fewer files at once"):
        evaluation.inventory_data([DEPLOYMENT])
