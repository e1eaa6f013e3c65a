"""The resource names that usher knows, and the meaning of each: unit, vendor, and the resource that it divides.

`known_names` has the names, `meanings` finds the meaning of one, `vocabulary` adds what usher.yaml says.

A source is a repository with the place in it, or the vendor's own documentation. A new vendor is a new entry of
vendors.yaml.

Left out on purpose, because they are not accelerators: FPGAs (amd.com/xilinx_*, fpga.intel.com/*), Intel QAT, SGX, DSA
and DLB. Left out for want of a source: d-matrix, Tenstorrent, Cerebras, SambaNova, Groq. nvidia.com/imex-channel is not
a resource but a kind of CDI device (NVIDIA/k8s-device-plugin internal/cdi/imex.go). run:ai has annotations only.
"""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
from msgspec import Struct

from usher import memo

LONGEST_NAME: Final = 317
"""Characters of the longest resource name in Kubernetes; the meanings of longer names are not remembered."""

CLAIM_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
"""With the name of a class: a resource that claims a device of it (docs/domain/device-claims.md#extended-resources)."""

MIB: Final = 2**20
GIB: Final = 2**30


class Unit(StrEnum):
    """One unit of a resource. Only units of DEVICE add up to a number of whole devices."""

    DEVICE = "device"
    """A whole device by its name, maybe a time slice or MIG (docs/domain/accelerators.md#resource-names)."""
    PARTITION = "partition"
    """A part of a device that hardware keeps apart: MIG, AMD's partitions, NeuronCores. The board decides which part.
    """
    SHARE = "share"
    """Access to a device that other pods use too. Side resources may say how much of it."""
    MEMORY = "memory"
    """Memory of a share; `size` is the bytes of one."""
    MEMORY_FRACTION = "memory-fraction"
    """Memory of a share; `size` is how many units make up the memory of a device: 100 for percent."""
    CORES = "cores"
    """Computing power of a share; `size` is how many units make up a device: 100 for percent."""
    FABRIC = "fabric"
    """A network card or a switch of GPUs, which is not an accelerator itself."""
    MONITORING = "monitoring"
    """Access to all devices of the node, without taking a device from other pods."""
    CLAIM = "claim"
    """Devices of the class `device_class`, which decides their type."""
    SETTING = "setting"
    """Changes a setting of another resource."""


GIVING: Final = frozenset(Unit) - {Unit.FABRIC, Unit.SETTING}
"""A positive amount of these units gives a pod an accelerator; for a CLAIM, the device class decides."""


class Meaning(Struct, frozen=True, kw_only=True):
    """The meaning of a resource name."""

    unit: Unit
    vendor: str = ""
    """The vendor of the devices, in lower case; empty where the name does not say it."""
    size: int | None = None
    """For MEMORY, MEMORY_FRACTION and CORES, as described there; None where the sources do not say it or contradict
    each other."""
    divides: str | None = None
    """The resource that counts the devices. In a container that asks for both, those devices are shares."""
    device_class: str | None = None
    per_device: int | None = None
    """For SHARE and PARTITION, how many of them make up a device; None where usher.yaml does not say it."""


class Known(Struct, frozen=True, kw_only=True):
    """One name, or the names of a domain that match a pattern, with their meaning."""

    name: str = ""
    domain: str = ""
    pattern: re.Pattern[str] | None = None
    """Matched at the start of the part after the slash; the first matching pattern of a domain decides."""
    unit: Unit
    size: int | None = None
    divides: str | None = None
    """The divided resource, as in a Meaning; with a pattern it may use its groups."""


def _known(row: Mapping[str, Any]) -> Iterator[Known]:
    for name in row.get("names", ("",)):
        yield Known(
            name=name,
            domain=row.get("domain", ""),
            pattern=None if name else memo.pattern(row["pattern"], re.ASCII | re.DOTALL),
            unit=Unit(row["unit"]),
            size=row.get("size"),
            divides=row.get("divides"),
        )


VENDORS: Final[dict[str, tuple[Known, ...]]] = {
    vendor: tuple(known for row in rows for known in _known(row))
    for vendor, rows in orjson.loads(Path(__file__).with_name("vendors.json").read_bytes()).items()
}

PARTS: Final[dict[str, Known]] = {
    known.name: known for vendor in VENDORS.values() for known in vendor if known.name and known.divides
}
"""The memory and the cores of a device that HAMi and Volcano give, by resource."""


class _Pattern(NamedTuple):
    domain: str
    expression: re.Pattern[str]
    vendor: str
    known: Known


def _meaning(vendor: str, known: Known, divides: str | None) -> Meaning:
    return Meaning(unit=known.unit, vendor=vendor, size=known.size, divides=divides)


HAMI_REGISTER: Final = memo.pattern(r"(?:hami|4pd)\.io/node-.*register")
"""The annotations of nodes in which HAMi lists their devices (RegisterAnnos in HAMi:pkg/device/*/device.go)."""
REGISTER: Final = re.compile(rf"{HAMI_REGISTER.pattern}|volcano\.sh/node-vgpu-register")
"""Also that in which Volcano's device plugin lists them."""

HIDING_VARIABLES: Final = {
    # ROCm/container-toolkit @ 03f50691 internal/oci/oci.go, getAMDEnv: a text without an index gives nothing.
    "amd.com": "AMD_VISIBLE_DEVICES",
    # HYGON-AI/hcu-container-toolkit @ 926ffe8c internal/config/image/dtk_image.go, DevicesFromEnvvars.
    "dcu.com": "HCU_VISIBLE_DEVICES",
    "hygon.com": "HCU_VISIBLE_DEVICES",
    # HabanaAI/habana-container-runtime @ 367e04ee cmd/habana-container-runtime/specs.go, filterDevicesByENV.
    "habana.ai": "HABANA_VISIBLE_DEVICES",
    # Ascend Docker Runtime of MindCluster, user guide: with `void` it mounts no device, driver or file.
    "huawei.com": "ASCEND_VISIBLE_DEVICES",
    # Deep-Spark/ix-container-toolkit @ 26d99961 internal/config/image/device.go, NewVisibleDevices.
    "iluvatar.ai": "IX_VISIBLE_DEVICES",
    "iluvatar.com": "IX_VISIBLE_DEVICES",
    # zxw3221/xpu-container-toolkit, user guide, "XPU Enumeration".
    "kunlunxin.com": "CXPU_VISIBLE_DEVICES",
}
"""By the domain of a resource, the variable that hides all its devices from a container if the value is `void`.

NVIDIA's is set everywhere. For other vendors no source says that a value hides devices.
"""

_BY_NAME: Final = {
    known.name: _meaning(vendor, known, known.divides)
    for vendor, entries in VENDORS.items()
    for known in entries
    if known.pattern is None
}
DEVICE_NAMES: Final = tuple(name for name, meaning in _BY_NAME.items() if meaning.unit is Unit.DEVICE and "/" in name)
"""The resources of whole devices that have one name."""

WHOLE_GPUS: Final = frozenset(
    {"nvidia.com/gpu", "amd.com/gpu", "intel.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe"}
)
"""Resources that count as GPUs. Slices, shares and other accelerators count by their own name."""

_PATTERNS: Final = tuple(
    _Pattern(known.domain, known.pattern, vendor, known)
    for vendor, entries in VENDORS.items()
    for known in entries
    if known.pattern is not None
)


def meaning_of(name: str) -> Meaning | None:
    """The meaning of a resource; None for cpu, memory and every other name that usher does not know."""
    return _remembered(name) if len(name) <= LONGEST_NAME else _find_meaning(name)


def _find_meaning(name: str) -> Meaning | None:
    found = _BY_NAME.get(name)
    if found is not None:
        return found
    if name.startswith(CLAIM_PREFIX):
        return Meaning(unit=Unit.CLAIM, device_class=name.removeprefix(CLAIM_PREFIX))
    domain, slash, rest = name.partition("/")
    for pattern in _PATTERNS if slash else ():
        match = pattern.expression.match(rest) if pattern.domain == domain else None
        if match is not None:
            divides = pattern.known.divides
            return _meaning(pattern.vendor, pattern.known, match.expand(divides) if divides else divides)
    return None


_remembered = lru_cache(maxsize=1024)(_find_meaning)

# NVIDIA/KAI-Scheduler pkg/common/constants/constants.go; run:ai, from which it comes, reads the same keys.
GPU_FRACTION: Final = "gpu-fraction"
"""Part of each of GPU_FRACTION_DEVICES: 0.5 is half a GPU."""
GPU_MEMORY: Final = "gpu-memory"
"""MiB of a GPU's memory, instead of a fraction."""
GPU_FRACTION_DEVICES: Final = "gpu-fraction-num-devices"
"""How many GPUs the fraction is taken from; 1 where it is missing."""
GPU_FRACTION_CONTAINER: Final = "gpu-fraction-container-name"
"""The container that gets them; the first where it is missing."""

# GoogleCloudPlatform/container-engine-accelerators gpudirect-tcpx/nccl-test-latest.yaml.
GKE_DEVICES: Final = "devices.gke.io/container."
"""Prefix; the container's name follows. The value lists device files: /dev/nvidia0."""

# Container Device Interface: containerd and CRI-O inject the devices that these annotations list, where the runtime is
# set up so.
CDI_DEVICES: Final = "cdi.k8s.io/"
"""Prefix. The value lists devices: nvidia.com/gpu=all."""

# NVIDIA/nvidia-container-toolkit cmd/nvidia-ctk-installer/container/runtime/nri/plugin.go.
NVIDIA_CDI_DEVICES: Final = "nvidia.cdi.k8s.io"
"""For all containers; followed by /container. and a name, for one. The value lists devices as above."""
