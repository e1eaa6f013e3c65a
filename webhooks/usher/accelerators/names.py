"""The resource names that usher knows, and the meaning of each: unit, vendor, and the resource that it divides.

`known_names` has the names, `meanings` finds the meaning of one, `vocabulary` adds what usher.yaml says.

A source is a repository with the place in it, or the vendor's own documentation. A new vendor is a new entry of
VENDORS.

Left out on purpose, because they are not accelerators: FPGAs (amd.com/xilinx_*, fpga.intel.com/*), Intel QAT, SGX, DSA
and DLB. Left out for want of a source: d-matrix, Tenstorrent, Cerebras, SambaNova, Groq. nvidia.com/imex-channel is not
a resource but a kind of CDI device (NVIDIA/k8s-device-plugin internal/cdi/imex.go). run:ai has annotations only.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

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


def _names(unit: Unit, *names: str, size: int | None = None, divides: str | None = None) -> Iterator[Known]:
    for name in names:
        yield Known(name=name, unit=unit, size=size, divides=divides)


def _pattern(unit: Unit, domain: str, pattern: str, *, size: int | None = None, divides: str | None = None) -> Known:
    compiled = re.compile(pattern, re.ASCII | re.DOTALL)
    return Known(domain=domain, pattern=compiled, unit=unit, size=size, divides=divides)


VENDORS: Final[dict[str, tuple[Known, ...]]] = {
    "nvidia": (
        # NVIDIA/k8s-device-plugin README.md; api/config/v1/consts.go.
        *_names(Unit.DEVICE, "nvidia.com/gpu"),
        *_names(Unit.SHARE, "nvidia.com/gpu.shared"),
        # NVIDIA/sandbox-device-plugin cmd/main.go: whole GPUs, and NVSwitches, for virtual machines.
        *_names(Unit.DEVICE, "nvidia.com/pgpu"),
        *_names(Unit.FABRIC, "nvidia.com/nvswitch"),
        # Project-HAMi/HAMi charts/hami/values.yaml. Without nvidia.com/gpu its webhook asks for one GPU:
        # pkg/device/nvidia/device.go, mutateContainerResource.
        *_names(Unit.MEMORY, "nvidia.com/gpumem", size=MIB, divides="nvidia.com/gpu"),
        *_names(Unit.MEMORY_FRACTION, "nvidia.com/gpumem-percentage", size=100, divides="nvidia.com/gpu"),
        *_names(Unit.CORES, "nvidia.com/gpucores", size=100, divides="nvidia.com/gpu"),
        *_names(Unit.SETTING, "nvidia.com/priority"),
        # NVIDIA/k8s-device-plugin internal/rm/rm.go: the profile with + as a dot, so .me, .me.all, .gfx, -me.
        _pattern(Unit.SHARE, "nvidia.com", r"mig-.*\.shared\Z"),
        _pattern(Unit.PARTITION, "nvidia.com", r"mig-"),
        # nebuly-ai/nos pkg/gpu/slicing/profile.go: a slice by MPS.
        _pattern(Unit.SHARE, "nvidia.com", r"gpu-\d+gb\Z"),
        # docs/domain/accelerators.md#fabric-devices; one pool by port on DGX (NVIDIA DeepOps).
        _pattern(Unit.FABRIC, "nvidia.com", r"hostdev|resib"),
        # NVIDIA/kubevirt-gpu-device-plugin pkg/device_plugin: whole devices by their name in pci.ids, which starts with
        # the chip (GA102GL_A10); virtual GPUs by the name of their type (GRID_T4-1Q).
        _pattern(Unit.FABRIC, "nvidia.com", r"G[A-Z]\d{3}[A-Z]*_.*NVSWITCH"),
        _pattern(Unit.DEVICE, "nvidia.com", r"(?:G[A-Z]|TU|AD)\d{3}[A-Z]*_"),
        _pattern(Unit.SHARE, "nvidia.com", r"(?:GRID|NVIDIA)_.*-\d+[ABCQ]\d?\Z"),
        # volcano-sh/volcano pkg/scheduler/api/devices/config/vgpu.go; docs/user-guide/how_to_use_volcano_vgpu.md.
        *_names(Unit.SHARE, "volcano.sh/vgpu-number"),
        *_names(Unit.MEMORY, "volcano.sh/vgpu-memory", size=MIB, divides="volcano.sh/vgpu-number"),
        *_names(Unit.MEMORY_FRACTION, "volcano.sh/vgpu-memory-percentage", size=100, divides="volcano.sh/vgpu-number"),
        *_names(Unit.CORES, "volcano.sh/vgpu-cores", size=100, divides="volcano.sh/vgpu-number"),
        # volcano-sh/volcano docs/user-guide/how_to_use_gpu_sharing.md and how_to_use_gpu_number.md (exclusive cards).
        *_names(Unit.MEMORY, "volcano.sh/gpu-memory", size=MIB),
        *_names(Unit.DEVICE, "volcano.sh/gpu-number"),
        # AliyunContainerService/gpushare-scheduler-extender docs/userguide.md (GiB, or MiB by a setting of the plugin);
        # kubeflow/arena for the cores. gpu-count is the number of cards of a node that is shared.
        *_names(Unit.MEMORY, "aliyun.com/gpu-mem", size=GIB),
        *_names(Unit.CORES, "aliyun.com/gpu-core.percentage", size=100),
        *_names(Unit.SHARE, "aliyun.com/gpu-count"),
        # tkestack/gpu-manager README.md: 100 cores are a GPU, and a unit of memory is 256 MiB.
        *_names(Unit.CORES, "tencent.com/vcuda-core", size=100),
        *_names(Unit.MEMORY, "tencent.com/vcuda-memory", size=256 * MIB),
        # Tencent Cloud TKE, documentation of qGPU.
        *_names(Unit.CORES, "tke.cloud.tencent.com/qgpu-core", "tke.cloud.tencent.com/qgpu-core-greedy", size=100),
        *_names(Unit.MEMORY, "tke.cloud.tencent.com/qgpu-memory", size=GIB),
        # Baidu CCE: one name for all cards or one by model (baidu.com/h800_80g_cgpu).
        _pattern(Unit.MEMORY, "baidu.com", r"(\w*cgpu)_memory\Z", divides=r"baidu.com/\1"),
        _pattern(Unit.CORES, "baidu.com", r"(\w*cgpu)_core\Z", size=100, divides=r"baidu.com/\1"),
        _pattern(Unit.SHARE, "baidu.com", r"\w*cgpu\Z"),
        # docs/domain/accelerators.md#fabric-devices.
        _pattern(Unit.FABRIC, "mellanox.com", ""),
    ),
    "amd": (
        # ROCm/k8s-device-plugin docs/user-guide/configuration.md: strategy single calls partitions so too; spx is the
        # mode that leaves a GPU whole.
        *_names(Unit.DEVICE, "amd.com/gpu"),
        _pattern(Unit.DEVICE, "amd.com", r"spx"),
        _pattern(Unit.PARTITION, "amd.com", r"cpx|dpx|qpx|tpx"),
        # Project-HAMi/website docs/userguide/amd-device.
        *_names(Unit.MEMORY, "amd.com/gpumem", size=MIB, divides="amd.com/gpu"),
        *_names(Unit.CORES, "amd.com/gpucores", size=100, divides="amd.com/gpu"),
    ),
    "intel": (
        # intel/intel-device-plugins-for-kubernetes cmd/gpu_plugin/README.md, cmd/npu_plugin/README.md.
        *_names(Unit.DEVICE, "gpu.intel.com/dxg", "gpu.intel.com/i915", "gpu.intel.com/xe", "npu.intel.com/accel"),
        *_names(Unit.MONITORING, "gpu.intel.com/monitoring", "gpu.intel.com/i915_monitoring"),
        *_names(Unit.MONITORING, "gpu.intel.com/xe_monitoring"),
        # kserve/kserve pkg/constants/constants.go.
        *_names(Unit.DEVICE, "intel.com/gpu", "habana.ai/gaudi"),
        # k8snetworkplumbingwg/sriov-network-device-plugin README.md.
        _pattern(Unit.FABRIC, "intel.com", r"intel_sriov|sriov|intel_rdma"),
    ),
    "google": (
        # docs/domain/accelerators.md#resource-names and #fabric-devices (GKE's networks).
        *_names(Unit.DEVICE, "google.com/tpu"),
        _pattern(Unit.FABRIC, "networking.gke.io.networks", ""),
    ),
    "aws": (
        # docs/domain/accelerators.md#resource-names and #fabric-devices (EFA). How many NeuronCores a device has,
        # depends on its generation.
        *_names(Unit.DEVICE, "aws.amazon.com/neuron", "aws.amazon.com/neurondevice"),
        *_names(Unit.PARTITION, "aws.amazon.com/neuroncore"),
        *_names(Unit.FABRIC, "vpc.amazonaws.com/efa"),
    ),
    # AliyunContainerService/terway (eRDMA).
    "alibaba": (*_names(Unit.FABRIC, "aliyun/erdma"),),
    # gpustack/runtime gpustack_runtime/envs.py and the ACS examples of Alibaba Cloud.
    "t-head": (*_names(Unit.DEVICE, "alibabacloud.com/ppu"),),
    # IBM Spyre operator: physical and virtual functions, with the distance between the cards (_tier0) if wanted.
    "ibm": (
        _pattern(Unit.DEVICE, "ibm.com", r"(?:aiu|spyre)_pf(?:_tier\d)?\Z"),
        _pattern(Unit.PARTITION, "ibm.com", r"spyre_vf(?:_tier\d)?\Z"),
    ),
    # From here on, unless another source is named: Project-HAMi/HAMi charts/hami/values.yaml and
    # templates/scheduler/device-configmap.yaml, and Project-HAMi/website docs/userguide.
    "huawei": (
        # Ascend/mind-cluster (npu of Atlas 350); volcano-sh/volcano docs/user-guide/how_to_use_vnpu.md (npu-core);
        # koordinator-sh/koordinator apis/extension/device_share.go (npu-cpu and npu-dvpp, other units of the chip).
        # volcano-sh/kthena examples/model-booster/prefill-decode-disaggregation.yaml (ascend-1980, a whole NPU).
        *_names(Unit.DEVICE, "huawei.com/npu", "huawei.com/ascend-1980"),
        *_names(Unit.CORES, "huawei.com/npu-core"),
        *_names(Unit.SETTING, "huawei.com/npu-cpu", "huawei.com/npu-dvpp"),
        _pattern(Unit.MEMORY, "huawei.com", r"(Ascend\d\w*(?:-\d)?)-memory\Z", size=MIB, divides=r"huawei.com/\1"),
        _pattern(Unit.CORES, "huawei.com", r"(Ascend\d\w*(?:-\d)?)-core\Z", size=100, divides=r"huawei.com/\1"),
        # Ascend/mind-cluster: a vNPU by its AI cores (Ascend310P-4c.3cpu).
        _pattern(Unit.PARTITION, "huawei.com", r"Ascend\d\w*-\d+c(?:\.|\Z)"),
        _pattern(Unit.DEVICE, "huawei.com", r"Ascend\d\w*(?:-\d)?\Z"),
    ),
    "cambricon": (
        # Cambricon/cambricon-k8s-device-plugin device-plugin/pkg/mlu/server.go. HAMi's code takes a unit of memory for
        # 256 MiB, its documentation for a percentage.
        *_names(Unit.SHARE, "cambricon.com/vmlu"),
        _pattern(Unit.PARTITION, "cambricon.com", r"mlu[\w-]*\.mim-"),
        _pattern(Unit.SHARE, "cambricon.com", r"mlu[\w-]*\.share\Z"),
        _pattern(Unit.MEMORY, "cambricon.com", r"mlu[\w-]*(?:\.smlu)?\.vmemory\Z", divides="cambricon.com/vmlu"),
        _pattern(Unit.CORES, "cambricon.com", r"mlu[\w-]*(?:\.smlu)?\.vcore\Z", size=100, divides="cambricon.com/vmlu"),
        _pattern(Unit.DEVICE, "cambricon.com", r"mlu[\w-]*\Z"),
    ),
    "hygon": (
        # gpustack/runtime gpustack_runtime/envs.py (dcu); Hygon's device plugin, strategies vdcu and mig (patterns).
        *_names(Unit.DEVICE, "hygon.com/dcu", "hygon.com/dcunum", "dcu.com/gpu"),
        *_names(Unit.MEMORY, "hygon.com/dcumem", size=MIB, divides="hygon.com/dcunum"),
        *_names(Unit.CORES, "hygon.com/dcucores", size=100, divides="hygon.com/dcunum"),
        _pattern(Unit.SHARE, "hygon.com", r"dcu-share-"),
        _pattern(Unit.PARTITION, "hygon.com", r"dcu-mig-"),
    ),
    "iluvatar": (
        # Deep-Spark/ix-device-plugin README.md, which called it iluvatar.ai/gpu in earlier releases; HAMi
        # pkg/device/iluvatar/device.go.
        *_names(Unit.DEVICE, "iluvatar.com/gpu", "iluvatar.ai/gpu"),
        _pattern(Unit.SHARE, "iluvatar.ai", r"[\w-]+-vgpu\Z"),
        _pattern(Unit.MEMORY, "iluvatar.ai", r"([\w-]+)\.vMem\Z", size=256 * MIB, divides=r"iluvatar.ai/\1-vgpu"),
        _pattern(Unit.CORES, "iluvatar.ai", r"([\w-]+)\.vCore\Z", size=100, divides=r"iluvatar.ai/\1-vgpu"),
    ),
    "metax": (
        *_names(Unit.DEVICE, "metax-tech.com/gpu"),
        *_names(Unit.SHARE, "metax-tech.com/sgpu"),
        *_names(Unit.MEMORY, "metax-tech.com/vmemory", size=GIB, divides="metax-tech.com/sgpu"),
        *_names(Unit.CORES, "metax-tech.com/vcore", size=100, divides="metax-tech.com/sgpu"),
    ),
    # Moore Threads: KUAE installation guide.
    "mthreads": (
        *_names(Unit.DEVICE, "mthreads.com/gpu"),
        *_names(Unit.SHARE, "mthreads.com/vgpu"),
        *_names(Unit.MEMORY, "mthreads.com/sgpu-memory", size=512 * MIB, divides="mthreads.com/vgpu"),
        *_names(Unit.CORES, "mthreads.com/sgpu-core", size=16, divides="mthreads.com/vgpu"),
    ),
    # EnflameTechnology/gcushare. gcu-count is the number of cards of a node that is shared.
    "enflame": (
        *_names(Unit.DEVICE, "enflame.com/gcu"),
        *_names(Unit.PARTITION, "enflame.com/drs-gcu"),
        *_names(Unit.SHARE, "enflame.com/shared-gcu", "enflame.com/vgcu", "enflame.com/gcu-count"),
        *_names(Unit.CORES, "enflame.com/vgcu-percentage", size=100, divides="enflame.com/vgcu"),
        *_names(Unit.MEMORY, "enflame.com/gcu-memory", size=MIB),
        *_names(Unit.CORES, "enflame.com/gcu-core", size=100),
    ),
    "kunlunxin": (
        *_names(Unit.DEVICE, "kunlunxin.com/xpu"),
        *_names(Unit.SHARE, "kunlunxin.com/vxpu"),
        *_names(Unit.MEMORY, "kunlunxin.com/vxpu-memory", size=MIB, divides="kunlunxin.com/vxpu"),
    ),
    "vastai": (*_names(Unit.DEVICE, "vastaitech.com/va"),),
    # BirenTechnology/k8s-device-plugin; its cards can be cut into halves and quarters.
    "biren": (
        *_names(Unit.DEVICE, "birentech.com/gpu"),
        *_names(Unit.PARTITION, "birentech.com/1-2-gpu", "birentech.com/1-4-gpu"),
    ),
    # Furiosa device plugin, developer.furiosa.ai: resource strategies legacy and generic; release 2024.2 (2core.12gb).
    "furiosa": (
        *_names(Unit.DEVICE, "furiosa.ai/rngd", "furiosa.ai/warboy", "beta.furiosa.ai/npu"),
        _pattern(Unit.PARTITION, "furiosa.ai", r"(?:rngd|warboy)-\d+core\.\d+gb\Z"),
    ),
    # rebellions-sw/rbln-k8s-device-plugin README.md; REBEL and npu by its later releases.
    "rebellions": (*_names(Unit.DEVICE, "rebellions.ai/ATOM", "rebellions.ai/REBEL", "rebellions.ai/npu"),),
    # Qualcomm Cloud AI 100: the user guide of NRP Nautilus.
    "qualcomm": (*_names(Unit.DEVICE, "qualcomm.com/qaic"),),
    # Graphcore, Kubernetes IPU device plugin user guide.
    "graphcore": (*_names(Unit.DEVICE, "c600.graphcore.ai/ipu"),),
    # Names that devices of several vendors have.
    "": (
        # koordinator-sh/koordinator apis/extension/device_share.go; memory is in bytes, and 100 of gpu are one GPU.
        *_names(Unit.CORES, "koordinator.sh/gpu", "koordinator.sh/gpu-core", size=100),
        *_names(Unit.SHARE, "koordinator.sh/gpu.shared"),
        *_names(Unit.MEMORY, "koordinator.sh/gpu-memory", size=1),
        *_names(Unit.MEMORY_FRACTION, "koordinator.sh/gpu-memory-ratio", size=100),
        *_names(Unit.FABRIC, "koordinator.sh/rdma"),
        # docs/domain/accelerators.md#fabric-devices; the pools of OpenShift's operator for SR-IOV.
        _pattern(Unit.FABRIC, "rdma", ""),
        _pattern(Unit.FABRIC, "openshift.io", r"\w*(?:sriov|mlnx)"),
    ),
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


HAMI_REGISTER: Final = re.compile(r"(?:hami|4pd)\.io/node-.*register")
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
