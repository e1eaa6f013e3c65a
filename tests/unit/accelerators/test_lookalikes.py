"""Which names outside the vocabulary are taken for accelerators by their readers."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unit.accelerators.test_names import REAL_NAMES
from usher.accelerators.vocabulary import looks_like_accelerator, meant_name

LOOKALIKES = [
    # Names of other people's plugins, renamed resources, older names.
    *("example.com/gpu", "acme.io/npu", "gpu", "gpus", "vendor.com/vGPU", "gpu.example.com/memory"),
    *("nvidia.com/A100", "nvidia.com/a100-80gb", "nvidia.com/gpu-h100", "nvidia.com/T4", "nvidia.com/L4"),
    *("nvidia.com/gtx-1080-ti", "nvidia.com/RTX3090", "nvidia.com/GeForce-4090"),
    *("nvidia.com/gpu.partitioned.mig-3g.40gb", "amd.com/mi300x", "example.com/h100", "my-gpu-type/H100_SXM"),
    *("cloud-tpus.google.com/v2", "cloud-tpus.google.com/preemptible-v3", "npu.huawei.com/NPU", "intel.com/gaudi"),
    *("alpha.kubernetes.io/nvidia-gpu", "tenstorrent.example/accelerator", "enflame-tech.com/gcu", "ibm.com/aiu"),
    *("gpu.intel.com/tiles", "gpu.intel.com/millicores", "nos.nebuly.com/gpu-memory", "metax-tech.com/vfio-gpu"),
    # Misspelt, or the key of a quota or a label.
    *(
        "nvidia.com/GPU",
        "NVIDIA.com/gpu",
        "nvidia.com/gpus",
        "nvidia.com/gpu ",
        "nvidia/gpu",
        "nvidia.com/gpucount",
    ),
    *("requests.nvidia.com/gpu", "nvidia.com/gpu.product", "mig-1g.5gb", "huawei.com/ascend910"),
    # Placeholders.
    *("$(GPU_RESOURCE)", "${GPU_RESOURCE_NAME}", "{{ gpu }}", "{{ .Values.gpuResource }}", "<gpu-resource>"),
    *("{{ .Values.podGpuKey }}", "nvidia.com/$(GPU)", "__ACCELERATOR_RESOURCE__", "%(tpus)s"),
]


def test_names_that_mention_gpus_or_similar_devices_look_like_accelerators() -> None:
    assert [name for name in LOOKALIKES if not looks_like_accelerator(name)] == []


OTHER_THINGS = [
    *("", "cpu", "memory", "storage", "ephemeral-storage", "hugepages-1Gi", "hugepages-2Mi", "pods"),
    *("attachable-volumes-gce-pd", "attachable-volumes-csi-gpu.example.com", "requests.cpu", "limits.memory"),
    *("rdma/ib", "rdma/gpu_shared_device", "vpc.amazonaws.com/efa", "vpc.amazonaws.com/pod-eni", "aliyun/eni"),
    *("nvidia.com/hostdev", "nvidia.com/mlnxnics", "nvidia.com/cx7_vf", "nvidia.com/bf3_sf", "nvidia.com/p0_vfs"),
    *("nvidia.com/imex-channel", "nvidia.com/priority", "nvidia.com/nvswitch", "example.com/gpu-nic"),
    *(
        "networking.gke.io.networks/gpu-nic0",
        "intel.com/x700_gtp",
        "broadcom.com/brcm_sriov_bnxt",
        "openshift.io/other",
    ),
    *("smarter-devices/fuse", "smarter-devices/nvidia-gpu", "smarter-devices/gpiomem", "squat.ai/video"),
    *("devices.kubevirt.io/kvm", "devices.kubevirt.io/tun", "devices.kubevirt.io/vhost-net", "github.com/fuse"),
    *("qat.intel.com/generic", "qat.intel.com/sym-decomp", "qat.intel.com/accelerator-qat", "intel.com/qat"),
    *("sgx.intel.com/epc", "sgx.intel.com/enclave", "sgx.k8s.io/sgx", "dsa.intel.com/wq-user-dedicated"),
    *("fpga.intel.com/arria10", "xilinx.com/fpga-xilinx_u250", "amd.com/xilinx_u200_gen3x16_xdma_base_2-0"),
    *(
        "xpumanager.intel.com/xe-links",
        "iaa.intel.com/wq-user-shared",
        "dlb.intel.com/pf",
        "aws.amazon.com/nitro_enclaves",
    ),
    *("tke.cloud.tencent.com/eni-ip", "cpu.example.com/cpu", "example.com/l4-load-balancer", "example.com/dongle"),
    *("example.com/input", "example.com/output", "example.com/migration", "example.com/http2", "egressBandwidth"),
    *("koordinator.sh/batch-cpu", "FILLED_BY_VALIDATOR", "{{ .Values.resource }}", "$(RESOURCE)", "compute"),
]


def test_names_that_mention_other_things_do_not_look_like_accelerators() -> None:
    assert [name for name in OTHER_THINGS if looks_like_accelerator(name)] == []


def test_a_name_of_the_vocabulary_never_does_for_its_meaning_is_known() -> None:
    assert [name for name, _, _ in REAL_NAMES if looks_like_accelerator(name)] == []


@given(st.text())
@example("gpu" * 1_000_000)
@example("a" * 1_000_000)
@example("aA" * 1_000_000 + "/" + "A" * 1_000_000)
@example("/" * 1_000_000)
@example("nvidia.com/\ud800")
def test_any_text_does_or_does_not(text: str) -> None:
    assert looks_like_accelerator(text) in {True, False}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        *(
            (name, "nvidia.com/gpu")
            for name in ("nvida.com/gpu", "nvidia.com/gpus", "nvidia.com/GPU", "NVIDIA.com/gpu")
        ),
        *((name, "nvidia.com/gpu") for name in ("gpu", "GPUs", "nvidia/gpu", "nvidia.com.gpu", "nvidia-gpu")),
        *((name, "nvidia.com/gpu") for name in ("nvidia.com/gup", "nvidia.com/gp", "nvidia.io/gpu", "nvidiia.com/gpu")),
        ("amd.com/gpus", "amd.com/gpu"),
        ("google.com/tpus", "google.com/tpu"),
        ("aws.amazon.com/neurons", "aws.amazon.com/neuron"),
    ],
)
def test_a_misspelt_name_is_meant_for_a_known_one(name: str, meant: str) -> None:
    assert meant_name(name) == meant


@pytest.mark.parametrize(
    "name",
    [
        *("nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "nvidia.com/vgpu", "nvidia.com/gpu-h100", "nvidia.com/gpu2"),
        *(
            "example.com/gpu",
            "cpu",
            "memory",
            "$(GPU)",
            "nvidia.com/$(GPU)",
            "requests.nvidia.com/gpu",
            "intel.com/gpu",
        ),
    ],
)
def test_a_name_that_a_site_may_offer_is_not_misspelt(name: str) -> None:
    assert meant_name(name) == ""
