"""Device claims: what pods ask for that name no resource at all."""

import json
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import builders
from unit.workloads.normalised import pod_set, readable_workload, totals, unknowns, workload
from usher import model, paths
from usher.reading.lookup import Objects
from usher.workloads import claim_specs

GPU = "gpu.nvidia.com"
MIG = "mig.nvidia.com"
CHANNEL = "compute-domain-default-channel.nvidia.com"
CONTAINER = builders.container


def request(device_class: str | None = GPU, *, name: str = "gpu", **fields: builders.JsonValue) -> paths.Object:
    """One request of resource.k8s.io/v1; `count`, `allocationMode`, `adminAccess` as in manifests."""
    exactly = {"deviceClassName": device_class, **fields}
    return builders_json({"name": name, "exactly": {key: value for key, value in exactly.items() if value is not None}})


def first_available(*alternatives: Mapping[str, builders.JsonValue], name: str = "gpu") -> paths.Object:
    return builders_json({"name": name, "firstAvailable": list(alternatives)})


def builders_json(value: Mapping[str, builders.JsonValue]) -> paths.Object:
    result: paths.Object = json.loads(json.dumps(value))
    return result


def claim(
    *requests: paths.Object, name: str = "gpus", version: str = "v1", namespace: str | None = "ml-research"
) -> paths.Object:
    """A ResourceClaim."""
    spec = {"devices": {"requests": list(requests)}}
    return builders.custom(f"resource.k8s.io/{version}", "ResourceClaim", spec, name=name, namespace=namespace)


def claim_template(*requests: paths.Object, name: str = "gpus", version: str = "v1") -> paths.Object:
    """A ResourceClaimTemplate."""
    spec = {"spec": {"devices": {"requests": list(requests)}}}
    return builders.custom(f"resource.k8s.io/{version}", "ResourceClaimTemplate", spec, name=name)


def by_name(claim_name: str = "gpus", *, name: str = "gpu") -> paths.Object:
    """An entry of a pod's resourceClaims."""
    return {"name": name, "resourceClaimName": claim_name}


def by_template(template_name: str = "gpus", *, name: str = "gpu") -> paths.Object:
    return {"name": name, "resourceClaimTemplateName": template_name}


def template(*entries: paths.Object, group: str = "") -> paths.Object:
    scheduling_group = {"podGroupName": group} if group else None
    return builders.template(resourceClaims=list(entries), schedulingGroup=scheduling_group)


def pod(*entries: paths.Object, containers: Sequence[paths.Object] = ()) -> paths.Object:
    return builders.pod(*containers, resourceClaims=list(entries))


def of_requests(*requests: paths.Object) -> dict[str, tuple[str, str]]:
    """Totals of a pod with a claim of these requests."""
    return totals(pod(by_name()), objects=Objects([claim(*requests)]))


def wrong_in_claim(*requests: paths.Object) -> list[tuple[str, str]]:
    return unknowns(pod(by_name()), objects=Objects([claim(*requests)]))


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


def test_all_devices_are_at_least_one_and_nobody_knows_how_many() -> None:
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


def test_of_alternatives_of_one_class_the_least_and_the_most_are_told() -> None:
    alternatives = first_available(
        {"name": "eight", "deviceClassName": GPU, "count": 8}, {"name": "two", "deviceClassName": GPU, "count": 2}
    )
    (total,) = readable_workload(pod(by_name()), objects=Objects([claim(alternatives)])).totals

    assert (str(total.minimum), str(total.maximum)) == ("2", "8")
    assert total.reason == "one of 2 alternatives"


def test_of_alternatives_of_several_classes_none_is_sure() -> None:
    alternatives = first_available(
        {"name": "gpu", "deviceClassName": GPU},
        {"name": "mig", "deviceClassName": MIG, "count": 4},
        {"name": "mig2", "deviceClassName": MIG, "count": 2},
    )

    assert of_requests(alternatives) == {GPU: ("0", "1"), MIG: ("0", "4")}


def test_an_alternative_that_is_no_accelerator_makes_the_others_unsure() -> None:
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


# Who shares a claim


def test_each_pod_gets_a_claim_of_its_own_from_a_template() -> None:
    job = builders.job(template(by_template()), parallelism=4)

    assert totals(job, objects=Objects([claim_template(request(count=2))])) == {GPU: ("8", "8")}


def test_all_pods_share_a_claim_that_they_name() -> None:
    job = builders.job(template(by_name()), parallelism=4)

    assert totals(job, objects=Objects([claim(request(name="a"), request(name="b"))])) == {GPU: ("2", "2")}


def test_pod_sets_share_a_claim_too() -> None:
    job = builders.pytorch_job(template(by_name()), workers=3, master=template(by_name(name="other")))

    assert totals(job, objects=Objects([claim(request(count=2))])) == {GPU: ("2", "2")}


def test_a_claim_that_a_pod_names_twice_is_one() -> None:
    value = pod(by_name(name="a"), by_name(name="b"))

    assert totals(value, objects=Objects([claim(request())])) == {GPU: ("1", "1")}
    assert len(pod_set(value, objects=Objects([claim(request())])).requests) == 1


def test_a_template_that_a_pod_names_twice_makes_two_claims() -> None:
    value = pod(by_template(name="a"), by_template(name="b"))

    assert totals(value, objects=Objects([claim_template(request())])) == {GPU: ("2", "2")}


def test_without_pods_a_shared_claim_is_not_taken() -> None:
    job = builders.job(template(by_name()), parallelism=0)

    assert totals(job, objects=Objects([claim(request())])) == {}


def test_where_there_may_be_no_pod_a_shared_claim_may_not_be_taken() -> None:
    daemons = builders.daemon_set(template(by_name()))

    assert totals(daemons, objects=Objects([claim(request())])) == {GPU: ("0", "1")}


# PodGroups


def pod_group(*entries: paths.Object, version: str = "v1beta1") -> paths.Object:
    policy = {"gang": {"minCount": 2}}
    return builders.custom(
        f"scheduling.k8s.io/{version}",
        "PodGroup",
        {"schedulingPolicy": policy, "resourceClaims": list(entries)},
        name="group",
    )


def grouped(*entries: paths.Object) -> paths.Object:
    return builders.job(template(*entries, group="group"), parallelism=4)


@pytest.mark.parametrize("version", ["v1alpha2", "v1beta1"])
def test_a_claim_that_the_pod_group_has_too_is_one_for_all_its_pods(version: str) -> None:
    objects = Objects([claim_template(request()), pod_group(by_template(), version=version)])

    assert totals(grouped(by_template()), objects=objects) == {GPU: ("1", "1")}


@pytest.mark.parametrize(
    "other", [by_template("gpus", name="other"), by_template("others"), by_name("gpus"), {"name": "gpu"}]
)
def test_a_claim_of_another_name_or_template_is_not_that_of_the_pod_group(other: paths.Object) -> None:
    objects = Objects([claim_template(request()), pod_group(other)])

    assert totals(grouped(by_template()), objects=objects) == {GPU: ("4", "4")}


def test_a_pod_group_may_have_two_claims_from_one_template() -> None:
    entries = by_template(name="a"), by_template(name="b")
    objects = Objects([claim_template(request()), pod_group(*entries)])

    assert totals(grouped(*entries), objects=objects) == {GPU: ("2", "2")}


def test_a_pod_group_that_is_not_known_is_named_and_each_pod_counted() -> None:
    value = grouped(by_template())
    objects = Objects([claim_template(request())])

    assert unknowns(value, objects=objects) == [
        (
            "/spec/template/spec/schedulingGroup/podGroupName",
            "PodGroup ml-research/group is not known here: whether its pods share their device claims is not known",
        )
    ]
    assert str(workload(value, objects=objects).totals[0].maximum) == "4"


def test_a_pod_group_is_not_asked_for_claims_that_have_names() -> None:
    assert totals(grouped(by_name()), objects=Objects([claim(request())])) == {GPU: ("1", "1")}


def test_a_pod_group_of_another_group_of_kinds_has_no_claims() -> None:
    volcano = builders.replaced(pod_group(by_template()), "/apiVersion", "scheduling.volcano.sh/v1beta1")

    assert [
        path for path, _ in unknowns(grouped(by_template()), objects=Objects([claim_template(request()), volcano]))
    ] == ["/spec/template/spec/schedulingGroup/podGroupName"]


def test_what_is_wrong_in_a_pod_group_is_told_where_it_is_named() -> None:
    crowded = pod_group(*(by_template(name=f"claim-{index}") for index in range(5)))

    assert unknowns(grouped(by_template()), objects=Objects([claim_template(request()), crowded])) == [
        (
            "/spec/template/spec/schedulingGroup/podGroupName",
            "PodGroup ml-research/group, spec.resourceClaims: it has 5 entries, of which Kubernetes takes 4",
        )
    ]


# Which containers get the devices


def test_a_claim_that_no_container_names_reserves_devices_all_the_same() -> None:
    found = pod_set(pod(by_name()), objects=Objects([claim(request())]))

    assert found.asks_accelerators
    assert not found.containers[0].asks_accelerators


def test_containers_get_the_devices_of_the_requests_that_they_name() -> None:
    value = claim(request(name="gpu"), request(CHANNEL, name="channel"))

    def names(claim_name: str, request_name: str | None = None) -> paths.Object:
        entry: paths.Object = {"name": claim_name, **({"request": request_name} if request_name else {})}
        return builders.replaced(CONTAINER(claims=["x"]), "/resources/claims", [entry])

    containers = [names("c"), names("c", "gpu"), names("c", "channel"), names("c", "none"), names("d"), CONTAINER()]
    found = pod_set(pod(by_name(name="c"), containers=containers), objects=Objects([value]))

    assert [container.asks_accelerators for container in found.containers] == [True, True, False, False, False, False]


def test_two_containers_with_two_requests_of_one_claim_take_the_claim_once() -> None:
    both = [
        builders.replaced(CONTAINER(name, claims=["x"]), "/resources/claims", [{"name": "mig", "request": name}])
        for name in ("a", "b")
    ]
    value = claim_template(request(MIG, name="a"), request(MIG, name="b"))

    assert totals(pod(by_template(name="mig"), containers=both), objects=Objects([value])) == {MIG: ("2", "2")}


def test_a_resource_beside_a_claim_is_another_request() -> None:
    value = pod(by_name(), containers=[CONTAINER(gpus=1, claims=["gpu"])])

    assert totals(value, objects=Objects([claim(request())])) == {GPU: ("1", "1"), builders.GPU: ("1", "1")}


# Claims and entries that are not as they should be


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


def test_a_claim_is_no_template_of_claims() -> None:
    assert unknowns(pod(by_template()), objects=Objects([claim(request())]))
    assert unknowns(pod(by_name()), objects=Objects([claim_template(request())]))


@pytest.mark.parametrize(
    ("wrong", "place", "reason"),
    [
        (request(None), "exactly.deviceClassName", "a request has to name a device class"),
        ({"name": "gpu"}, "deviceClassName", "a request has to name a device class"),
        (request(count=-1), "exactly.count", "expected a number of devices from 0 to 10000000"),
        (request(count="two"), "exactly.count", "expected a whole number, found a string"),
        (request(allocationMode="Some"), "exactly.allocationMode", "no such mode; the modes are ExactCount and All"),
        (request(adminAccess="yes"), "exactly.adminAccess", "expected true or false, found a string"),
        ({"name": "gpu", "exactly": "gpu"}, "exactly", "expected an object, found a string"),
        ({"name": "gpu", "firstAvailable": "gpu"}, "firstAvailable", "expected a list, found a string"),
    ],
)
def test_what_is_wrong_in_a_claim_is_told_where_it_is_named(wrong: paths.Object, place: str, reason: str) -> None:
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
    assert reason.endswith("requests[0]: it has exactly and firstAvailable, of which Kubernetes takes one")


def test_what_is_wrong_in_a_template_is_told_at_its_place_in_the_template() -> None:
    ((path, reason),) = unknowns(pod(by_template()), objects=Objects([claim_template(request(None))]))

    assert path == "/spec/resourceClaims/0/resourceClaimTemplateName"
    assert "ResourceClaimTemplate ml-research/gpus, spec.spec.devices.requests[0].exactly" in reason


def test_a_claim_of_more_requests_than_kubernetes_takes_is_named_and_not_walked() -> None:
    assert wrong_in_claim(*[request()] * 1000) == [
        (
            "/spec/resourceClaims/0/resourceClaimName",
            "ResourceClaim ml-research/gpus, spec.devices.requests: it has 1000 entries, of which Kubernetes takes 32",
        )
    ]
    assert of_requests(*[request()] * claim_specs.MAX_REQUESTS) == {GPU: ("32", "32")}


def test_more_alternatives_than_kubernetes_takes_are_named_and_not_walked() -> None:
    alternatives: list[paths.Object] = [{"name": "gpu", "deviceClassName": GPU}] * 9
    ((_, reason),) = wrong_in_claim(first_available(*alternatives))

    assert reason.endswith("firstAvailable: it has 9 entries, of which Kubernetes takes 8")


def test_a_claim_that_ten_thousand_entries_name_is_read_once() -> None:
    entries = [by_name(name=f"claim-{index}") for index in range(10_000)]
    value = claim(*[request(None)] * claim_specs.MAX_REQUESTS)

    assert len(unknowns(pod(*entries), objects=Objects([value]))) == claim_specs.MAX_REQUESTS


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


# Network channels


def test_channels_between_gpus_are_no_accelerators() -> None:
    assert of_requests(request(CHANNEL)) == {}
    assert not workload(pod(by_name()), objects=Objects([claim(request(CHANNEL))])).asks_accelerators
