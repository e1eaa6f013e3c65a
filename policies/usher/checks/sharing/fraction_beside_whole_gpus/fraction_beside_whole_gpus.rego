# METADATA
# title: A pod asks either for a fraction of a GPU or for whole GPUs
# description: |
#   The annotations `gpu-fraction` and `gpu-memory` ask KAI-Scheduler for a part of a GPU, and nvidia.com/gpu asks it
#   for whole GPUs. Its webhook refuses a pod that has both, in any of its containers, even if the limit is 0. The check
#   looks at pods that name KAI-Scheduler or one of its queues. Other schedulers ignore the annotations.
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
#   why: KAI-Scheduler refuses all pods of this workload.
#   closes: [S2, B10]
#   remediation: |
#     To get whole GPUs, remove the annotation. To get the fraction, remove nvidia.com/gpu from all containers.
package usher.checks.sharing.fraction_beside_whole_gpus

import data.usher.lib.mig
import data.usher.lib.sharing
import data.usher.lib.workload

deny contains finding if {
	some entry in sharing.fractions_beside_gpus
	_kai_places(entry.podSet)

	finding := {
		"path": mig.path(entry.container, "nvidia.com/gpu"),
		"message": $"{workload.container_name(entry.podSet, entry.container)} has a limit of nvidia.com/gpu, but the annotation {entry.annotation} asks for a part of a GPU",
		"remedy": $"remove nvidia.com/gpu, or the annotation {entry.annotation}",
	}
}

_kai_places(pod_set) if pod_set.schedulerName == "kai-scheduler"

_kai_places(pod_set) if {
	pod_set.schedulerName == ""
	some labels in [pod_set.labels, input.workload.labels]
	labels["kai.scheduler/queue"]
}
