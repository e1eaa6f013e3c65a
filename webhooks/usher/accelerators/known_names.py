"""The resource names that usher knows, by the vendor of the devices. Facts only: each has a source beside it.

A source is a repository with the place in it, or the vendor's own documentation. A new vendor is a new entry of
VENDORS.

Left out on purpose, because they are not accelerators: FPGAs (amd.com/xilinx_*, fpga.intel.com/*), Intel QAT, SGX, DSA
and DLB. Left out for want of a source: d-matrix, Tenstorrent, Cerebras, SambaNova, Groq. nvidia.com/imex-channel is not
a resource but a kind of CDI device (NVIDIA/k8s-device-plugin internal/cdi/imex.go). run:ai has annotations only.
"""

import re
from collections.abc import Iterator
from typing import Final

from usher.accelerators.names import GIB, MIB, Unit
from usher.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
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
        *_names(Unit.DEVICE, "huawei.com/npu"),
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
"""The known names of each vendor."""
