# METADATA
# title: The limit and the quota of a KAI queue hold the workload
# description: |
#   KAI-Scheduler starts no pod that brings a queue, or the queue above it, over its limit of GPUs. A pod with more GPUs
#   than the limit waits for ever, also in an empty cluster, and so does a gang whose pods together have more. Under a
#   limit of -1 every workload fits, and a queue that states no limit has a limit of 0. Pods that KAI-Scheduler does not
#   evict, for example those of a Deployment, also stay within the quota of the queue. The check counts whole GPUs and
#   fractions.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/queues/README.md
#     description: KAI-Scheduler on limits of queues, "0 or unset" among them
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/priority/README.md
#     description: KAI-Scheduler on pods that it does not evict
# schemas:
#   - input: schema.input
# custom:
#   code: USH456
#   about: cluster facts
#   severity: medium
#   why: The pods wait for ever.
#   closes: [S26]
#   remediation: Ask for fewer GPUs, name another queue, or raise the limit.
package usher.checks.queueing.kai_queue_limit_below_workload

import data.usher.lib.kai
import data.usher.lib.text

deny contains finding if {
	kai.places_pods
	some queue in input.cluster.kai.named
	asked := max([_of_pod, _of_gang])
	asked > queue.limit.milli

	finding := {
		"path": queue.path,
		"message": $"KAI queue {text.excerpt(queue.limitOf)} has a limit of {queue.limit.text} GPUs, but {_who(asked)} {asked / 1000}, so it never starts",
		"remedy": "ask for fewer GPUs, name another queue, or raise the limit",
	}
}

deny contains finding if {
	kai.places_pods
	some queue in input.cluster.kai.named
	asked := max([_of_pod, _of_gang])
	asked > queue.quota.milli
	not _is_above_limit(queue, asked)

	finding := {
		"path": queue.path,
		"message": $"KAI queue {text.excerpt(queue.quotaOf)} has a quota of {queue.quota.text} GPUs, but {_who(asked)} {asked / 1000}, and pods that KAI-Scheduler does not evict never exceed a quota",
		"remedy": "ask for fewer GPUs, raise the quota, or let KAI-Scheduler evict the pods with kai.scheduler/preemptibility: preemptible",
	}
}

_is_above_limit(queue, asked) if asked > queue.limit.milli

_of_pod := max({0} | _amounts)

_amounts contains sum([request.minimum.milli | some request in pod_set.requests; _counts(request)]) if {
	some pod_set in input.podSets
}

# KAI-Scheduler makes a group of each pod of a Job, and of a Deployment (pkg/podgrouper/podgrouper/plugins/job and
# deployment of NVIDIA/KAI-Scheduler).
_of_gang := sum([total.minimum.milli | some total in input.workload.totals; _counts(total)]) if {
	_starts_together
	not input.workload.group in ["", "apps", "batch"]
	object.get(input.workload.gang, "minimum", input.workload.pods.minimum) >= input.workload.pods.minimum
} else := 0

_starts_together if input.workload.gang.wanted

# KAI-Scheduler makes a group of the head and the least workers (pkg/podgrouper/podgrouper/plugins/ray).
_starts_together if input.workload.group == "ray.io"

_counts(request) if {
	request.route == "extended resource"
	request.name == "nvidia.com/gpu"
}

_counts(request) if {
	request.route == "fraction annotation"
	request.name == "gpu-fraction"
}

_who(asked) := "one pod asks for" if asked == _of_pod

_who(asked) := "the pods of the gang ask together for" if asked != _of_pod
