"""What a resource name means. Facts only: a name without a source is not here (see likeness.py for those).

The sources stand beside the entries: a repository with the place in it, or the vendor's own documentation. Left out on
purpose, because they are no GPUs or the like: FPGAs (amd.com/xilinx_*, fpga.intel.com/*), Intel QAT, SGX, DSA and DLB.
Left out for want of a source: d-matrix, Tenstorrent, Cerebras, SambaNova, Groq. nvidia.com/imex-channel is no resource
but a kind of CDI device (NVIDIA/k8s-device-plugin internal/cdi/imex.go). run:ai has annotations only.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final

LONGEST: Final = 317
"""Characters of the longest resource name that Kubernetes takes; nothing longer is remembered."""

CLAIM_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
"""This and the name of a class make a claim for its devices (docs/domain/device-claims.md#extended-resources)."""

MIB: Final = 2**20
GIB: Final = 2**30


class Unit(StrEnum):
    """What one of a resource is. Only DEVICE may be added up to a number of whole devices."""

    DEVICE = "device"
    """A whole device by its name, maybe a time slice or MIG (docs/domain/accelerators.md#resource-names)."""
    PARTITION = "partition"
    """A part of a device that hardware keeps apart: MIG, AMD's partitions, NeuronCores. Which part, the board tells."""
    SHARE = "share"
    """Access to a device that others use too; how much of it, side resources tell or nobody."""
    MEMORY = "memory"
    """Memory of a share; `size` is the bytes of one."""
    MEMORY_FRACTION = "memory-fraction"
    """Memory of a share; `size` is how many make up the memory of a device, such as 100."""
    CORES = "cores"
    """Computing power of a share; `size` is how many make up a device, such as 100."""
    FABRIC = "fabric"
    """A network card or a switch of GPUs: no accelerator, but it goes with them."""
    MONITORING = "monitoring"
    """Access to all devices of the node; it takes none from anybody."""
    CLAIM = "claim"
    """Devices of the class `device_class`, which alone tells what they are."""
    SETTING = "setting"
    """Tunes another resource and gives nothing."""


GIVING: Final = frozenset(Unit) - {Unit.FABRIC, Unit.SETTING}
"""Units of which a positive amount gives a pod an accelerator; of a CLAIM, the device class has to agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What a resource name says of itself."""

    unit: Unit
    vendor: str = ""
    """Who makes the devices, in lower case; empty where the name does not tell."""
    size: int | None = None
    """Of MEMORY, MEMORY_FRACTION and CORES, as these say; None where the sources do not tell or contradict."""
    divides: str | None = None
    """The resource that counts the devices: in a container that asks for both, those devices are shares."""
    device_class: str | None = None
    per_device: int | None = None
    """Of a SHARE or PARTITION, as how many of them a device is given out; None where nobody has said it."""


def meaning(name: str) -> Meaning | None:
    """What a resource is; None for cpu and memory and whatever else is not in the vocabulary."""
    return _remembered(name) if len(name) <= LONGEST else _find(name)


def _find(name: str) -> Meaning | None:
    found = _KNOWN.get(name)
    if found is not None:
        return found
    if name.startswith(CLAIM_PREFIX):
        return Meaning(unit=Unit.CLAIM, device_class=name.removeprefix(CLAIM_PREFIX))
    domain, slash, rest = name.partition("/")
    for pattern, pattern_meaning, divides in _PATTERNS.get(domain, ()) if slash else ():
        match = pattern.match(rest)
        if match is not None:
            return replace(pattern_meaning, divides=match.expand(divides)) if divides else pattern_meaning
    return None


_remembered = lru_cache(maxsize=1024)(_find)


def _all(
    unit: Unit, vendor: str, *names: str, size: int | None = None, divides: str | None = None
) -> dict[str, Meaning]:
    return dict.fromkeys(names, Meaning(unit=unit, vendor=vendor, size=size, divides=divides))


_NVIDIA: Final = {
    # NVIDIA/k8s-device-plugin README.md; api/config/v1/consts.go.
    **_all(Unit.DEVICE, "nvidia", "nvidia.com/gpu"),
    **_all(Unit.SHARE, "nvidia", "nvidia.com/gpu.shared"),
    # NVIDIA/sandbox-device-plugin cmd/main.go: whole GPUs, and NVSwitches, for virtual machines.
    **_all(Unit.DEVICE, "nvidia", "nvidia.com/pgpu"),
    **_all(Unit.FABRIC, "nvidia", "nvidia.com/nvswitch"),
    # Project-HAMi/HAMi charts/hami/values.yaml. Without nvidia.com/gpu its webhook asks for one GPU:
    # pkg/device/nvidia/device.go, mutateContainerResource.
    **_all(Unit.MEMORY, "nvidia", "nvidia.com/gpumem", size=MIB, divides="nvidia.com/gpu"),
    **_all(Unit.MEMORY_FRACTION, "nvidia", "nvidia.com/gpumem-percentage", size=100, divides="nvidia.com/gpu"),
    **_all(Unit.CORES, "nvidia", "nvidia.com/gpucores", size=100, divides="nvidia.com/gpu"),
    **_all(Unit.SETTING, "nvidia", "nvidia.com/priority"),
    # volcano-sh/volcano pkg/scheduler/api/devices/config/vgpu.go; docs/user-guide/how_to_use_volcano_vgpu.md.
    **_all(Unit.SHARE, "nvidia", "volcano.sh/vgpu-number"),
    **_all(Unit.MEMORY, "nvidia", "volcano.sh/vgpu-memory", size=MIB, divides="volcano.sh/vgpu-number"),
    **_all(
        Unit.MEMORY_FRACTION,
        "nvidia",
        "volcano.sh/vgpu-memory-percentage",
        size=100,
        divides="volcano.sh/vgpu-number",
    ),
    **_all(Unit.CORES, "nvidia", "volcano.sh/vgpu-cores", size=100, divides="volcano.sh/vgpu-number"),
    # volcano-sh/volcano docs/user-guide/how_to_use_gpu_sharing.md and how_to_use_gpu_number.md (exclusive cards).
    **_all(Unit.MEMORY, "nvidia", "volcano.sh/gpu-memory", size=MIB),
    **_all(Unit.DEVICE, "nvidia", "volcano.sh/gpu-number"),
}

_CLOUDS: Final = {
    # docs/domain/accelerators.md#resource-names. How many NeuronCores a device has, depends on its generation.
    **_all(Unit.DEVICE, "google", "google.com/tpu"),
    **_all(Unit.DEVICE, "aws", "aws.amazon.com/neuron", "aws.amazon.com/neurondevice"),
    **_all(Unit.PARTITION, "aws", "aws.amazon.com/neuroncore"),
    # AliyunContainerService/gpushare-scheduler-extender docs/userguide.md (GiB unless the plugin is told MiB);
    # kubeflow/arena for the cores. gpu-count is the number of cards of a node that is shared.
    **_all(Unit.MEMORY, "nvidia", "aliyun.com/gpu-mem", size=GIB),
    **_all(Unit.CORES, "nvidia", "aliyun.com/gpu-core.percentage", size=100),
    **_all(Unit.SHARE, "nvidia", "aliyun.com/gpu-count"),
    # T-Head, by gpustack/runtime gpustack_runtime/envs.py and the ACS examples of Alibaba Cloud.
    **_all(Unit.DEVICE, "t-head", "alibabacloud.com/ppu"),
    # tkestack/gpu-manager README.md: 100 cores are a GPU, and a unit of memory is 256 MiB.
    **_all(Unit.CORES, "nvidia", "tencent.com/vcuda-core", size=100),
    **_all(Unit.MEMORY, "nvidia", "tencent.com/vcuda-memory", size=256 * MIB),
    # Tencent Cloud TKE, documentation of qGPU.
    **_all(Unit.CORES, "nvidia", "tke.cloud.tencent.com/qgpu-core", "tke.cloud.tencent.com/qgpu-core-greedy", size=100),
    **_all(Unit.MEMORY, "nvidia", "tke.cloud.tencent.com/qgpu-memory", size=GIB),
    # koordinator-sh/koordinator apis/extension/device_share.go; memory is in bytes, and 100 of gpu are one GPU.
    **_all(Unit.CORES, "", "koordinator.sh/gpu", "koordinator.sh/gpu-core", size=100),
    **_all(Unit.SHARE, "", "koordinator.sh/gpu.shared"),
    **_all(Unit.MEMORY, "", "koordinator.sh/gpu-memory", size=1),
    **_all(Unit.MEMORY_FRACTION, "", "koordinator.sh/gpu-memory-ratio", size=100),
    **_all(Unit.FABRIC, "", "koordinator.sh/rdma"),
    **_all(Unit.DEVICE, "hygon", "dcu.com/gpu"),
}

_AMD_AND_INTEL: Final = {
    # ROCm/k8s-device-plugin docs/user-guide/configuration.md: strategy single calls partitions so too.
    **_all(Unit.DEVICE, "amd", "amd.com/gpu"),
    # Project-HAMi/website docs/userguide/amd-device.
    **_all(Unit.MEMORY, "amd", "amd.com/gpumem", size=MIB, divides="amd.com/gpu"),
    **_all(Unit.CORES, "amd", "amd.com/gpucores", size=100, divides="amd.com/gpu"),
    # intel/intel-device-plugins-for-kubernetes cmd/gpu_plugin/README.md, cmd/npu_plugin/README.md.
    **_all(Unit.DEVICE, "intel", "gpu.intel.com/dxg", "gpu.intel.com/i915", "gpu.intel.com/xe", "npu.intel.com/accel"),
    **_all(
        Unit.MONITORING,
        "intel",
        "gpu.intel.com/monitoring",
        "gpu.intel.com/i915_monitoring",
        "gpu.intel.com/xe_monitoring",
    ),
    # kserve/kserve pkg/constants/constants.go.
    **_all(Unit.DEVICE, "intel", "intel.com/gpu", "habana.ai/gaudi"),
}

_CHINA: Final = {
    # Project-HAMi/HAMi charts/hami/values.yaml and templates/scheduler/device-configmap.yaml, Project-HAMi/website
    # docs/userguide; where a vendor's own plugin is public, it is named as well.
    # Huawei: Ascend/mind-cluster (npu of Atlas 350); volcano-sh/volcano docs/user-guide/how_to_use_vnpu.md (npu-core);
    # koordinator-sh/koordinator apis/extension/device_share.go (npu-cpu and npu-dvpp, other units of the chip).
    **_all(Unit.DEVICE, "huawei", "huawei.com/npu"),
    **_all(Unit.CORES, "huawei", "huawei.com/npu-core"),
    **_all(Unit.SETTING, "huawei", "huawei.com/npu-cpu", "huawei.com/npu-dvpp"),
    # Cambricon/cambricon-k8s-device-plugin device-plugin/pkg/mlu/server.go has the patterns below.
    **_all(Unit.SHARE, "cambricon", "cambricon.com/vmlu"),
    # Hygon: gpustack/runtime gpustack_runtime/envs.py (dcu); the others are HAMi's.
    **_all(Unit.DEVICE, "hygon", "hygon.com/dcu", "hygon.com/dcunum"),
    **_all(Unit.MEMORY, "hygon", "hygon.com/dcumem", size=MIB, divides="hygon.com/dcunum"),
    **_all(Unit.CORES, "hygon", "hygon.com/dcucores", size=100, divides="hygon.com/dcunum"),
    # Iluvatar: Deep-Spark/ix-device-plugin README.md, which called it iluvatar.ai/gpu in earlier releases.
    **_all(Unit.DEVICE, "iluvatar", "iluvatar.com/gpu", "iluvatar.ai/gpu"),
    **_all(Unit.DEVICE, "metax", "metax-tech.com/gpu"),
    **_all(Unit.SHARE, "metax", "metax-tech.com/sgpu"),
    **_all(Unit.MEMORY, "metax", "metax-tech.com/vmemory", size=GIB, divides="metax-tech.com/sgpu"),
    **_all(Unit.CORES, "metax", "metax-tech.com/vcore", size=100, divides="metax-tech.com/sgpu"),
    # Moore Threads: KUAE installation guide.
    **_all(Unit.DEVICE, "mthreads", "mthreads.com/gpu"),
    **_all(Unit.SHARE, "mthreads", "mthreads.com/vgpu"),
    **_all(Unit.MEMORY, "mthreads", "mthreads.com/sgpu-memory", size=512 * MIB, divides="mthreads.com/vgpu"),
    **_all(Unit.CORES, "mthreads", "mthreads.com/sgpu-core", size=16, divides="mthreads.com/vgpu"),
    # Enflame: EnflameTechnology/gcushare. gcu-count is the number of cards of a node that is shared.
    **_all(Unit.DEVICE, "enflame", "enflame.com/gcu"),
    **_all(Unit.PARTITION, "enflame", "enflame.com/drs-gcu"),
    **_all(Unit.SHARE, "enflame", "enflame.com/shared-gcu", "enflame.com/vgcu", "enflame.com/gcu-count"),
    **_all(Unit.CORES, "enflame", "enflame.com/vgcu-percentage", size=100, divides="enflame.com/vgcu"),
    **_all(Unit.MEMORY, "enflame", "enflame.com/gcu-memory", size=MIB),
    **_all(Unit.CORES, "enflame", "enflame.com/gcu-core", size=100),
    **_all(Unit.DEVICE, "kunlunxin", "kunlunxin.com/xpu"),
    **_all(Unit.SHARE, "kunlunxin", "kunlunxin.com/vxpu"),
    **_all(Unit.MEMORY, "kunlunxin", "kunlunxin.com/vxpu-memory", size=MIB, divides="kunlunxin.com/vxpu"),
    **_all(Unit.DEVICE, "vastai", "vastaitech.com/va"),
    # Biren: BirenTechnology/k8s-device-plugin; its cards can be cut into halves and quarters.
    **_all(Unit.DEVICE, "biren", "birentech.com/gpu"),
    **_all(Unit.PARTITION, "biren", "birentech.com/1-2-gpu", "birentech.com/1-4-gpu"),
}

_OTHERS: Final = {
    # Furiosa device plugin, developer.furiosa.ai: resource strategies legacy and generic.
    **_all(Unit.DEVICE, "furiosa", "furiosa.ai/rngd", "furiosa.ai/warboy", "beta.furiosa.ai/npu"),
    # rebellions-sw/rbln-k8s-device-plugin README.md; REBEL and npu by its later releases.
    **_all(Unit.DEVICE, "rebellions", "rebellions.ai/ATOM", "rebellions.ai/REBEL", "rebellions.ai/npu"),
    # Qualcomm Cloud AI 100: the user guide of NRP Nautilus.
    **_all(Unit.DEVICE, "qualcomm", "qualcomm.com/qaic"),
    # Graphcore, Kubernetes IPU device plugin user guide.
    **_all(Unit.DEVICE, "graphcore", "c600.graphcore.ai/ipu"),
    # Fabric: docs/domain/accelerators.md#fabric-devices (EFA); AliyunContainerService/terway (eRDMA).
    **_all(Unit.FABRIC, "aws", "vpc.amazonaws.com/efa"),
    **_all(Unit.FABRIC, "alibaba", "aliyun/erdma"),
}

_KNOWN: Final = {**_NVIDIA, **_CLOUDS, **_AMD_AND_INTEL, **_CHINA, **_OTHERS}

_Pattern = tuple[re.Pattern[str], Meaning, str | None]


def _like(
    pattern: str, unit: Unit, vendor: str = "", *, size: int | None = None, divides: str | None = None
) -> _Pattern:
    """Matched at the start of what follows the slash; of several patterns the first decides.

    `divides` may take up groups of the pattern.
    """
    return re.compile(pattern, re.ASCII | re.DOTALL), Meaning(unit=unit, vendor=vendor, size=size), divides


_PATTERNS: Final[dict[str, tuple[_Pattern, ...]]] = {
    "nvidia.com": (
        # NVIDIA/k8s-device-plugin internal/rm/rm.go: the profile with + as a dot, so .me, .me.all, .gfx, -me.
        _like(r"mig-.*\.shared\Z", Unit.SHARE, "nvidia"),
        _like(r"mig-", Unit.PARTITION, "nvidia"),
        # nebuly-ai/nos pkg/gpu/slicing/profile.go: a slice by MPS.
        _like(r"gpu-\d+gb\Z", Unit.SHARE, "nvidia"),
        # docs/domain/accelerators.md#fabric-devices; one pool by port on DGX (NVIDIA DeepOps).
        _like(r"hostdev|resib", Unit.FABRIC, "nvidia"),
        # NVIDIA/kubevirt-gpu-device-plugin pkg/device_plugin: whole devices by their name in pci.ids, which starts with
        # the chip, such as GA102GL_A10; virtual GPUs by the name of their type, such as GRID_T4-1Q.
        _like(r"G[A-Z]\d{3}[A-Z]*_.*NVSWITCH", Unit.FABRIC, "nvidia"),
        _like(r"(?:G[A-Z]|TU|AD)\d{3}[A-Z]*_", Unit.DEVICE, "nvidia"),
        _like(r"(?:GRID|NVIDIA)_.*-\d+[ABCQ]\d?\Z", Unit.SHARE, "nvidia"),
    ),
    "amd.com": (
        # ROCm/k8s-device-plugin docs/user-guide/configuration.md; spx is the mode that leaves a GPU whole.
        _like(r"spx", Unit.DEVICE, "amd"),
        _like(r"cpx|dpx|qpx|tpx", Unit.PARTITION, "amd"),
    ),
    "huawei.com": (
        # Project-HAMi/HAMi charts/hami/templates/scheduler/device-configmap.yaml.
        _like(r"(Ascend\d\w*(?:-\d)?)-memory\Z", Unit.MEMORY, "huawei", size=MIB, divides=r"huawei.com/\1"),
        _like(r"(Ascend\d\w*(?:-\d)?)-core\Z", Unit.CORES, "huawei", size=100, divides=r"huawei.com/\1"),
        # Ascend/mind-cluster: a vNPU by its AI cores, such as Ascend310P-4c.3cpu.
        _like(r"Ascend\d\w*-\d+c(?:\.|\Z)", Unit.PARTITION, "huawei"),
        _like(r"Ascend\d\w*(?:-\d)?\Z", Unit.DEVICE, "huawei"),
    ),
    "cambricon.com": (
        # Cambricon/cambricon-k8s-device-plugin device-plugin/pkg/mlu/server.go. HAMi's code takes a unit of memory for
        # 256 MiB, its documentation for a percentage.
        _like(r"mlu[\w-]*\.mim-", Unit.PARTITION, "cambricon"),
        _like(r"mlu[\w-]*\.share\Z", Unit.SHARE, "cambricon"),
        _like(r"mlu[\w-]*(?:\.smlu)?\.vmemory\Z", Unit.MEMORY, "cambricon", divides="cambricon.com/vmlu"),
        _like(r"mlu[\w-]*(?:\.smlu)?\.vcore\Z", Unit.CORES, "cambricon", size=100, divides="cambricon.com/vmlu"),
        _like(r"mlu[\w-]*\Z", Unit.DEVICE, "cambricon"),
    ),
    "hygon.com": (
        # Hygon's device plugin, strategies vdcu and mig.
        _like(r"dcu-share-", Unit.SHARE, "hygon"),
        _like(r"dcu-mig-", Unit.PARTITION, "hygon"),
    ),
    "iluvatar.ai": (
        # Project-HAMi/HAMi charts/hami/templates/scheduler/device-configmap.yaml, pkg/device/iluvatar/device.go.
        _like(r"[\w-]+-vgpu\Z", Unit.SHARE, "iluvatar"),
        _like(r"([\w-]+)\.vMem\Z", Unit.MEMORY, "iluvatar", size=256 * MIB, divides=r"iluvatar.ai/\1-vgpu"),
        _like(r"([\w-]+)\.vCore\Z", Unit.CORES, "iluvatar", size=100, divides=r"iluvatar.ai/\1-vgpu"),
    ),
    # Furiosa device plugin, release 2024.2: rngd-2core.12gb.
    "furiosa.ai": (_like(r"(?:rngd|warboy)-\d+core\.\d+gb\Z", Unit.PARTITION, "furiosa"),),
    # IBM Spyre operator: physical and virtual functions, with the distance between the cards (_tier0) if wanted.
    "ibm.com": (
        _like(r"(?:aiu|spyre)_pf(?:_tier\d)?\Z", Unit.DEVICE, "ibm"),
        _like(r"spyre_vf(?:_tier\d)?\Z", Unit.PARTITION, "ibm"),
    ),
    # Baidu CCE: one name for all cards or one by model, such as baidu.com/h800_80g_cgpu.
    "baidu.com": (
        _like(r"(\w*cgpu)_memory\Z", Unit.MEMORY, "nvidia", divides=r"baidu.com/\1"),
        _like(r"(\w*cgpu)_core\Z", Unit.CORES, "nvidia", size=100, divides=r"baidu.com/\1"),
        _like(r"\w*cgpu\Z", Unit.SHARE, "nvidia"),
    ),
    # docs/domain/accelerators.md#fabric-devices (rdma); GKE's networks; the prefixes and pools of
    # k8snetworkplumbingwg's sriov-network-device-plugin (README.md) and of OpenShift's operator for it.
    "rdma": (_like("", Unit.FABRIC),),
    "networking.gke.io.networks": (_like("", Unit.FABRIC, "google"),),
    "intel.com": (_like(r"intel_sriov|sriov|intel_rdma", Unit.FABRIC, "intel"),),
    "mellanox.com": (_like("", Unit.FABRIC, "nvidia"),),
    "openshift.io": (_like(r"\w*(?:sriov|mlnx)", Unit.FABRIC),),
}
