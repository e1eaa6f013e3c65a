"""The metrics that usage is read from, with their units.

Sources: NVIDIA/dcgm-exporter etc/dcp-metrics-included.csv; ROCm/device-metrics-exporter pkg/amdgpu/gpuagent;
kubernetes/kube-state-metrics docs/metrics/workload and docs/metrics/cluster/node-metrics.md;
kubernetes-sigs/kueue site/content/en/docs/reference/metrics.md.
"""

from typing import Final

from usher.audit.usage.series import Fold, Matcher, Question

MEBIBYTE: Final = 2**20

ENGINE_ACTIVE: Final = Question(metric="DCGM_FI_PROF_GR_ENGINE_ACTIVE")
"""Share of the time in which the graphics or compute engine was active: 0 to 1, for MIG devices too."""
GPU_UTIL: Final = Question(metric="DCGM_FI_DEV_GPU_UTIL")
"""Share of the time in which any kernel ran: 0 to 100. It is 0 for MIG devices whatever they do."""
MEMORY_USED: Final = Question(metric="DCGM_FI_DEV_FB_USED")
"""MiB, as all framebuffer metrics of DCGM."""
MEMORY_PEAK: Final = Question(metric="DCGM_FI_DEV_FB_USED", fold=Fold.PEAK)
MEMORY_FREE: Final = Question(metric="DCGM_FI_DEV_FB_FREE")
MEMORY_RESERVED: Final = Question(metric="DCGM_FI_DEV_FB_RESERVED")
"""Of the driver; it is part of the total, but neither used nor free."""
MEMORY_TOTAL: Final = Question(metric="DCGM_FI_DEV_FB_TOTAL")

# MetricsFieldPrefix of AMD's exporter puts a prefix before all names; its example has `amd_`.
AMD_ACTIVE: Final = Question(metric="gpu_gfx_activity", also="amd_gpu_gfx_activity")
"""Percent."""
AMD_MEMORY_USED: Final = Question(metric="gpu_used_vram", also="amd_gpu_used_vram")
"""MiB, which the exporter calls MB."""
AMD_MEMORY_PEAK: Final = Question(metric="gpu_used_vram", also="amd_gpu_used_vram", fold=Fold.PEAK)
AMD_MEMORY_TOTAL: Final = Question(metric="gpu_total_vram", also="amd_gpu_total_vram")

_OF_GPUS: Final = Matcher(
    label="resource", pattern="nvidia_com_(gpu.*|mig_.*)|amd_com_gpu|(gpu_)?intel_com_(gpu|i915|xe)"
)
REQUESTS: Final = Question(
    metric="kube_pod_container_resource_requests",
    fold=Fold.LAST,
    matchers=(_OF_GPUS,),
)
"""By container. kube-state-metrics writes names of resources with `_` for what is no letter and no digit."""
PHASES: Final = Question(
    metric="kube_pod_status_phase",
    fold=Fold.LAST,
    matchers=(Matcher(label="phase", pattern="Pending|Running|Unknown"),),
    only_positive=True,
    pods_of=REQUESTS,
)
"""1 for the phase that a pod is in. A pod of these phases holds its devices once it is on a node."""
POD_OWNERS: Final = Question(metric="kube_pod_owner", fold=Fold.LAST, pods_of=REQUESTS)
REPLICASET_OWNERS: Final = Question(
    metric="kube_replicaset_owner",
    fold=Fold.LAST,
    matchers=(Matcher(label="owner_kind", pattern="Deployment|Rollout"),),
)
JOB_OWNERS: Final = Question(
    metric="kube_job_owner", fold=Fold.LAST, matchers=(Matcher(label="owner_kind", pattern="[A-Z].*"),)
)

NODE_CAPACITY: Final = Question(metric="kube_node_status_capacity", fold=Fold.LAST, matchers=(_OF_GPUS,))
NODE_ALLOCATABLE: Final = Question(metric="kube_node_status_allocatable", fold=Fold.LAST, matchers=(_OF_GPUS,))
"""Without the devices that are not healthy."""
NODE_CORDONED: Final = Question(metric="kube_node_spec_unschedulable", fold=Fold.LAST, only_positive=True)
NODE_NOT_READY: Final = Question(
    metric="kube_node_status_condition",
    fold=Fold.LAST,
    matchers=(Matcher(label="condition", pattern="Ready"), Matcher(label="status", pattern="false|unknown")),
    only_positive=True,
)

QUEUE_WAIT: Final = Question(metric="kueue_admission_wait_time_seconds_bucket", fold=Fold.LAST)
"""Cumulative counts by `le`: the time from the creation, or a return to the queue, until the admission."""
