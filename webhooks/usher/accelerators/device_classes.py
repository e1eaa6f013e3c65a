"""The meaning of the names of DRA device classes and their drivers. usher guesses nothing from a name.

The classes of NVIDIA: docs/domain/device-claims.md#nvidia-classes.
"""

from typing import Final

from usher.accelerators.names import Unit
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClassMeaning:
    """One device of a class; `accelerator` is None for an unknown class."""

    accelerator: bool | None
    vendor: str = ""
    unit: Unit | None = None
    driver: str = ""
    resource: str | None = None
    """The extended resource that stands for a device of the class; None without one."""
    offered_as: tuple[str, ...] = ()
    """The resources of nodes that have these devices, `*` ends a prefix; empty if usher knows no resource."""
    memory_step: int | None = None
    """Bytes to which the driver rounds up the memory of claims that share a device; None if claims take whole ones."""


UNKNOWN: Final = DeviceClassMeaning(accelerator=None)


def device_class(name: str) -> DeviceClassMeaning:
    return _KNOWN.get(name, UNKNOWN)


def names() -> list[str]:
    """All known classes."""
    return [*_KNOWN]


def driver(name: str) -> bool | None:
    """Whether the devices of a driver are accelerators; None where that is unknown."""
    return _DRIVERS.get(name)


def class_of_driver(name: str) -> str:
    """The class of the whole accelerators of a driver; empty for an unknown driver."""
    return _CLASSES.get(name, "")


def _accelerator(
    vendor: str, unit: Unit, driver_name: str, resource: str | None = None, *offered_as: str
) -> DeviceClassMeaning:
    return DeviceClassMeaning(
        accelerator=True,
        vendor=vendor,
        unit=unit,
        driver=driver_name,
        resource=resource,
        offered_as=(*filter(None, [resource]), *offered_as),
    )


def _other(driver_name: str = "") -> DeviceClassMeaning:
    return DeviceClassMeaning(accelerator=False, driver=driver_name)


_INTEL_GPUS: Final = ("gpu.intel.com/i915", "gpu.intel.com/xe", "gpu.intel.com/dxg", "intel.com/gpu")

_KNOWN: Final = {
    # kubernetes-sigs/dra-driver-nvidia-gpu deployments/helm/dra-driver-nvidia-gpu/templates/deviceclass-*.yaml.
    # Channels of IMEX connect the GPUs of several nodes; the GPUs are asked for beside them.
    "gpu.nvidia.com": _accelerator("nvidia", Unit.DEVICE, "gpu.nvidia.com", "nvidia.com/gpu"),
    "mig.nvidia.com": _accelerator(
        "nvidia", Unit.PARTITION, "gpu.nvidia.com", None, "nvidia.com/gpu", "nvidia.com/mig-*"
    ),
    "vfio.gpu.nvidia.com": _accelerator(
        "nvidia", Unit.DEVICE, "gpu.nvidia.com", None, "nvidia.com/gpu", "nvidia.com/pgpu"
    ),
    "compute-domain-daemon.nvidia.com": _other("compute-domain.nvidia.com"),
    "compute-domain-default-channel.nvidia.com": _other("compute-domain.nvidia.com"),
    # NVIDIA/k8s-dra-driver-gpu demo/specs/quickstart/v1/imex-test1.yaml: the older class of these channels.
    "imex.nvidia.com": _other(),
    # ROCm/k8s-gpu-dra-driver helm-charts-k8s/templates/deviceclass.yaml; partitions are of this class too.
    "gpu.amd.com": _accelerator(
        *("amd", Unit.DEVICE, "gpu.amd.com", "amd.com/gpu"),
        *("amd.com/spx*", "amd.com/dpx*", "amd.com/tpx*", "amd.com/qpx*", "amd.com/cpx*"),
    ),
    # intel/intel-resource-drivers-for-kubernetes charts/*/templates/device-class.yaml.
    "gpu.intel.com": _accelerator("intel", Unit.DEVICE, "gpu.intel.com", None, *_INTEL_GPUS),
    "gpu-vfio.intel.com": _accelerator("intel", Unit.DEVICE, "gpu.intel.com", None, *_INTEL_GPUS),
    "gaudi.intel.com": _accelerator("intel", Unit.DEVICE, "gaudi.intel.com", None, "habana.ai/gaudi"),
    "qat.intel.com": _other("qat.intel.com"),
    # GKE: set-up-dra (TPU), allocate-network-resources-dra (network cards).
    "tpu.google.com": _accelerator("google", Unit.DEVICE, "tpu.google.com", "google.com/tpu"),
    "mrdma.google.com": _other(),
    "netdev.google.com": _other(),
    # EKS user guide, device-management-neuron.
    "neuron.aws.com": _accelerator(
        *("aws", Unit.DEVICE, "neuron.aws.com", "aws.amazon.com/neuron"),
        *("aws.amazon.com/neurondevice", "aws.amazon.com/neuroncore"),
    ),
    # Furiosa DRA driver, installation guide.
    "npu.furiosa.ai": _accelerator("furiosa", Unit.DEVICE, "npu.furiosa.ai", "furiosa.ai/rngd", "furiosa.ai/rngd-*"),
    # Project-HAMi/k8s-dra-driver chart/hami-dra-driver/templates/deviceclass-hami-gpu.yaml.
    "hami-core-gpu.project-hami.io": _accelerator(
        "nvidia", Unit.SHARE, "hami-core-gpu.project-hami.io", None, "nvidia.com/gpu"
    ),
    # kubernetes-sigs/dra-driver-cpu manifests/base; google/dranet site/content/docs and tests/manifests.
    "dra.cpu": _other("dra.cpu"),
    "dra.net": _other("dra.net"),
    "dranet": _other("dra.net"),
    # kubernetes-sigs/dra-example-driver: it plays GPUs, and other devices by its profiles.
    "gpu.example.com": _accelerator("", Unit.DEVICE, "gpu.example.com"),
    "cpu.example.com": _other("cpu.example.com"),
    "net.example.com": _other("net.example.com"),
}

_DRIVERS: Final = {
    **{known.driver: known.accelerator for known in _KNOWN.values() if known.driver},
    # intel/intel-resource-drivers-for-kubernetes pkg/npu/device/device.go.
    "npu.intel.com": True,
}

_CLASSES: Final = {known.driver: name for name, known in reversed(_KNOWN.items()) if known.accelerator and known.driver}
