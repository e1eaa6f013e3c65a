"""Device claims: how many devices pods ask for that name no resource at all."""

import pytest

import builders
from unit.workloads.device_claims import (
    CHANNEL,
    CONTAINER,
    GPU,
    MIG,
    by_name,
    claim,
    claim_template,
    first_available,
    of_requests,
    pod,
    request,
)
from unit.workloads.normalised import pod_set, readable_workload, totals, unknowns, workload
from usher import model, paths
from usher.kinds.reading.values import Objects

# How many devices a request takes


def test_a_request_without_a_count_takes_one_device() -> None:
    assert of_requests(request()) == {GPU: ("1", "1")}
    assert of_requests(request(allocationMode="ExactCount")) == {GPU: ("1", "1")}


def test_a_count_is_taken_and_0_is_defaulted_to_1_as_the_api_server_does() -> None:
    assert of_requests(request(count=4)) == {GPU: ("4", "4")}
    assert of_requests(request(count=0)) == {GPU: ("1", "1")}


def test_several_requests_of_one_class_are_added_up_also_in_one_claim() -> None:
    assert of_requests(request(name="a"), request(name="b", count=2)) == {GPU: ("3", "3")}
    assert of_requests(request(), request(MIG, name="mig", count=2)) == {GPU: ("1", "1"), MIG: ("2", "2")}


def test_all_devices_means_at_least_one_and_has_no_maximum() -> None:
    (total,) = readable_workload(pod(by_name()), objects=Objects([claim(request(allocationMode="All"))])).totals

    assert (str(total.minimum), total.maximum) == ("1", None)
    assert total.reason == "allocationMode All takes every device of a node that fits"


@pytest.mark.parametrize("mode", ["All", "ExactCount", None])
def test_admin_access_is_access_and_takes_no_device(mode: str | None) -> None:
    objects = Objects([claim(request(allocationMode=mode, adminAccess=True))])
    containers = [CONTAINER(claims=["gpu"])]
    found = pod_set(pod(by_name(), containers=containers), objects=objects)

    assert [(each.route, str(each.minimum), str(each.maximum)) for each in found.requests] == [
        (model.Route.ACCESS, "0", "0")
    ]
    assert found.containers[0].asks_accelerators
    assert totals(pod(by_name(), containers=containers), objects=objects) == {}


def test_constraints_take_nothing() -> None:
    value = builders.replaced(
        claim(request(count=2)), "/spec/devices/constraints", [{"requests": ["gpu"], "matchAttribute": "a/b"}]
    )

    assert totals(pod(by_name()), objects=Objects([value])) == {GPU: ("2", "2")}


# Alternatives


def test_alternatives_of_one_class_give_a_minimum_and_a_maximum() -> None:
    alternatives = first_available(
        {"name": "eight", "deviceClassName": GPU, "count": 8}, {"name": "two", "deviceClassName": GPU, "count": 2}
    )
    (total,) = readable_workload(pod(by_name()), objects=Objects([claim(alternatives)])).totals

    assert (str(total.minimum), str(total.maximum)) == ("2", "8")
    assert total.reason == "one of 2 alternatives"


def test_alternatives_of_several_classes_have_a_minimum_of_zero() -> None:
    alternatives = first_available(
        {"name": "gpu", "deviceClassName": GPU},
        {"name": "mig", "deviceClassName": MIG, "count": 4},
        {"name": "mig2", "deviceClassName": MIG, "count": 2},
    )

    assert of_requests(alternatives) == {GPU: ("0", "1"), MIG: ("0", "4")}


def test_an_alternative_without_accelerators_makes_the_minimum_zero() -> None:
    alternatives = first_available(
        {"name": "gpu", "deviceClassName": GPU}, {"name": "cpu", "deviceClassName": "dra.cpu"}
    )

    assert of_requests(alternatives) == {GPU: ("0", "1")}


def test_an_alternative_may_take_all() -> None:
    alternatives = first_available(
        {"name": "all", "deviceClassName": GPU, "allocationMode": "All"}, {"name": "two", "deviceClassName": GPU}
    )

    assert of_requests(alternatives) == {GPU: ("1", "unbounded")}


def test_an_alternative_has_no_admin_access_whatever_it_says() -> None:
    assert of_requests(first_available({"name": "gpu", "deviceClassName": GPU, "adminAccess": True})) == {
        GPU: ("1", "1")
    }


# Versions


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
def test_versions_v1_and_v1beta2_have_exactly(version: str) -> None:
    objects = Objects([claim(request(count=2), version=version)])

    assert totals(pod(by_name()), objects=objects) == {GPU: ("2", "2")}


def test_version_v1beta1_has_the_fields_in_the_request_itself() -> None:
    inline: paths.Object = {"name": "gpu", "deviceClassName": GPU, "count": 2}
    admin: paths.Object = {"name": "gpu", "deviceClassName": GPU, "allocationMode": "All", "adminAccess": True}

    assert totals(pod(by_name()), objects=Objects([claim(inline, version="v1beta1")])) == {GPU: ("2", "2")}
    assert totals(pod(by_name()), objects=Objects([claim(admin, version="v1beta1")])) == {}


def test_up_to_kubernetes_1_30_the_names_stood_in_source() -> None:
    entry: paths.Object = {"name": "gpu", "source": {"resourceClaimTemplateName": "gpus"}}

    assert totals(pod(entry), objects=Objects([claim_template(request())])) == {GPU: ("1", "1")}
    assert [path for path, _ in unknowns(pod(entry))] == ["/spec/resourceClaims/0/source/resourceClaimTemplateName"]
    assert unknowns(pod({"name": "gpu", "source": "gpus"})) == [
        ("/spec/resourceClaims/0/source", "expected an object, found a string"),
        ("/spec/resourceClaims/0", "it has to name either a resourceClaimName or a resourceClaimTemplateName"),
    ]


def test_beside_names_of_its_own_the_source_of_an_entry_is_nothing() -> None:
    entry: paths.Object = {**by_name(), "source": {"resourceClaimName": "other"}}

    assert totals(pod(entry), objects=Objects([claim(request())])) == {GPU: ("1", "1")}


def test_a_claim_of_the_first_api_is_unknown() -> None:
    value = builders.custom("resource.k8s.io/v1alpha2", "ResourceClaim", {"resourceClassName": GPU}, name="gpus")

    assert unknowns(pod(by_name()), objects=Objects([value])) == [
        (
            "/spec/resourceClaims/0/resourceClaimName",
            "ResourceClaim ml-research/gpus, spec.resourceClassName: claims of resource.k8s.io/v1alpha2 are not read",
        )
    ]


# Network channels


def test_channels_between_gpus_are_not_accelerators() -> None:
    assert of_requests(request(CHANNEL)) == {}
    assert not workload(pod(by_name()), objects=Objects([claim(request(CHANNEL))])).asks_accelerators
