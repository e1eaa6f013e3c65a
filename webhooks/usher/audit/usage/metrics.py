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
"""Share of the time in which any kernel ran: 0 to 100. It is always 0 for MIG devices."""
MEMORY_USED: Final = Question(metric="DCGM_FI_DEV_FB_USED")
"""In MiB, like all framebuffer metrics of DCGM."""
MEMORY_PEAK: Final = Question(metric="DCGM_FI_DEV_FB_USED", fold=Fold.PEAK)
MEMORY_FREE: Final = Question(metric="DCGM_FI_DEV_FB_FREE")
MEMORY_RESERVED: Final = Question(metric="DCGM_FI_DEV_FB_RESERVED")
"""Memory of the driver; it is part of the total, but neither used nor free."""
MEMORY_TOTAL: Final = Question(metric="DCGM_FI_DEV_FB_TOTAL")

# MetricsFieldPrefix of AMD's exporter adds a prefix to all names; its example uses `amd_`.
AMD_ACTIVE: Final = Question(metric="gpu_gfx_activity", also="amd_gpu_gfx_activity")
"""In percent."""
AMD_MEMORY_USED: Final = Question(metric="gpu_used_vram", also="amd_gpu_used_vram")
"""In MiB, which the exporter calls MB."""
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
"""Requests by container. kube-state-metrics writes `_` for each character of a resource name that is not a letter or
digit.
"""
PHASES: Final = Question(
    metric="kube_pod_status_phase",
    fold=Fold.LAST,
    matchers=(Matcher(label="phase", pattern="Pending|Running|Unknown"),),
    only_positive=True,
    pods_of=REQUESTS,
)
"""1 for the current phase of a pod. A pod in one of these phases holds its devices once it is on a node."""
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
"""Excludes unhealthy devices."""
NODE_CORDONED: Final = Question(metric="kube_node_spec_unschedulable", fold=Fold.LAST, only_positive=True)
NODE_NOT_READY: Final = Question(
    metric="kube_node_status_condition",
    fold=Fold.LAST,
    matchers=(Matcher(label="condition", pattern="Ready"), Matcher(label="status", pattern="false|unknown")),
    only_positive=True,
)

QUEUE_WAIT: Final = Question(metric="kueue_admission_wait_time_seconds_bucket", fold=Fold.LAST)
"""Cumulative counts by `le`: the time from the creation of a Workload, or its return to the queue, until
its admission.
"""
