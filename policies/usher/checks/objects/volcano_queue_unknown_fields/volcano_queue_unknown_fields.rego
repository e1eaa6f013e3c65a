# METADATA
# title: A Volcano queue has no preemption fields
# description: |
#   The spec of Volcano's Queue has no fields `preemptable` and `preemptionPolicy`. kubectl refuses an object with
#   unknown fields; other clients drop them without an error. `reclaimable` of the queue decides whether jobs of other
#   queues may take back what this queue has borrowed. The annotation volcano.sh/preemptable of pods decides which jobs
#   may be evicted. The scheduler must run the actions `reclaim` and `preempt` for them.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/queue/
#     description: Volcano on the fields of a queue
# schemas:
#   - input: schema.input
# custom:
#   code: USH1420
#   about: objects
#   kinds: [volcanoQueue]
#   severity: high
#   why: The queue is refused, or works without the protection that its author expects.
#   closes: [S27]
#   remediation: Remove the field. `reclaimable` of the queue decides whether others may take back what it has borrowed.
package usher.checks.objects.volcano_queue_unknown_fields

deny contains finding if {
	some field in ["preemptable", "preemptionPolicy"]
	field in object.keys(input.object.volcanoQueue.spec)

	finding := {
		"path": $"/spec/{field}",
		"message": $"a Volcano queue has no field {field}",
		"remedy": $"remove {field}; reclaimable decides whether others may take back what the queue has borrowed",
	}
}
