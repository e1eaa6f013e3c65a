"""A resource that devices of a class serve counts as what the class selects, whatever it is called."""

import pytest

import builders
from unit.authorities import knowing as authorities_knowing
from usher import paths
from usher.authorities.gpu_quota import definitions, present
from usher.authorities.knowledge import Knowledge
from usher.cluster.facts.store import Store
from usher.kinds.reading.values import Objects

BIG = "example.com/big"


def serving(resource: str, expression: str, *, name: str = "fast") -> paths.Object:
    spec: paths.Object = {"extendedResourceName": resource, "selectors": [{"cel": {"expression": expression}}]}
    return builders.custom("resource.k8s.io/v1", "DeviceClass", spec, name=name, namespace=None)


NVIDIA = serving(BIG, "device.driver == 'gpu.nvidia.com'")
SEVEN = serving(BIG, "device.attributes['gpu.nvidia.com'].profile == '7g.80gb'")
OTHER = serving(BIG, "device.driver == 'dra.net'")
UNKNOWN = serving(BIG, "device.driver == 'somebody.example.org'")


def knowing(*classes: paths.Object) -> Knowledge:
    return authorities_knowing.knowing(Store.of(classes))


def asking(resource: str = BIG, number: int = 2) -> paths.Object:
    return builders.pod(builders.container(limits={resource: number}), namespace="ml-research")


def charged(known: Knowledge, value: paths.Object, **hard: int) -> dict[str, int]:
    """The amounts that a quota with these limits charges."""
    workload = known.workload(value)
    quota = definitions.of_object(builders.gpu_quota(limits=[{"hard": hard}]))
    assert workload is not None
    assert isinstance(quota, definitions.Quota)
    found = present.judge(known, workload, quota)
    assert not found.unclear
    return {unit: nanos // 10**9 for amounts in found.charge.amounts.values() for unit, nanos in amounts.items()}


def test_gpus_under_another_name_are_charged_as_gpus() -> None:
    assert charged(knowing(NVIDIA), asking(), gpus=8) == {"gpus": 2, "slices": 14}
    assert charged(knowing(), asking(), gpus=8) == {}


def test_instances_under_another_name_are_charged_as_instances() -> None:
    instances = {"profiles.7g.80gb": 2, "slices": 14, "memoryGiB": 160}

    assert charged(knowing(SEVEN), asking(), slices=8) == instances
    assert charged(knowing(SEVEN), asking(), gpus=8) == instances | {"gpus": 2}


def test_other_devices_under_a_name_are_charged_nothing() -> None:
    known = knowing(OTHER)
    workload = known.workload(asking())

    assert charged(known, asking(), gpus=8) == {}
    assert workload is not None
    assert workload.unknowns == ()


def test_a_class_that_cannot_be_resolved_is_unknown_to_the_quota() -> None:
    known = knowing(UNKNOWN)
    workload = known.workload(asking())
    quota = definitions.of_object(builders.gpu_quota())
    assert workload is not None
    assert isinstance(quota, definitions.Quota)

    (unclear,) = present.judge(known, workload, quota).unclear
    assert unclear.path == "/spec/containers/0/resources/limits/example.com~1big"
    assert unclear.reason.startswith("DeviceClass fast: whether its devices are accelerators is not known")


@pytest.mark.parametrize("resource", ["nvidia.com/gpu", "nvidia.com/mig-1g.10gb"])
def test_a_known_name_keeps_its_meaning(resource: str) -> None:
    renaming = serving(resource, "device.driver == 'gpu.amd.com'")

    assert charged(knowing(renaming), asking(resource), slices=8) == charged(knowing(), asking(resource), slices=8)


def test_the_meaning_follows_the_facts() -> None:
    facts = Store.of([NVIDIA])
    known = authorities_knowing.knowing(facts)

    assert charged(known, asking(), gpus=8)["gpus"] == 2
    facts.put(OTHER)
    assert charged(known, asking(), gpus=8) == {}
    facts.put(NVIDIA)
    assert charged(known, asking(), gpus=8)["gpus"] == 2


def test_classes_of_the_same_files_count_without_a_cluster() -> None:
    known = knowing()
    workload = known.workload(asking(), objects=Objects([SEVEN]))
    quota = definitions.of_object(builders.gpu_quota())
    assert workload is not None
    assert isinstance(quota, definitions.Quota)

    (amounts,) = present.charge(known, workload, quota).amounts.values()
    assert {unit: nanos // 10**9 for unit, nanos in amounts.items()}["gpus"] == 2
