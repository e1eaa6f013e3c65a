# METADATA
# title: Let Kubernetes start a Job as a gang
# description: |
#   From Kubernetes 1.37 on, a Job with `spec.scheduling.schedulingPolicy.gang` gets a PodGroup of its own, and the
#   scheduler of Kubernetes starts all of its pods together. Both feature gates for it, GenericWorkload and
#   WorkloadWithJob, are off by default. An entry of `routing` in usher.yaml with `scheduler: native` says that they are
#   on. The webhook then adds the field to Jobs with several pods that run at once.
#   The webhook skips Jobs that have the field, name a PodGroup or another scheduler, or are in a queue of Kueue. It
#   warns about other kinds, because only the Job controller makes PodGroups.
# scope: package
# related_resources:
#   - ref: https://github.com/kubernetes/enhancements/tree/master/keps/sig-apps/5547-workload-api-job-support
#     description: The proposal for gangs of Jobs
# schemas:
#   - input: schema.input
# custom:
#   code: USM503
#   order: 32
#   protects_others: true
#   promises: [gang/gang_missing]
package usher.mutations.gang.native_routing

import data.usher.lib.routing

intents contains intent if {
	routing.to_native

	intent := {
		"at": "",
		"field": "gangSetting",
		"value": {"setting": "native", "value": {"schedulingPolicy": {"gang": {}}}},
		"reason": $"usher.yaml routes this {input.workload.kind} of namespace {input.workload.namespace} to the scheduler of Kubernetes as a gang",
	}
}

warnings contains {"at": "", "reason": routing.why_not_native} if {
	input.site.route.scheduler == "native"
	not routing.why_no_gang
}

skips contains {"at": "", "reason": "usher.yaml does not route the workload to the scheduler of Kubernetes"} if {
	not input.site.route.scheduler == "native"
}

skips contains {"at": "", "reason": routing.why_no_gang} if input.site.route.scheduler == "native"
