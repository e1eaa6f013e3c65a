# METADATA
# title: A KAI queue can have the GPUs that it is promised
# description: |
#   `quota` promises a queue of KAI-Scheduler a number of GPUs, and `limit` bounds it with all queues below it. A quota
#   above the limit of the queue itself, or of the queue above it, is never given, and so is a sum of the quotas below a
#   queue that exceeds its limit: workloads wait though their queue has less than its quota. KAI-Scheduler's webhook
#   accepts these queues; newer versions warn if this validation is switched on. The check reads the queues around the
#   queue from facts, or from the files. -1 means without a limit.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/queues/README.md
#     description: KAI-Scheduler on quotas and limits of queues
# schemas:
#   - input: schema.input
# custom:
#   code: USH457
#   about: objects
#   kinds: [kaiQueue]
#   severity: medium
#   why: Workloads wait for GPUs that their queue was promised.
#   closes: [S26]
#   remediation: Raise the limit to the sum of the quotas below it at least, or lower the quotas.
package usher.checks.queueing.kai_queue_promises_too_much

import data.usher.lib.text

deny contains finding if {
	_quota.milli > _limit.milli

	finding := {
		"path": "/spec/resources/gpu/quota",
		"message": $"the queue is promised {_quota.text} GPUs, but its own limit is {_limit.text}",
		"remedy": "raise the limit to the quota at least, or set it to -1",
	}
}

deny contains finding if {
	parent := input.cluster.kaiTree.parent
	_quota.milli > parent.limit.milli

	finding := {
		"path": "/spec/resources/gpu/quota",
		"message": $"the queue is promised {_quota.text} GPUs, but the queue {text.excerpt(parent.name)} above it has a limit of {parent.limit.text}",
		"remedy": $"ask for a quota of {parent.limit.text} at most, or raise the limit of the queue above it",
	}
}

deny contains finding if {
	promised := sum([child.quota.milli | some child in input.cluster.kaiTree.children])
	promised > _limit.milli
	names := sort([child.name | some child in input.cluster.kaiTree.children; child.quota.milli > 0])

	finding := {
		"path": "/spec/resources/gpu/limit",
		"message": $"the limit is {_limit.text} GPUs, but the queues below it are promised {promised / 1000}: {concat(", ", [text.excerpt(name) | some name in names])}",
		"remedy": $"raise the limit to {promised / 1000} at least, or lower the quotas below it",
	}
}

_gpu := input.object.kaiQueue.spec.resources.gpu

_quota := _gpu.quota

# -1 means without a limit.
_limit := _gpu.limit if _gpu.limit.milli >= 0
