"""An object that the mutating webhook did not change in time is not denied for what the webhook would have mended."""

from typing import Any

import pytest

from builders import container, pod, replaced
from reviews import body
from unit.review.answering import mutated, validated
from usher import errors, paths
from usher.config import models
from usher.policy import assembly
from usher.policy.evaluator import Evaluator
from usher.review import validate as review_validate

POOL = {"name": "h100", "nodeSelector": {"gpu": "h100"}, "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]}
GPU_POD = pod(container(gpus=1))
SEES_ALL = pod({**container(gpus=1), "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]})


def site(**mutations: Any) -> Evaluator:
    return assembly.embedded(models.Config.model_validate({"pools": [POOL], "mutations": mutations}))


def denied(response: Any) -> set[str]:
    return set(response.get("auditAnnotations", {}).get("deny", "").split(",")) - {""}


def test_a_missed_toleration_is_a_warning_that_says_so() -> None:
    response = validated(site(), GPU_POD)

    assert response["allowed"] is True
    assert response["auditAnnotations"]["missed-mutations"] == "gpu-node-affinity,gpu-toleration"
    (warning,) = [text for text in response["warnings"] if text.startswith("USH301 ")]
    assert "the mutating webhook did not change this object in time" in warning


def test_a_mutated_object_is_judged_as_ever() -> None:
    usher = site()
    changed = mutated(usher, GPU_POD)
    assert "patch" in changed
    tolerating = replaced(GPU_POD, "/spec/tolerations", [{"key": "nvidia.com/gpu", "operator": "Exists"}])
    selecting = replaced(tolerating, "/spec/nodeSelector", {"gpu": "h100"})

    response = validated(usher, selecting)

    assert response["allowed"] is True
    assert "missed-mutations" not in response.get("auditAnnotations", {})


def test_what_no_mutation_mends_is_denied_beside_it() -> None:
    response = validated(site(), SEES_ALL)

    assert response["allowed"] is False
    assert denied(response) == {"USH201"}


def test_a_switched_off_mutation_is_not_missed() -> None:
    usher = site(rules=[{"mutation": "gpu-toleration", "action": "off"}])

    response = validated(usher, GPU_POD)

    assert response["allowed"] is False
    assert denied(response) == {"USH301"}


@pytest.mark.parametrize("request_fields", [{"operation": "UPDATE", "oldObject": GPU_POD}, {"dryRun": True}], ids=str)
def test_only_new_objects_can_have_missed_their_mutations(request_fields: dict[str, Any]) -> None:
    changed = replaced(GPU_POD, "/metadata/labels", {"a": "b"})

    missed = validated(site(), changed, **request_fields).get("auditAnnotations", {}).get("missed-mutations")

    assert missed == (None if "operation" in request_fields else "gpu-node-affinity,gpu-toleration")


def test_usher_yaml_may_want_an_error_instead() -> None:
    usher = site(missed="error")

    with pytest.raises(errors.MissedMutationError, match=r"gpu-toleration.*create it again"):
        review_validate.validate(body(GPU_POD), usher)
    assert validated(usher, pod())["allowed"] is True


def test_an_error_hides_no_denial() -> None:
    assert denied(validated(site(missed="error"), SEES_ALL)) == {"USH201"}


def test_a_critical_check_denies_whatever_the_mutations_would_have_made() -> None:
    """The mutation requests-from-limits would mend it, but a tenant cannot make usher slow to get around the check."""
    value: paths.Object = pod(container(gpus=1))
    half = replaced(value, "/spec/containers/0/resources", {"limits": {"nvidia.com/gpu": "0.5"}})

    assert "USH101" in denied(validated(site(), half))
