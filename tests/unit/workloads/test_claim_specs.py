"""Whether the devices of a class are accelerators, where its name does not say it."""

import pytest

import builders
from unit.workloads import device_claims
from unit.workloads.normalised import VOCABULARY, pod_set, totals, unknowns, workload
from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.config import sections
from usher.kinds.reading.values import Context, Objects, Reading
from usher.workloads.claims import accelerators_like

SITE = "big-gpu.example.org"
IMPLICIT = f"deviceclass.resource.kubernetes.io/{SITE}"
REMEDY = "whether its devices are accelerators is not known; usher.yaml can name it under accelerators.deviceClasses"


def device_class(*expressions: str, resource: str | None = None, name: str = SITE) -> paths.Object:
    spec: paths.Object = {"selectors": [{"cel": {"expression": each}} for each in expressions]}
    if resource is not None:
        spec["extendedResourceName"] = resource
    return builders.custom("resource.k8s.io/v1", "DeviceClass", spec, name=name, namespace=None)


def gives(*values: paths.Object, vocabulary: Vocabulary = VOCABULARY) -> bool | None:
    """None where it is unknown."""
    reading = Reading(Context(objects=Objects(values)))
    found = accelerators_like(SITE, path="/here", reading=reading, vocabulary=vocabulary)
    return None if reading.found() else found is not None


def like(*values: paths.Object) -> str | None:
    return accelerators_like(
        SITE, path="/here", reading=Reading(Context(objects=Objects(values))), vocabulary=VOCABULARY
    )


def reason_of(*values: paths.Object) -> str:
    reading = Reading(Context(objects=Objects(values)))
    assert accelerators_like(SITE, path="/here", reading=reading, vocabulary=VOCABULARY) is None
    (unknown,) = reading.found()
    assert unknown.path == "/here"
    return unknown.reason


def test_an_undescribed_class_is_unknown_and_comes_with_a_remedy() -> None:
    assert reason_of() == f"DeviceClass {SITE} is not known here: {REMEDY}"
    assert reason_of(device_class()) == f"DeviceClass {SITE}: {REMEDY}"


@pytest.mark.parametrize(
    ("expressions", "gpus"),
    [
        (["device.driver == 'gpu.nvidia.com'"], True),
        (['device.driver=="gpu.amd.com" && device.attributes["gpu.amd.com"].type == "amdgpu"'], True),
        (["device.driver == 'dra.net'"], False),
        (["true", "device.driver == 'gpu.nvidia.com'"], True),
        (["device.driver == 'dra.net' || device.driver == 'gpu.nvidia.com'"], True),
        (["device.driver == 'somebody.example.org'"], None),
        (["device.driver == 'dra.net' || device.driver == 'somebody.example.org'"], None),
        (["device.driver != 'gpu.nvidia.com'"], None),
        (["device.driver.endsWith('nvidia.com')"], None),
        (["'gpu.nvidia.com' == device.driver"], True),
        (["device.attributes['gpu.nvidia.com'].type == 'gpu'"], True),
        (["device.capacity['gpu.amd.com'].memory.isGreaterThan(quantity('1Gi'))"], True),
        (["device.attributes['somebody.example.org'].type == 'gpu'"], None),
        ([], None),
    ],
)
def test_the_driver_that_its_expressions_ask_for_tells_what_a_class_is(
    expressions: list[str], gpus: bool | None
) -> None:
    assert gives(device_class(*expressions)) is gpus


def test_the_resource_that_its_devices_serve_tells_what_a_class_is() -> None:
    assert gives(device_class(resource="nvidia.com/gpu"))
    assert gives(device_class(resource="example.org/thing")) is None


MIG = "device.attributes['gpu.nvidia.com'].type == 'mig'"


@pytest.mark.parametrize(
    ("expressions", "known"),
    [
        (["device.driver == 'gpu.nvidia.com'"], "gpu.nvidia.com"),
        (["device.driver == 'gpu.amd.com'"], "gpu.amd.com"),
        (["device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"], "gpu.nvidia.com"),
        (["device.driver == 'gpu.nvidia.com'", MIG], "mig.nvidia.com"),
        ([f"({MIG}) && device.attributes['gpu.nvidia.com'].profile == '7g.80gb'"], "nvidia.com/mig-7g.80gb"),
        (["device.attributes['gpu.nvidia.com'].profile == '1g.10gb+me'"], "nvidia.com/mig-1g.10gb.me"),
        (["device.attributes['gpu.nvidia.com'].profile == 'largest'"], "mig.nvidia.com"),
        (["device.attributes['gpu.nvidia.com'].type == 'vfio'"], "vfio.gpu.nvidia.com"),
        # What is not a plain comparison only narrows the devices of the driver.
        ([f"device.driver == 'gpu.nvidia.com' && !({MIG})"], "gpu.nvidia.com"),
        ([f"device.driver == 'gpu.nvidia.com' && ({MIG} || true)"], "gpu.nvidia.com"),
        (["device.driver == 'gpu.nvidia.com' || device.driver == 'gpu.amd.com'"], ""),
        (["device.driver == 'npu.intel.com'"], ""),
    ],
)
def test_a_class_of_another_name_is_like_the_known_one_that_selects_the_same(
    expressions: list[str], known: str
) -> None:
    assert like(device_class(*expressions)) == known


def test_a_class_is_like_the_resource_that_its_devices_serve() -> None:
    assert like(device_class("device.driver == 'gpu.nvidia.com'", resource="nvidia.com/gpu")) == "nvidia.com/gpu"


def test_a_request_carries_what_its_class_is_like_and_what_the_pod_may_get_instead() -> None:
    mig = device_class(MIG, name="small")
    either = device_claims.first_available(
        {"name": "a", "deviceClassName": "small"}, {"name": "b", "deviceClassName": "gpu.amd.com"}
    )
    claim = device_claims.claim(either)
    found = pod_set(device_claims.pod(device_claims.by_name()), objects=Objects([mig, claim])).requests

    assert [(each.name, each.like, each.instead) for each in found] == [
        ("small", "mig.nvidia.com", ("gpu.amd.com",)),
        ("gpu.amd.com", "", ("mig.nvidia.com",)),
    ]


def test_a_pod_that_needs_a_device_of_a_class_anyhow_gets_nothing_instead() -> None:
    either = device_claims.first_available(
        {"name": "a", "deviceClassName": "gpu.nvidia.com"}, {"name": "b", "deviceClassName": "gpu.amd.com"}
    )
    claim = device_claims.claim(either, device_claims.request("gpu.nvidia.com", name="sure"))
    found = pod_set(device_claims.pod(device_claims.by_name()), objects=Objects([claim])).requests

    assert [(each.name, each.instead) for each in found] == [
        ("gpu.nvidia.com", ()),
        ("gpu.amd.com", ("gpu.nvidia.com",)),
    ]


@pytest.mark.parametrize("accelerator", [True, False])
def test_what_the_site_says_of_a_class_decides(accelerator: bool) -> None:
    said = sections.Accelerators.model_validate({"deviceClasses": {SITE: {"accelerator": accelerator}}})

    assert gives(vocabulary=Vocabulary(said)) is accelerator


def test_a_class_of_wrong_types_is_unknown() -> None:
    assert gives(builders.replaced(device_class(), "/spec", "gpu")) is None
    assert gives(builders.replaced(device_class(), "/spec/selectors", ["device.driver == 'gpu.nvidia.com'"])) is None
    assert gives(builders.replaced(device_class("x"), "/spec/selectors/0/cel/expression", 5)) is None


def test_an_expression_longer_than_kubernetes_takes_is_not_searched() -> None:
    assert gives(device_class(" " * 20_000 + "device.driver == 'gpu.nvidia.com'")) is None


# The same devices by the names of resources


def test_gpus_that_a_class_serves_by_a_resource_are_counted_once() -> None:
    served = device_class("device.driver == 'gpu.nvidia.com'", resource="nvidia.com/gpu", name="gpu.nvidia.com")

    assert totals(builders.pod(builders.container(gpus=2)), objects=Objects([served])) == {builders.GPU: ("2", "2")}


def test_the_implicit_resource_of_a_known_class_asks_for_its_devices() -> None:
    name = "deviceclass.resource.kubernetes.io/gpu.nvidia.com"
    pod = builders.pod(builders.container(limits={name: 2}))

    assert totals(pod) == {name: ("2", "2")}
    assert [request.route for request in pod_set(pod).requests] == [model.Route.CLAIM]


def test_the_implicit_resource_of_another_class_is_looked_up() -> None:
    pod = builders.pod(builders.container(limits={IMPLICIT: 2}))
    place = "/spec/containers/0/resources/limits/deviceclass.resource.kubernetes.io~1big-gpu.example.org"

    assert totals(pod, objects=Objects([device_class("device.driver == 'gpu.nvidia.com'")])) == {IMPLICIT: ("2", "2")}
    assert totals(pod, objects=Objects([device_class("device.driver == 'dra.net'")])) == {}
    assert unknowns(pod) == [(place, f"DeviceClass {SITE} is not known here: {REMEDY}")]
    assert workload(pod).totals == ()


def test_the_implicit_resource_of_a_class_of_networks_asks_for_no_accelerator() -> None:
    pod = builders.pod(builders.container(limits={"deviceclass.resource.kubernetes.io/dra.net": 2}))

    assert pod_set(pod).requests == ()
