"""Annotations that give a pod an accelerator without any resource (docs/domain/accelerators.md#annotations)."""

from typing import Final

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
