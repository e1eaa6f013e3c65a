"""Device claims, as rules see them: in every version, and with the facts about their device classes."""

from typing import Any

import pytest

from unit.workloads.normalised import workload
from usher import paths


def claim(version: str, *requests: paths.Json) -> paths.Object:
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaim",
        "metadata": {"name": "gpus", "namespace": "research"},
        "spec": {"devices": {"requests": list(requests)}},
    }


def requests(value: paths.Object) -> Any:
    found = workload(value)
    assert found.unknowns == ()
    return found.view["resourceClaim"]["spec"]["devices"]["requests"]


def test_the_first_version_has_its_fields_in_the_request() -> None:
    found = requests(claim("v1beta1", {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 2, "other": []}))

    assert found == [{"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 2, "accelerator": True}]


def test_selectors_and_tolerations_are_read() -> None:
    exactly: dict[str, paths.Json] = {
        "deviceClassName": "gpu.nvidia.com",
        "selectors": [{"cel": {"expression": "true", "other": 1}}],
        "tolerations": [{"key": "broken", "operator": "Exists", "effect": "NoExecute"}],
    }
    (found,) = requests(claim("v1", {"name": "a", "exactly": exactly}))

    assert found["exactly"]["selectors"] == [{"cel": {"expression": "true"}}]
    assert found["exactly"]["tolerations"] == [{"key": "broken", "operator": "Exists"}]


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
def test_later_versions_have_them_below(version: str) -> None:
    exactly: dict[str, paths.Json] = {"deviceClassName": "dranet", "allocationMode": "All", "adminAccess": True}
    alternative: paths.Json = {"name": "large", "deviceClassName": "fast.example.com"}

    found = requests(claim(version, {"name": "a", "exactly": exactly}, {"name": "b", "firstAvailable": [alternative]}))

    assert found == [
        {"name": "a", "exactly": exactly | {"accelerator": False}},
        {"name": "b", "firstAvailable": [alternative]},
    ]


def test_a_manifest_cannot_say_what_a_class_is() -> None:
    said: paths.Json = {"deviceClassName": "fast.example.com", "accelerator": False}

    assert requests(claim("v1", {"name": "a", "exactly": said})) == [
        {"name": "a", "exactly": {"deviceClassName": "fast.example.com"}}
    ]


def test_a_template_has_the_spec_of_its_claims_inside_its_own() -> None:
    inner = claim("v1", {"name": "gpu", "exactly": {"deviceClassName": "gpu.amd.com"}})
    template: paths.Object = inner | {"kind": "ResourceClaimTemplate", "spec": {"spec": inner["spec"]}}

    found = workload(template)

    assert found.unknowns == ()
    assert found.view["resourceClaimTemplate"]["spec"]["spec"]["devices"]["requests"] == [
        {"name": "gpu", "exactly": {"deviceClassName": "gpu.amd.com", "accelerator": True}}
    ]


def test_a_version_that_is_not_served_any_more_is_unknown() -> None:
    (unknown,) = workload(claim("v1alpha3", {"name": "gpu"})).unknowns

    assert unknown.path == "/apiVersion"
