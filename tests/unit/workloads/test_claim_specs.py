"""Whether the devices of a class are accelerators, where its name does not say it."""

import pytest

import builders
from unit.workloads.normalised import VOCABULARY, pod_set, totals, unknowns, workload
from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.config import models
from usher.reading.context import Context
from usher.reading.lookup import Objects
from usher.reading.values import Reading
from usher.workloads.claim_specs import gives_accelerators

SITE = "big-gpu.example.org"
IMPLICIT = f"deviceclass.resource.kubernetes.io/{SITE}"
REMEDY = "whether its devices are accelerators is not known; usher.yaml can name it under accelerators.deviceClasses"


def device_class(*expressions: str, resource: str | None = None, name: str = SITE) -> paths.Object:
    spec: paths.Object = {"selectors": [{"cel": {"expression": each}} for each in expressions]}
    if resource is not None:
        spec["extendedResourceName"] = resource
    return builders.custom("resource.k8s.io/v1", "DeviceClass", spec, name=name, namespace=None)


def gives(*values: paths.Object, vocabulary: Vocabulary = VOCABULARY) -> bool | None:
    """None where nobody knows."""
    reading = Reading(Context(objects=Objects(values)))
    found = gives_accelerators(SITE, path="/here", reading=reading, vocabulary=vocabulary)
    return None if reading.found() else found


def reason_of(*values: paths.Object) -> str:
    reading = Reading(Context(objects=Objects(values)))
    assert not gives_accelerators(SITE, path="/here", reading=reading, vocabulary=VOCABULARY)
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


@pytest.mark.parametrize("accelerator", [True, False])
def test_what_the_site_says_of_a_class_decides(accelerator: bool) -> None:
    said = models.Accelerators.model_validate({"deviceClasses": {SITE: {"accelerator": accelerator}}})

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
