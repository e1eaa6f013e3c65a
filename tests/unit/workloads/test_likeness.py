"""Pods that are alike are given one patch, which is the one that each would be given by itself."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import builders
from unit.mutation import generated
from usher import paths
from usher.config import models
from usher.mutation.editing import copied
from usher.policy import assembly
from usher.policy.evaluator import Request
from usher.workloads import fingerprints

EVALUATOR = assembly.embedded(models.Config())


def pod(name: str, *, token: str = "abcde", uid: str = "1") -> paths.Object:
    made = builders.pod(
        builders.container(gpus=1), name=name, volumes=[{"name": f"kube-api-access-{token}", "projected": {}}]
    )
    return builders.replaced(made, "/metadata/uid", uid)


def test_pods_that_differ_in_name_identity_and_token_are_alike() -> None:
    assert fingerprints.key(pod("a")) == fingerprints.key(pod("b", token="fghij", uid="2"))


def test_pods_that_differ_in_anything_else_are_not() -> None:
    one = pod("a")
    others = [
        builders.replaced(one, "/metadata/namespace", "web"),
        builders.replaced(one, "/metadata/annotations", {"k8s.v1.cni.cncf.io/networks": "kube-api-access-abcde"}),
        builders.replaced(one, "/spec/nodeName", "gpu-0"),
        builders.replaced(one, "/spec/volumes/0/name", "api-access-abcde"),
        builders.replaced(one, "/status", {"conditions": [{}]}),
    ]

    assert len({fingerprints.key(each) for each in (one, *others)}) == len(others) + 1


def test_a_large_pod_is_not_remembered() -> None:
    assert fingerprints.key(builders.replaced(pod("a"), "/spec/hostname", "x" * fingerprints.LARGEST)) is None


def test_what_has_no_metadata_is_not_remembered() -> None:
    assert fingerprints.key({"kind": "Pod"}) is None


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(value=generated.any_manifests(), name=st.text(max_size=8))
def test_the_patch_is_that_of_the_object_itself(value: paths.Object, name: str) -> None:
    """Whatever was asked before, and asked again under another name."""
    again = copied(value)
    if isinstance(again.get("metadata"), dict):
        again = builders.replaced(again, "/metadata/name", name)

    for each in (value, again):
        alone = EVALUATOR.mutate(Request(value=each))
        remembered = EVALUATOR.patch(Request(value=each))
        assert remembered.operations == alone.operations
        assert (remembered.applied, remembered.skipped) == (alone.applied, alone.skipped)
