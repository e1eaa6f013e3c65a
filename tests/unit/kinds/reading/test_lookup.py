"""References find objects of some files by name."""

import pytest

import builders
from unit.workloads.normalised import readable_workload, unknowns
from usher import paths
from usher.kinds.reading.values import NO_OBJECTS, Absence, Objects, Reference


def claim(value: int = 0, *, name: str | None = "gpus", namespace: str | None = "ml-research") -> paths.Object:
    return builders.custom("resource.k8s.io/v1", "ResourceClaim", {"v": value}, name=name, namespace=namespace)


def device_class(value: int = 0, *, namespace: str | None = None) -> paths.Object:
    return builders.custom("resource.k8s.io/v1", "DeviceClass", {"v": value}, name="gpu", namespace=namespace)


def of_claim(namespace: str = "ml-research", *, name: str = "gpus", group: str = "resource.k8s.io") -> Reference:
    return Reference(group=group, kind="ResourceClaim", name=name, namespace=namespace)


OF_CLASS = Reference(group="resource.k8s.io", kind="DeviceClass", name="gpu")


def test_an_object_is_found_by_group_kind_name_and_namespace() -> None:
    value = claim()
    objects = Objects([value])

    assert objects.find(of_claim()) is value
    assert objects.find(of_claim("ml-prod")) is Absence.NOT_KNOWN
    assert objects.find(of_claim(name="others")) is Absence.NOT_KNOWN
    assert objects.find(of_claim(group="example.com")) is Absence.NOT_KNOWN
    assert objects.find(Reference(group="resource.k8s.io", kind="Claim", name="gpus")) is Absence.NOT_KNOWN


def test_any_version_of_a_group_will_do() -> None:
    value = builders.replaced(claim(), "/apiVersion", "resource.k8s.io/v1beta1")

    assert Objects([value]).find(of_claim()) is value


def test_kinds_of_the_core_group_have_no_group() -> None:
    value = builders.custom("v1", "Namespace", {}, name="ml-research", namespace=None)

    assert Objects([value]).find(Reference(group="", kind="Namespace", name="ml-research")) is value


def test_of_several_objects_of_one_name_the_last_is_found() -> None:
    last = claim(3)

    assert Objects([claim(1), claim(2, namespace="ml-prod"), last]).find(of_claim()) is last


def test_an_object_without_a_namespace_stands_in_the_one_to_assume() -> None:
    value = claim(namespace=None)

    assert Objects([value], namespace="ml-research").find(of_claim()) is value
    assert Objects([value], namespace="default").find(of_claim()) is Absence.NOT_KNOWN
    assert Objects([value]).find(of_claim()) is Absence.NOT_KNOWN


def test_an_empty_namespace_counts_as_missing() -> None:
    value = claim(namespace="")

    assert Objects([value], namespace="ml-research").find(of_claim()) is value


@pytest.mark.parametrize("namespace", [None, "", "ml-research"])
@pytest.mark.parametrize("assumed", ["", "default"])
def test_a_cluster_scoped_object_is_found_under_any_namespace_of_its_file(namespace: str | None, assumed: str) -> None:
    value = device_class(namespace=namespace)

    assert Objects([value], namespace=assumed).find(OF_CLASS) is value


def test_a_reference_without_a_namespace_does_not_guess_between_several() -> None:
    objects = Objects([claim(1), claim(2, namespace="ml-prod")])

    assert objects.find(of_claim("")) is Absence.NOT_KNOWN
    assert objects.find(of_claim("ml-prod")) == claim(2, namespace="ml-prod")


def test_a_reference_without_a_namespace_prefers_the_object_without_one() -> None:
    value = claim(namespace=None)

    assert Objects([claim(), value]).find(of_claim("")) is value


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"kind": "ResourceClaim"},
        {"kind": "ResourceClaim", "metadata": "gpus"},
        {"kind": ["ResourceClaim"], "metadata": {"name": "gpus"}},
        {"kind": "ResourceClaim", "metadata": {"name": ["gpus"]}},
        {"kind": "ResourceClaim", "metadata": {"name": "gpus", "namespace": 5}, "apiVersion": 5},
    ],
)
def test_an_invalid_object_is_not_found(value: paths.Object) -> None:
    assert Objects([value]).find(of_claim()) is Absence.NOT_KNOWN


def test_nothing_knows_no_object() -> None:
    assert NO_OBJECTS.find(of_claim()) is Absence.NOT_KNOWN


def test_a_reference_is_read_as_people_write_it() -> None:
    assert str(of_claim()) == "ResourceClaim ml-research/gpus"
    assert str(OF_CLASS) == "DeviceClass gpu"


# NVIDIA's ComputeDomains


def compute_domain(
    name: paths.Json = "channel", *, namespace: str | None = "ml-research", group: str = "resource.nvidia.com"
) -> paths.Object:
    spec: paths.Object = {"numNodes": 2, "channel": {"resourceClaimTemplate": {"name": name}}}
    return builders.custom(f"{group}/v1beta1", "ComputeDomain", spec, name="domain", namespace=namespace)


CLAIMING = builders.pod(
    builders.container(gpus=4, claims=["channel"]),
    resourceClaims=[{"name": "channel", "resourceClaimTemplateName": "channel"}],
)


def test_the_claim_template_that_a_compute_domain_makes_is_known_to_ask_for_channels() -> None:
    found = readable_workload(CLAIMING, objects=Objects([compute_domain()]))

    assert {total.name: str(total.maximum) for total in found.totals} == {builders.GPU: "4"}


@pytest.mark.parametrize(
    "domain",
    [
        compute_domain("other"),
        compute_domain(5),
        compute_domain(namespace="ml-prod"),
        compute_domain(group="example.com"),
        builders.replaced(compute_domain(), "/spec", "channel"),
        builders.replaced(compute_domain(), "/metadata", "channel"),
        builders.replaced(compute_domain(), "/apiVersion", None),
    ],
)
def test_another_compute_domain_does_not_make_this_template(domain: paths.Object) -> None:
    assert [path for path, _ in unknowns(CLAIMING, objects=Objects([domain]))] == [
        "/spec/resourceClaims/0/resourceClaimTemplateName"
    ]
