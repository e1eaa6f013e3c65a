"""Anonymous records hold no names, and equal names stay equal."""

from typing import Any, Final

import orjson

import builders
from reviews import body
from usher import paths
from usher.review.admission_review import Review, parse
from usher.review.records import AnonymousNames

KEY: Final = b"0123456789abcdef"


def anonymised(value: paths.Object, *, key: bytes = KEY, **request: Any) -> Review:
    return AnonymousNames(key).review(parse(body(value, **request)))


def job(name: str = "bert", namespace: str = "acme") -> paths.Object:
    template = builders.template(
        builders.container(gpus=8, image="registry.acme.example/bert:1"), serviceAccountName="acme-trainer"
    )
    return builders.job(template, name=name, namespace=namespace, labels={"team": "acme-nlp"})


def written(review: Review) -> str:
    return orjson.dumps([review.name, review.namespace, review.value, review.user and review.user.name]).decode()


def test_no_name_of_the_site_stays() -> None:
    text = written(anonymised(job(), userInfo={"username": "alice@acme.example", "groups": ["acme-nlp"]}))

    assert [word for word in ("acme", "bert", "alice", "nlp") if word in text] == []
    assert "nvidia.com/gpu" in text


def test_equal_names_stay_equal_and_others_stay_different() -> None:
    first, second, third = anonymised(job()), anonymised(job()), anonymised(job("other"))

    assert (first.name, first.namespace, first.value) == (second.name, second.namespace, second.value)
    assert third.name != first.name
    assert third.namespace == first.namespace
    assert anonymised(job(), key=KEY[::-1]).name != first.name


def test_an_owner_and_its_pods_still_belong_together() -> None:
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": "bert", "uid": "u-1", "controller": True}
    pod = builders.pod(name="bert-0", namespace="acme")
    metadata: Any = pod["metadata"]
    metadata["ownerReferences"] = [reference]
    owner = job()
    owner_metadata: Any = owner["metadata"]
    owner_metadata["uid"] = "u-1"

    hidden: Any = anonymised(pod).value
    above = anonymised(owner)
    metadata_above: Any = above.value
    (found,) = hidden["metadata"]["ownerReferences"]

    assert found["name"] == above.name
    assert found["uid"] == metadata_above["metadata"]["uid"]


def test_the_accounts_of_kubernetes_stay_because_rules_know_them() -> None:
    groups = ["system:masters", "system:serviceaccounts:acme", "acme-admins"]
    controller = "system:serviceaccount:kube-system:job-controller"

    user = anonymised(job(), userInfo={"username": controller, "groups": groups}).user
    tenant = anonymised(job(), userInfo={"username": "system:serviceaccount:acme:runner", "groups": []}).user

    assert user is not None
    assert tenant is not None
    assert user.name == controller
    assert user.groups[0] == "system:masters"
    assert "acme" not in " ".join(user.groups)
    assert tenant.name.startswith("system:serviceaccount:n-")
    assert "runner" not in tenant.name
