# METADATA
# title: A Volcano queue has no preemption fields
# description: |
#   The spec of Volcano's Queue knows neither `preemptable` nor `preemptionPolicy`. kubectl refuses an object with fields
#   that its kind does not have; other clients lose them without a word. Whether jobs of other queues may take back what
#   this one has borrowed is said by `reclaimable`, and which jobs may be evicted by the annotation
#   volcano.sh/preemptable of their pods; the scheduler has to run the actions `reclaim` and `preempt` for either.
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
#   why: The queue is refused, or works without the protection that somebody counts on.
#   closes: [S27]
#   remediation: |
#     Remove the field. `reclaimable` of the queue says whether others may take back what it has borrowed.
package usher.checks.objects.volcano_queue_unknown_fields

deny contains finding if {
	some field in ["preemptable", "preemptionPolicy"]
	field in object.keys(input.object.volcanoQueue.spec)

	finding := {
		"path": $"/spec/{field}",
		"message": $"a Volcano queue has no field {field}",
		"remedy": $"remove {field}; reclaimable says whether others may take back what the queue has borrowed",
	}
}
