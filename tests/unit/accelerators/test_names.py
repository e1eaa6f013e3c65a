"""Resource names have the meaning that the documentation of their makers gives them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from usher.accelerators import names
from usher.accelerators.names import GIB, MIB, Meaning, Unit


def _units(unit: Unit, vendor: str, *resources: str) -> list[tuple[str, Unit, str]]:
    return [(resource, unit, vendor) for resource in resources]


REAL_NAMES = [
    *_units(Unit.DEVICE, "nvidia", "nvidia.com/gpu", "nvidia.com/pgpu", "volcano.sh/gpu-number"),
    *_units(
        Unit.DEVICE, "nvidia", "nvidia.com/GA102GL_A10", "nvidia.com/GP102GL_Tesla_P40", "nvidia.com/GH100_H100_PCIe"
    ),
    *_units(Unit.DEVICE, "nvidia", "nvidia.com/TU104GL_Tesla_T4", "nvidia.com/AD102GL_L40S", "nvidia.com/GB100_B200"),
    *_units(Unit.PARTITION, "nvidia", "nvidia.com/mig-1g.10gb", "nvidia.com/mig-7g.80gb", "nvidia.com/mig-1g.10gb.me"),
    *_units(Unit.PARTITION, "nvidia", "nvidia.com/mig-1g.24gb.me.all", "nvidia.com/mig-2g.48gb.gfx"),
    *_units(Unit.PARTITION, "nvidia", "nvidia.com/mig-1g.24gb-me"),
    *_units(Unit.SHARE, "nvidia", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb.shared", "nvidia.com/gpu-10gb"),
    *_units(
        Unit.SHARE, "nvidia", "nvidia.com/mig-1g.10gb.me.shared", "nvidia.com/GRID_T4-1Q", "nvidia.com/GRID_P40-1B4"
    ),
    *_units(Unit.SHARE, "nvidia", "nvidia.com/NVIDIA_A40-48Q", "volcano.sh/vgpu-number", "aliyun.com/gpu-count"),
    *_units(Unit.MEMORY, "nvidia", "nvidia.com/gpumem", "volcano.sh/vgpu-memory", "volcano.sh/gpu-memory"),
    *_units(Unit.MEMORY, "nvidia", "aliyun.com/gpu-mem", "tencent.com/vcuda-memory"),
    *_units(Unit.MEMORY, "nvidia", "tke.cloud.tencent.com/qgpu-memory", "baidu.com/cgpu_memory"),
    *_units(Unit.MEMORY_FRACTION, "nvidia", "nvidia.com/gpumem-percentage", "volcano.sh/vgpu-memory-percentage"),
    *_units(Unit.CORES, "nvidia", "nvidia.com/gpucores", "volcano.sh/vgpu-cores", "aliyun.com/gpu-core.percentage"),
    *_units(Unit.CORES, "nvidia", "tencent.com/vcuda-core", "tke.cloud.tencent.com/qgpu-core", "baidu.com/cgpu_core"),
    *_units(Unit.SHARE, "nvidia", "baidu.com/cgpu", "baidu.com/h800_80g_cgpu"),
    *_units(Unit.FABRIC, "nvidia", "nvidia.com/hostdev", "nvidia.com/hostdev3", "nvidia.com/resibp24s0"),
    *_units(Unit.FABRIC, "nvidia", "nvidia.com/nvswitch", "nvidia.com/GH100_H100_NVSWITCH", "mellanox.com/mlnx_rdma"),
    *_units(Unit.SETTING, "nvidia", "nvidia.com/priority"),
    *_units(Unit.DEVICE, "amd", "amd.com/gpu", "amd.com/spx_nps1"),
    *_units(Unit.PARTITION, "amd", "amd.com/cpx_nps4", "amd.com/dpx_nps1", "amd.com/qpx_nps2", "amd.com/tpx_nps1"),
    *_units(Unit.MEMORY, "amd", "amd.com/gpumem"),
    *_units(Unit.CORES, "amd", "amd.com/gpucores"),
    *_units(Unit.DEVICE, "intel", "gpu.intel.com/i915", "gpu.intel.com/xe", "gpu.intel.com/dxg", "intel.com/gpu"),
    *_units(Unit.DEVICE, "intel", "habana.ai/gaudi", "npu.intel.com/accel"),
    *_units(Unit.MONITORING, "intel", "gpu.intel.com/monitoring", "gpu.intel.com/i915_monitoring"),
    *_units(Unit.MONITORING, "intel", "gpu.intel.com/xe_monitoring"),
    *_units(Unit.FABRIC, "intel", "intel.com/intel_sriov_netdevice", "intel.com/sriov_net_A"),
    *_units(Unit.DEVICE, "google", "google.com/tpu"),
    *_units(Unit.FABRIC, "google", "networking.gke.io.networks/rdma-0"),
    *_units(Unit.DEVICE, "aws", "aws.amazon.com/neuron", "aws.amazon.com/neurondevice"),
    *_units(Unit.PARTITION, "aws", "aws.amazon.com/neuroncore"),
    *_units(Unit.FABRIC, "aws", "vpc.amazonaws.com/efa"),
    *_units(Unit.FABRIC, "alibaba", "aliyun/erdma"),
    *_units(Unit.DEVICE, "t-head", "alibabacloud.com/ppu"),
    *_units(Unit.CORES, "", "koordinator.sh/gpu", "koordinator.sh/gpu-core"),
    *_units(Unit.MEMORY, "", "koordinator.sh/gpu-memory"),
    *_units(Unit.MEMORY_FRACTION, "", "koordinator.sh/gpu-memory-ratio"),
    *_units(Unit.SHARE, "", "koordinator.sh/gpu.shared"),
    *_units(Unit.FABRIC, "", "koordinator.sh/rdma", "rdma/ib", "rdma/roce_gdr", "rdma/rdma_shared_device_ib"),
    *_units(Unit.FABRIC, "", "openshift.io/mlnx_bf", "openshift.io/sriovlegacy"),
    *_units(Unit.DEVICE, "huawei", "huawei.com/Ascend910", "huawei.com/Ascend310P", "huawei.com/Ascend910B4-1"),
    *_units(Unit.DEVICE, "huawei", "huawei.com/Ascend910C", "huawei.com/npu", "huawei.com/ascend-1980"),
    *_units(Unit.PARTITION, "huawei", "huawei.com/Ascend910-16c", "huawei.com/Ascend310P-4c.3cpu"),
    *_units(Unit.MEMORY, "huawei", "huawei.com/Ascend310P-memory", "huawei.com/Ascend910B4-1-memory"),
    *_units(Unit.CORES, "huawei", "huawei.com/Ascend910B3-core", "huawei.com/npu-core"),
    *_units(Unit.DEVICE, "cambricon", "cambricon.com/mlu", "cambricon.com/mlu370", "cambricon.com/mlu270-x5k"),
    *_units(Unit.SHARE, "cambricon", "cambricon.com/vmlu", "cambricon.com/mlu.share", "cambricon.com/mlu370.share"),
    *_units(Unit.PARTITION, "cambricon", "cambricon.com/mlu370.mim-2m.8gb"),
    *_units(Unit.MEMORY, "cambricon", "cambricon.com/mlu.smlu.vmemory", "cambricon.com/mlu370.smlu.vmemory"),
    *_units(Unit.CORES, "cambricon", "cambricon.com/mlu.smlu.vcore", "cambricon.com/mlu370.smlu.vcore"),
    *_units(Unit.DEVICE, "hygon", "hygon.com/dcu", "hygon.com/dcunum", "dcu.com/gpu"),
    *_units(Unit.SHARE, "hygon", "hygon.com/dcu-share-30c-16g"),
    *_units(Unit.PARTITION, "hygon", "hygon.com/dcu-mig-2g-15g"),
    *_units(Unit.MEMORY, "hygon", "hygon.com/dcumem"),
    *_units(Unit.CORES, "hygon", "hygon.com/dcucores"),
    *_units(Unit.DEVICE, "iluvatar", "iluvatar.com/gpu", "iluvatar.ai/gpu"),
    *_units(Unit.SHARE, "iluvatar", "iluvatar.ai/BI-V150-vgpu", "iluvatar.ai/MR-V100-vgpu"),
    *_units(Unit.MEMORY, "iluvatar", "iluvatar.ai/BI-V150.vMem"),
    *_units(Unit.CORES, "iluvatar", "iluvatar.ai/MR-V50.vCore"),
    *_units(Unit.DEVICE, "metax", "metax-tech.com/gpu"),
    *_units(Unit.SHARE, "metax", "metax-tech.com/sgpu"),
    *_units(Unit.DEVICE, "mthreads", "mthreads.com/gpu"),
    *_units(Unit.SHARE, "mthreads", "mthreads.com/vgpu"),
    *_units(Unit.DEVICE, "enflame", "enflame.com/gcu"),
    *_units(Unit.PARTITION, "enflame", "enflame.com/drs-gcu"),
    *_units(Unit.SHARE, "enflame", "enflame.com/shared-gcu", "enflame.com/vgcu"),
    *_units(Unit.DEVICE, "kunlunxin", "kunlunxin.com/xpu"),
    *_units(Unit.SHARE, "kunlunxin", "kunlunxin.com/vxpu"),
    *_units(Unit.DEVICE, "vastai", "vastaitech.com/va"),
    *_units(Unit.DEVICE, "biren", "birentech.com/gpu"),
    *_units(Unit.PARTITION, "biren", "birentech.com/1-2-gpu", "birentech.com/1-4-gpu"),
    *_units(Unit.DEVICE, "furiosa", "furiosa.ai/rngd", "furiosa.ai/warboy", "beta.furiosa.ai/npu"),
    *_units(Unit.PARTITION, "furiosa", "furiosa.ai/rngd-2core.12gb"),
    *_units(Unit.DEVICE, "rebellions", "rebellions.ai/ATOM", "rebellions.ai/REBEL", "rebellions.ai/npu"),
    *_units(Unit.DEVICE, "ibm", "ibm.com/spyre_pf", "ibm.com/spyre_pf_tier0", "ibm.com/aiu_pf_tier0"),
    *_units(Unit.PARTITION, "ibm", "ibm.com/spyre_vf"),
    *_units(Unit.DEVICE, "qualcomm", "qualcomm.com/qaic"),
    *_units(Unit.DEVICE, "graphcore", "c600.graphcore.ai/ipu"),
]


def test_each_name_of_the_field_says_what_one_of_it_is_and_who_makes_it() -> None:
    def said(resource: str) -> tuple[str, Unit | None, str]:
        found = names.meaning_of(resource)
        return (resource, found.unit, found.vendor) if found else (resource, None, "")

    assert [said(name) for name, _, _ in REAL_NAMES] == REAL_NAMES


@pytest.mark.parametrize(
    ("resource", "size"),
    [
        ("nvidia.com/gpumem", MIB),
        ("volcano.sh/vgpu-memory", MIB),
        ("hygon.com/dcumem", MIB),
        ("huawei.com/Ascend910B3-memory", MIB),
        ("kunlunxin.com/vxpu-memory", MIB),
        ("enflame.com/gcu-memory", MIB),
        ("tencent.com/vcuda-memory", 256 * MIB),
        ("iluvatar.ai/BI-V150.vMem", 256 * MIB),
        ("mthreads.com/sgpu-memory", 512 * MIB),
        ("aliyun.com/gpu-mem", GIB),
        ("metax-tech.com/vmemory", GIB),
        ("tke.cloud.tencent.com/qgpu-memory", GIB),
        ("koordinator.sh/gpu-memory", 1),
        ("cambricon.com/mlu.smlu.vmemory", None),  # its sources contradict one another
    ],
)
def test_memory_says_how_many_bytes_one_of_it_is(resource: str, size: int | None) -> None:
    found = names.meaning_of(resource)

    assert found is not None
    assert (found.unit, found.size) == (Unit.MEMORY, size)


@pytest.mark.parametrize(
    ("resource", "size"),
    [
        ("nvidia.com/gpumem-percentage", 100),
        ("nvidia.com/gpucores", 100),
        ("volcano.sh/vgpu-cores", 100),
        ("aliyun.com/gpu-core.percentage", 100),
        ("tencent.com/vcuda-core", 100),
        ("koordinator.sh/gpu", 100),
        ("mthreads.com/sgpu-core", 16),
        ("huawei.com/npu-core", None),  # AI cores, of which chips have different numbers
    ],
)
def test_cores_and_fractions_say_how_many_make_a_device(resource: str, size: int | None) -> None:
    found = names.meaning_of(resource)

    assert found is not None
    assert found.size == size


@pytest.mark.parametrize(
    ("side", "counted"),
    [
        ("nvidia.com/gpumem", "nvidia.com/gpu"),
        ("nvidia.com/gpucores", "nvidia.com/gpu"),
        ("volcano.sh/vgpu-memory", "volcano.sh/vgpu-number"),
        ("amd.com/gpumem", "amd.com/gpu"),
        ("huawei.com/Ascend910B4-1-memory", "huawei.com/Ascend910B4-1"),
        ("huawei.com/Ascend310P-core", "huawei.com/Ascend310P"),
        ("iluvatar.ai/MR-V100.vMem", "iluvatar.ai/MR-V100-vgpu"),
        ("baidu.com/h800_80g_cgpu_memory", "baidu.com/h800_80g_cgpu"),
        ("aliyun.com/gpu-mem", None),
        ("nvidia.com/gpu", None),
    ],
)
def test_a_side_resource_names_the_one_whose_devices_it_divides(side: str, counted: str | None) -> None:
    found = names.meaning_of(side)

    assert found is not None
    assert found.divides == counted
    assert counted is None or names.meaning_of(counted) is not None


@pytest.mark.parametrize("device_class", ["gpu.nvidia.com", "rdma-net", ""])
def test_a_claim_by_resource_names_its_device_class(device_class: str) -> None:
    found = names.meaning_of("deviceclass.resource.kubernetes.io/" + device_class)

    assert found == Meaning(unit=Unit.CLAIM, device_class=device_class)


@pytest.mark.parametrize(
    "resource",
    [
        *("", "cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "attachable-volumes-aws-ebs", "pods", "gpu"),
        *("nvidia.com/imex-channel", "nvidia.com/A100", "nvidia.com/gpu-h100", "nvidia.com/GPU", "NVIDIA.com/gpu"),
        *("nvidia.com/gpu ", " nvidia.com/gpu", "nvidia.com/gpu\n", "xnvidia.com/gpu", "requests.nvidia.com/gpu"),
        *("nvidia.com", "nvidia.com/", "/gpu", "example.com/gpu", "amd.com/xilinx_u200_gen3x16_xdma_base_2-0"),
        *("qat.intel.com/generic", "sgx.intel.com/epc", "fpga.intel.com/arria10", "intel.com/fpga"),
        *("smarter-devices/fuse", "devices.kubevirt.io/kvm", "vpc.amazonaws.com/pod-eni", "openshift.io/other"),
        *("huawei.com/Ascend", "huawei.com/ascend910", "huawei.com/AscendReal", "ibm.com/other", "rdma"),
    ],
)
def test_a_name_outside_the_vocabulary_has_no_meaning(resource: str) -> None:
    assert names.meaning_of(resource) is None


def test_only_fabric_and_settings_give_no_accelerator() -> None:
    assert set(Unit) - names.GIVING == {Unit.FABRIC, Unit.SETTING}


@given(
    st.text()
    | st.builds("{}/{}".format, st.sampled_from(["nvidia.com", "huawei.com", "iluvatar.ai", "baidu.com"]), st.text())
)
@example("nvidia.com/mig-" + "." * 100_000)
@example("nvidia.com/NVIDIA_" + "-1" * 100_000)
@example("baidu.com/" + "cgpu_" * 100_000)
@example("iluvatar.ai/" + "-vgpu" * 100_000 + "!")
@example("openshift.io/" + "sriomln" * 100_000)
@example("\ud800/\x00")
def test_the_same_text_always_has_the_same_meaning(text: str) -> None:
    assert names.meaning_of(text) == names.meaning_of(text)


def test_names_that_are_too_long_for_kubernetes_are_not_remembered() -> None:
    names._remembered.cache_clear()

    found = names.meaning_of("nvidia.com/mig-" + "1" * names.LONGEST_NAME)

    assert found is not None
    assert found.unit is Unit.PARTITION
    assert names._remembered.cache_info().currsize == 0
    assert names._remembered.cache_info().maxsize is not None
