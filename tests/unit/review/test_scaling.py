"""Requests to `*/scale`, judged as updates of what they scale."""

import orjson
import pytest

import builders
import reviews
from usher import paths
from usher.review import admission_review
from usher.review.admission_review import Review, parse


def review(group: str, plural: str, *, replicas: int | None, sub_resource: str = "scale") -> Review:
    scale: paths.Object = {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "server", "namespace": "search"},
        "spec": {} if replicas is None else {"replicas": replicas},
    }
    resource: paths.Object = {"group": group, "version": "v1", "resource": plural}
    body = reviews.review(scale, operation="UPDATE", old_value=scale, subResource=sub_resource, resource=resource)
    return parse(orjson.dumps(body))


@pytest.mark.parametrize(
    ("group", "plural", "field"),
    [
        ("apps", "deployments", "/spec/replicas"),
        ("leaderworkerset.x-k8s.io", "leaderworkersets", "/spec/replicas"),
        ("kubeflow.org", "pytorchjobs", "/spec/pytorchReplicaSpecs/Worker/replicas"),
        ("example.com", "deployments", ""),
    ],
)
def test_each_kind_keeps_its_number_in_its_own_place(group: str, plural: str, field: str) -> None:
    assert admission_review.scaled_field(review(group, plural, replicas=3)) == field


def test_other_requests_scale_nothing() -> None:
    assert admission_review.scaled_field(review("apps", "deployments", replicas=3, sub_resource="status")) == ""


@pytest.mark.parametrize(("replicas", "number"), [(3, 3), (0, 0), (None, 0)])
def test_a_scale_is_an_update_of_what_it_scales(replicas: int | None, number: int) -> None:
    deployment = builders.deployment(builders.template(builders.container(gpus=1)), replicas=2, name="server")

    asked = admission_review.as_update_of_scaled(review("apps", "deployments", replicas=replicas), deployment)

    assert asked.kind == "Deployment"
    assert asked.sub_resource == ""
    assert asked.old_value == deployment
    assert asked.value == builders.replaced(deployment, "/spec/replicas", number)
    assert asked.operation.value == "UPDATE"
    assert admission_review.request_of(asked).scaled
