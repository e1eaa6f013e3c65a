"""Who shares a device claim: pods, pod sets, PodGroups, containers."""

import pytest

import builders
from unit.workloads.device_claims import (
    CHANNEL,
    CONTAINER,
    GPU,
    MIG,
    by_name,
    by_template,
    claim,
    claim_template,
    grouped,
    pod,
    pod_group,
    request,
    template,
)
from unit.workloads.normalised import pod_set, totals, unknowns, workload
from usher import paths
from usher.kinds.reading.values import Objects


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


def test_an_error_in_a_pod_group_is_reported_where_the_pod_names_it() -> None:
    crowded = pod_group(*(by_template(name=f"claim-{index}") for index in range(5)))

    assert unknowns(grouped(by_template()), objects=Objects([claim_template(request()), crowded])) == [
        (
            "/spec/template/spec/schedulingGroup/podGroupName",
            "PodGroup ml-research/group, spec.resourceClaims: it has 5 entries, but Kubernetes allows at most 4",
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
