# METADATA
# title: Workloads wait in the queue of their namespace
# description: |
#   Kueue looks a LocalQueue up in the namespace of the workload, but any LocalQueue there will do, whatever quota it
#   draws on: who can name another queue, or make one, spends what was meant for others. Where usher.yaml declares the
#   queue of a namespace, another name is found. Namespaces that have several queues list the others in the parameter
#   queues. What a controller made is left alone, because its owner names the queue.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/local_queue/
#     description: Kueue on LocalQueues
# schemas:
#   - input: schema.input
# custom:
#   code: USH406
#   about: accelerator pods
#   severity: medium
#   why: One team's jobs can spend the quota of another.
#   closes: [B32, S20]
#   parameters:
#     queues:
#       default: []
#       description: LocalQueues that workloads of the namespace may name beside the declared one.
#   remediation: |
#     Name the queue that usher.yaml declares for the namespace, or have the other one listed there (parameters,
#     queue-other-than-declared, queues).
package usher.checks.queueing.queue_other_than_declared

import data.usher.lib.kueue
import data.usher.lib.parameters
import data.usher.lib.text

deny contains finding if {
	declared := input.site.queue.localQueue
	queue := kueue.queue_name
	queue != declared
	not queue in parameters.queueing.queue_other_than_declared.queues
	not input.workload.owned

	finding := {
		"path": kueue.label_path(kueue.queue_label),
		"message": $"queue {text.excerpt(queue)} is not the queue of namespace {input.workload.namespace}, which is {declared}",
		"remedy": $"set the label {kueue.queue_label}: {declared}",
	}
}
