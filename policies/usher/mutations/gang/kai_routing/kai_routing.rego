# METADATA
# title: Let KAI-Scheduler place a job as a gang
# description: |
#   KAI-Scheduler groups the pods that name it by their outermost owner. It reads their queue from the owner's label
#   kai.scheduler/queue. Where usher.yaml routes a workload to KAI-Scheduler, the webhook sets this label on the object
#   and schedulerName on every template.
#   KAI-Scheduler counts the pods of a gang itself for the jobs of kubeflow.org except PaddleJobs, and for TrainJobs,
#   JobSets, LeaderWorkerSets and Ray's kinds. It places pods of other kinds one by one. The runtime of a TrainJob names
#   the scheduler. The webhook does not route kinds that would get only half of the setting; it warns the user. It skips
#   jobs that name another scheduler in any template, and jobs whose pods Kueue places by topology.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/developer/pod-grouper.md
#     description: KAI-Scheduler on how it groups pods
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/queues/README.md
#     description: KAI-Scheduler on its queues
# schemas:
#   - input: schema.input
# custom:
#   code: USM502
#   order: 31
#   protects_others: true
#   promises: [gang/gang_missing, gang/mixed_schedulers, gang/routed_to_another_scheduler]
package usher.mutations.gang.kai_routing

import data.usher.lib.routing

intents contains intent if {
	routing.to_kai
	some pod_set in input.podSets
	pod_set.changeable

	intent := {
		"at": pod_set.path,
		"field": "schedulerName",
		"value": routing.scheduler,
		"reason": "all pods of a gang need the same scheduler",
		"needs": routing.needs_of_kai,
	}
}

intents contains intent if {
	routing.to_kai

	intent := {
		"at": "",
		"field": "label",
		"value": {"key": routing.kai_queue_label, "value": input.site.route.queue},
		"reason": $"usher.yaml routes this {input.workload.kind} of namespace {input.workload.namespace} to queue {input.site.route.queue} as a gang",
		"needs": routing.needs_of_kai,
	}
}

warnings contains {"at": "", "reason": routing.why_not_on_kai} if {
	input.site.route.scheduler == "kai"
	not routing.why_no_gang
}

skips contains {"at": "", "reason": "usher.yaml does not route the workload to KAI-Scheduler"} if {
	not input.site.route.scheduler == "kai"
}

skips contains {"at": "", "reason": routing.why_no_gang} if input.site.route.scheduler == "kai"
