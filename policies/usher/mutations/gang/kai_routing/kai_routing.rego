# METADATA
# title: Let KAI-Scheduler place a job as a gang
# description: |
#   KAI-Scheduler groups the pods that name it by the outermost object that made them, and takes their queue from that
#   object's label kai.scheduler/queue. Where usher.yaml routes a workload to it, the object gets the label, and every
#   template the scheduler. How many pods start together it counts itself, for the jobs of kubeflow.org but PaddleJobs,
#   for TrainJobs, JobSets, LeaderWorkerSets and those of Ray. Pods of other kinds it places one by one, and of a TrainJob
#   the runtime names the scheduler; these are not given half of it: the user is warned instead. Jobs that name another
#   scheduler anywhere are left alone, and so are those whose pods Kueue places by topology.
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
		"reason": "all pods of a gang need one scheduler",
		"needs": routing.needs_of_kai,
	}
}

intents contains intent if {
	routing.to_kai

	intent := {
		"at": "",
		"field": "label",
		"value": {"key": routing.kai_queue_label, "value": input.site.route.queue},
		"reason": $"{input.workload.kind}s of namespace {input.workload.namespace} run as gangs in queue {input.site.route.queue}",
		"needs": routing.needs_of_kai,
	}
}

warnings contains {"at": "", "reason": routing.why_not_on_kai} if {
	input.site.route.scheduler == "kai"
	not routing.why_no_gang
}

skips contains {"at": "", "reason": "usher.yaml routes it to no queue of KAI-Scheduler"} if {
	not input.site.route.scheduler == "kai"
}

skips contains {"at": "", "reason": routing.why_no_gang} if input.site.route.scheduler == "kai"
