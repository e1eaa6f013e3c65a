"""Device claims, and entries for them, that are not as they should be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from unit.workloads.device_claims import (
    GPU,
    by_name,
    by_template,
    claim,
    claim_template,
    first_available,
    grouped,
    of_requests,
    pod,
    pod_group,
    request,
)
from unit.workloads.normalised import totals, unknowns, workload
from usher import paths
from usher.kinds.reading.values import Objects
from usher.workloads import claims


def wrong_in_claim(*requests: paths.Object) -> list[tuple[str, str]]:
    return unknowns(pod(by_name()), objects=Objects([claim(*requests)]))


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "gpu"},
        {"name": "gpu", "resourceClaimName": ""},
        {"name": "gpu", "resourceClaimName": None, "resourceClaimTemplateName": None},
        {"name": "gpu", "resourceClaimName": "a", "resourceClaimTemplateName": "b"},
        {"name": "gpu", "source": {}},
    ],
)
def test_an_entry_names_one_claim_or_one_template(entry: paths.Object) -> None:
    assert unknowns(pod(entry)) == [
        ("/spec/resourceClaims/0", "it has to name either a resourceClaimName or a resourceClaimTemplateName")
    ]


def test_a_claim_that_is_not_known_is_unknown_at_its_name() -> None:
    assert unknowns(pod(by_name())) == [
        (
            "/spec/resourceClaims/0/resourceClaimName",
            "ResourceClaim ml-research/gpus is not known here: which devices the pod gets is not known",
        )
    ]
    assert not workload(pod(by_name())).asks_accelerators


def test_a_claim_of_another_namespace_is_another_claim() -> None:
    objects = Objects([claim(request(), namespace="ml-prod")])

    assert [path for path, _ in unknowns(pod(by_name()), objects=objects)] == [
        "/spec/resourceClaims/0/resourceClaimName"
    ]


def test_a_claim_is_not_a_template_of_claims() -> None:
    assert unknowns(pod(by_template()), objects=Objects([claim(request())]))
    assert unknowns(pod(by_name()), objects=Objects([claim_template(request())]))


@pytest.mark.parametrize(
    ("wrong", "place", "reason"),
    [
        (request(None), "exactly.deviceClassName", "a request has to name a device class"),
        ({"name": "gpu"}, "deviceClassName", "a request has to name a device class"),
        (request(count=-1), "exactly.count", "expected a number of devices from 0 to 10000000"),
        (request(count="two"), "exactly.count", "expected a whole number, found a string"),
        (
            request(allocationMode="Some"),
            "exactly.allocationMode",
            "Kubernetes has no mode with this name; it has ExactCount and All",
        ),
        (request(adminAccess="yes"), "exactly.adminAccess", "expected true or false, found a string"),
        ({"name": "gpu", "exactly": "gpu"}, "exactly", "expected an object, found a string"),
        ({"name": "gpu", "firstAvailable": "gpu"}, "firstAvailable", "expected a list, found a string"),
    ],
)
def test_an_error_in_a_claim_is_reported_where_the_pod_names_it(wrong: paths.Object, place: str, reason: str) -> None:
    assert wrong_in_claim(wrong) == [
        (
            "/spec/resourceClaims/0/resourceClaimName",
            f"ResourceClaim ml-research/gpus, spec.devices.requests[0].{place}: {reason}",
        )
    ]


def test_a_request_in_two_forms_is_unknown() -> None:
    both = {**request(), **first_available({"name": "gpu", "deviceClassName": GPU})}

    ((path, reason),) = wrong_in_claim(both)
    assert path == "/spec/resourceClaims/0/resourceClaimName"
    assert reason.endswith("requests[0]: it has exactly and firstAvailable, but Kubernetes allows only one of them")


def test_an_error_in_a_claim_template_names_its_place_in_the_template() -> None:
    ((path, reason),) = unknowns(pod(by_template()), objects=Objects([claim_template(request(None))]))

    assert path == "/spec/resourceClaims/0/resourceClaimTemplateName"
    assert "ResourceClaimTemplate ml-research/gpus, spec.spec.devices.requests[0].exactly" in reason


def test_a_claim_of_more_requests_than_kubernetes_takes_is_named_and_not_walked() -> None:
    assert wrong_in_claim(*[request()] * 1000) == [
        (
            "/spec/resourceClaims/0/resourceClaimName",
            (
                "ResourceClaim ml-research/gpus, spec.devices.requests: it has 1000 entries, "
                "but Kubernetes allows at most 32"
            ),
        )
    ]
    assert of_requests(*[request()] * claims.MAX_REQUESTS) == {GPU: ("32", "32")}


def test_more_alternatives_than_kubernetes_takes_are_named_and_not_walked() -> None:
    alternatives: list[paths.Object] = [{"name": "gpu", "deviceClassName": GPU}] * 9
    ((_, reason),) = wrong_in_claim(first_available(*alternatives))

    assert reason.endswith("firstAvailable: it has 9 entries, but Kubernetes allows at most 8")


@pytest.mark.usefixtures("any_size")
def test_a_claim_that_ten_thousand_entries_name_is_read_once() -> None:
    entries = [by_name(name=f"claim-{index}") for index in range(10_000)]
    value = claim(*[request(None)] * claims.MAX_REQUESTS)

    assert len(unknowns(pod(*entries), objects=Objects([value]))) == claims.MAX_REQUESTS


def test_metadata_of_the_claims_that_a_template_makes_say_nothing() -> None:
    value = builders.replaced(claim_template(request()), "/spec/metadata", {"labels": {"a": "b"}})

    assert totals(pod(by_template()), objects=Objects([value])) == {GPU: ("1", "1")}


KEYS_OF_REQUESTS = ["exactly", "firstAvailable", "deviceClassName", "count", "allocationMode", "adminAccess"]
KEYS_OF_CLAIMS = ["devices", "requests", "name", "resourceClaims", "resourceClaimTemplateName", "resourceClassName"]
KEYS_OF_CLASSES = ["selectors", "cel", "expression", "extendedResourceName"]
KEYS = st.sampled_from([*KEYS_OF_REQUESTS, *KEYS_OF_CLAIMS, *KEYS_OF_CLASSES])
VALUES: st.SearchStrategy[paths.Json] = st.sampled_from(
    [None, True, "", "x", "All", GPU, "big", 0, 1, -1, 2**64, 0.5, [], {}]
)
ANY_JSON = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


@given(ANY_JSON, ANY_JSON, ANY_JSON, ANY_JSON)
def test_whatever_stands_in_what_a_pod_refers_to_is_survived(
    of_claim: paths.Json, of_template: paths.Json, of_group: paths.Json, of_class: paths.Json
) -> None:
    objects = Objects(
        [
            builders.replaced(claim(), "/spec", of_claim),
            builders.replaced(claim_template(), "/spec", {"spec": of_template}),
            builders.replaced(pod_group(), "/spec", of_group),
            builders.replaced(builders.custom("resource.k8s.io/v1", "DeviceClass", {}, name="big"), "/spec", of_class),
        ]
    )
    value = grouped(by_name(name="a"), by_template(name="b"))

    for path, reason in unknowns(value, objects=objects):
        assert isinstance(paths.resolve(value, path), str)
        assert reason
