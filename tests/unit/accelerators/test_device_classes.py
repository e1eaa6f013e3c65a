"""Device classes and their drivers have the meaning that the charts of the drivers give them."""

import pytest

from usher.accelerators import names, vocabulary
from usher.accelerators.names import Unit


@pytest.mark.parametrize(
    ("name", "vendor", "unit", "resource"),
    [
        ("gpu.nvidia.com", "nvidia", Unit.DEVICE, "nvidia.com/gpu"),
        ("mig.nvidia.com", "nvidia", Unit.PARTITION, None),
        ("vfio.gpu.nvidia.com", "nvidia", Unit.DEVICE, None),
        ("gpu.amd.com", "amd", Unit.DEVICE, "amd.com/gpu"),
        ("gpu.intel.com", "intel", Unit.DEVICE, None),
        ("gaudi.intel.com", "intel", Unit.DEVICE, None),
        ("tpu.google.com", "google", Unit.DEVICE, "google.com/tpu"),
        ("neuron.aws.com", "aws", Unit.DEVICE, "aws.amazon.com/neuron"),
        ("hami-core-gpu.project-hami.io", "nvidia", Unit.SHARE, None),
        ("gpu.example.com", "", Unit.DEVICE, None),
    ],
)
def test_a_class_of_accelerators_says_what_one_of_them_is(
    name: str, vendor: str, unit: Unit, resource: str | None
) -> None:
    found = vocabulary.meaning_of_class(name)

    assert found.accelerator is True
    assert (found.vendor, found.unit, found.resource) == (vendor, unit, resource)
    assert resource is None or names.meaning_of(resource) is not None


@pytest.mark.parametrize(
    "name",
    [
        *("compute-domain-daemon.nvidia.com", "compute-domain-default-channel.nvidia.com", "imex.nvidia.com"),
        *("qat.intel.com", "dra.cpu", "dra.net", "dranet", "dranet.net", "mrdma.google.com", "netdev.google.com"),
        *("cpu.example.com", "net.example.com"),
    ],
)
def test_a_class_of_other_devices_is_certainly_not_an_accelerator(name: str) -> None:
    assert vocabulary.meaning_of_class(name).accelerator is False


@pytest.mark.parametrize(
    "name", ["", "gpu", "my-gpus", "mig-1g-12gb.gpu.nvidia.com", "GPU.nvidia.com", "rdma-net", "x" * 1_000_000]
)
def test_a_device_class_of_a_site_is_unknown(name: str) -> None:
    assert vocabulary.meaning_of_class(name) is vocabulary.UNKNOWN_CLASS
    assert vocabulary.UNKNOWN_CLASS.accelerator is None


@pytest.mark.parametrize(
    ("name", "accelerators"),
    [
        *[(name, True) for name in ("gpu.nvidia.com", "gpu.amd.com", "gpu.intel.com", "gaudi.intel.com")],
        *[(name, True) for name in ("npu.intel.com", "tpu.google.com", "neuron.aws.com", "npu.furiosa.ai")],
        *[(name, False) for name in ("compute-domain.nvidia.com", "qat.intel.com", "dra.cpu", "dra.net")],
        *[(name, None) for name in ("", "driver.example.org", "gpu.nvidia.com ")],
    ],
)
def test_a_driver_has_accelerators_or_other_devices_or_is_not_known(name: str, accelerators: bool | None) -> None:
    assert vocabulary.is_accelerator_driver(name) is accelerators
