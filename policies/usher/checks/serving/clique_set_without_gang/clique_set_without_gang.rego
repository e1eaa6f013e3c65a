# METADATA
# title: A PodCliqueSet with GPUs is placed by a scheduler that makes gangs
# description: |
#   Grove describes the pods of a set as a gang, but it makes a PodGroup only for KAI-Scheduler and for Volcano. The
#   default scheduler places the pods one by one: some cliques hold their GPUs and wait for the others. Grove does not
#   report this. The check counts the pods with accelerators in one replica of the set.
# scope: package
# related_resources:
#   - ref: https://github.com/ai-dynamo/grove/blob/main/operator/internal/scheduler/kube/backend.go
#     description: What Grove does for the default scheduler
# schemas:
#   - input: schema.input
# custom:
#   code: USH1051
#   about: accelerator pods
#   severity: medium
#   why: Some pods hold their GPUs and wait for others, and the model serves nothing.
#   closes: [S24]
#   remediation: |
#     Set schedulerName to kai-scheduler in every clique and name a queue in the label kai.scheduler/queue.
package usher.checks.serving.clique_set_without_gang

import data.usher.lib.grove
import data.usher.lib.kueue
import data.usher.lib.routing
import data.usher.lib.workload

deny contains object.union(finding, _assumption) if {
	grove.clique_set
	not input.workload.owned
	not routing.makes_gang
	not kueue.in_queue
	every pod_set in workload.accelerator_pod_sets {
		pod_set.schedulerName in ["", "default-scheduler"]
	}
	number := sum([pod_set.pods.minimum | some pod_set in workload.accelerator_pod_sets])
	number > object.get(grove.clique_set.spec, "replicas", 0)

	finding := {
		"path": "",
		"message": $"the default scheduler places the {number} pods with accelerators one by one, because Grove makes no PodGroup for it",
		"remedy": "set schedulerName to kai-scheduler in every clique, and name a queue in the label kai.scheduler/queue",
	}
}

default _assumption := {}

_assumption := {"assumption": "usher assumes that the default scheduler is the default of Grove"} if {
	some pod_set in workload.accelerator_pod_sets
	pod_set.schedulerName == ""
}
