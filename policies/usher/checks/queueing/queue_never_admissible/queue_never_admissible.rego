# METADATA
# title: The queue has enough quota for the workload when it is empty
# description: |
#   A ClusterQueue can give its nominal quota and what it can borrow. Its borrowingLimit limits borrowing, and so does
#   the quota that the other queues of its cohort have and lend. Kueue admits all pod sets of a workload together, and
#   each pod set takes one flavor for the resources of a group. Kueue never refuses a workload that asks for more; the
#   workload waits forever. The check uses the configured numbers of the queues, whatever runs now. If usher cannot read
#   a part of it, or does not know it, the workload is unknown. Kueue counts every resource that the ClusterQueue covers,
#   so the finding needs no facts about Kueue's own configuration. No queue admits a workload with more pod sets than Kueue accepts: 8 before version 0.18, 10 in
#   0.18, 18 in 0.19. usher reads the version from the label that the Helm chart of Kueue writes.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#borrowinglimit
#     description: Kueue on what a ClusterQueue can borrow
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/cohort/
#     description: Kueue on cohorts
# schemas:
#   - input: schema.input
# custom:
#   code: USH435
#   about: cluster facts
#   severity: high
#   why: The workload waits forever, and nothing says why.
#   closes: [S21]
#   remediation: |
#     Ask for less, use a queue that has enough quota, or have the quota raised. A Job may accept fewer pods
#     (kueue.x-k8s.io/job-min-parallelism).
package usher.checks.queueing.queue_never_admissible

import data.usher.lib.amounts
import data.usher.lib.kueue
import data.usher.lib.queues

deny contains finding if {
	some shortage in queues.verdict.shortages

	finding := {
		"path": queues.path,
		"message": $"{queues.workload_name} asks for {_asked(shortage)}; ClusterQueue {queues.cluster_queue.name} can {_given(shortage)}",
		"remedy": _remedy(shortage),
	}
}

deny contains finding if {
	limit := queues.verdict.podSetLimit

	finding := {
		"path": queues.path,
		"message": $"{queues.workload_name} has {limit.podSets} pod sets; Kueue {limit.version} accepts at most {limit.most}",
		"remedy": "describe equal pods in one pod set, or make several workloads of it",
	}
}

unknown contains {
	"path": queues.path,
	"reason": $"usher does not know whether {_queue} could ever admit {queues.workload_name}: {reason}",
} if {
	queues.verdict.outcome == "unknown"
	some reason in queues.verdict.unknowns
}

_queue := $"ClusterQueue {queues.cluster_queue.name}" if queues.cluster_queue.name != ""

_queue := $"the ClusterQueue of LocalQueue {queues.local_queue.name}" if queues.cluster_queue.name == ""

_asked(shortage) := $"{kueue.amount(shortage.resource, shortage.asked)} {shortage.resource} ({parts})" if {
	parts := concat(" + ", [text |
		some part in shortage.parts
		pods := amounts.number_of(part.pods, "pod", "pods")
		text := $"{pods}{_of(input.podSets[part.podSet])} x {kueue.amount(shortage.resource, part.each)}"
	])
}

_of(pod_set) := "" if pod_set.name == ""

_of(pod_set) := $" of {pod_set.name}" if pod_set.name != ""

_given(shortage) := $"never give more than {_capacities(shortage)}" if not shortage.together

_given(shortage) := $"give that, but not in one flavor together with the other resources: {_capacities(shortage)}" if {
	shortage.together
}

_capacities(shortage) := concat(", ", [text |
	some capacity in shortage.flavors
	most := kueue.amount(shortage.resource, capacity.most)
	text := $"{most} of flavor {capacity.flavor} ({_sources(shortage.resource, capacity)})"
])

_sources(resource, capacity) := $"{kueue.amount(resource, capacity.own)} own" if capacity.borrowed.milli == 0

_sources(resource, capacity) := $"{kueue.amount(resource, capacity.own)} own + {kueue.amount(resource, capacity.borrowed)} borrowed" if {
	capacity.borrowed.milli > 0
}

_remedy(_) := $"use queue {queues.verdict.fitsIn}, which could admit it" if queues.verdict.fitsIn

_remedy(shortage) := $"ask for at most {kueue.amount(shortage.resource, shortage.fits)} {shortage.resource}, or have the quota raised" if {
	not queues.verdict.fitsIn
	not shortage.together
	shortage.fits.milli > 0
}

_remedy(shortage) := "have the quota raised" if {
	not queues.verdict.fitsIn
	not shortage.together
	shortage.fits.milli == 0
}

_remedy(shortage) := "have the quotas of one flavor raised for all of its resources, or ask for less" if {
	not queues.verdict.fitsIn
	shortage.together
}
