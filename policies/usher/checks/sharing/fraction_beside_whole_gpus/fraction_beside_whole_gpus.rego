# METADATA
# title: A pod asks for a fraction of a GPU or for GPUs, not for both
# description: |
#   KAI-Scheduler takes the annotations `gpu-fraction` and `gpu-memory` for a part of a GPU, and nvidia.com/gpu for
#   GPUs. A pod with both, in whichever of its containers, is refused by its webhook, a limit of 0 included. Found in
#   pods that name KAI-Scheduler or one of its queues; to other schedulers the annotations mean nothing.
# scope: package
# related_resources:
#   - ref: https://github.com/kai-scheduler/KAI-Scheduler/tree/main/docs/gpu-sharing
#     description: KAI-Scheduler on sharing GPUs
# schemas:
#   - input: schema.input
# custom:
#   code: USH804
#   about: accelerator pods
#   severity: high
#   why: KAI-Scheduler refuses every pod of it.
#   closes: [S2, B10]
#   remediation: |
#     Remove the annotation to get whole GPUs, or nvidia.com/gpu from all containers to get the fraction.
package usher.checks.sharing.fraction_beside_whole_gpus

import data.usher.lib.mig
import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	some annotation in ["gpu-fraction", "gpu-memory"]
	pod_set.annotations[annotation]
	_kai_places(pod_set)
	some container in pod_set.containers
	container.accelerators["nvidia.com/gpu"].limits

	finding := {
		"path": mig.path(container, "nvidia.com/gpu"),
		"message": $"{workload.container_name(pod_set, container)} has a limit of nvidia.com/gpu, and the annotation {annotation} asks for a part of a GPU",
		"remedy": $"remove nvidia.com/gpu, or the annotation {annotation}",
	}
}

_kai_places(pod_set) if pod_set.schedulerName == "kai-scheduler"

_kai_places(pod_set) if {
	pod_set.schedulerName == ""
	some labels in [pod_set.labels, input.workload.labels]
	labels["kai.scheduler/queue"]
}
