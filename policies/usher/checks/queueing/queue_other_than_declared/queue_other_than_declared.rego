# METADATA
# title: Workloads name the queue that usher.yaml declares
# description: |
#   Kueue accepts any LocalQueue in the namespace of the workload, whatever quota it uses. A user who can name another
#   queue, or create one, spends the quota of others. If usher.yaml declares the queue of a namespace, the check finds
#   every other name. Namespaces with several queues list the others in the parameter queues. The check skips objects
#   that a controller made, because their owner names the queue.
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
#   why: The jobs of one team can spend the quota of another team.
#   closes: [B32, S20]
#   parameters:
#     queues:
#       default: []
#       description: LocalQueues that workloads of the namespace may name in addition to the declared one.
#   remediation: |
#     Name the queue that usher.yaml declares for the namespace, or have the other queue listed there (parameters,
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
		"message": $"the workload names queue {text.excerpt(queue)}, but namespace {input.workload.namespace} uses queue {declared}",
		"remedy": $"set the label {kueue.queue_label}: {declared}",
	}
}
