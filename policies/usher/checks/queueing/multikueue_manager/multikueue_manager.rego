# METADATA
# title: Jobs of a MultiKueue queue, and only these, name MultiKueue in managedBy
# description: |
#   MultiKueue copies the jobs of a queue to other clusters and runs them there. Only a job with
#   `managedBy: kueue.x-k8s.io/multikueue` is ignored by its own controller in this cluster. A job of this queue
#   without it is never sent, or its controller starts it here as well. A job that names MultiKueue outside of its queue
#   is run by no controller at all. The field is immutable, so the job must be created again.
#   `multiKueue: true` in `queues` of usher.yaml says that a queue belongs to MultiKueue. Kueue's own webhook writes the
#   field too, unless the job names another controller. A queue without AdmissionChecks is not one of MultiKueue, as the
#   facts of the cluster say. The check skips objects that a controller made, because MultiKueue takes their owner.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/multikueue/
#     description: Kueue on MultiKueue
# schemas:
#   - input: schema.input
# custom:
#   code: USH439
#   about: accelerator pods
#   severity: high
#   why: A job that the wrong controller manages never runs where it should, and nothing says so.
#   remediation: |
#     In a queue of MultiKueue, create the job with managedBy kueue.x-k8s.io/multikueue, or leave the field out: the
#     webhook sets it. Anywhere else, remove the field.
package usher.checks.queueing.multikueue_manager

import data.usher.lib.kueue
import data.usher.lib.queueable
import data.usher.lib.text

deny contains finding if {
	not input.workload.owned
	input.site.queue.multiKueue
	queue := kueue.queue_name
	queue == input.site.queue.localQueue
	not _managed

	finding := {
		"path": _place,
		"message": $"queue {queue} sends its jobs to other clusters, but {_manager} manages this {input.workload.kind}, so it never runs there",
		"remedy": $"create it with {_field}: {kueue.multikueue}",
	}
}

deny contains object.union(finding, _assumption) if {
	not input.workload.owned
	_managed
	obstacle := _obstacle

	finding := {
		"path": _place,
		"message": $"MultiKueue manages this {input.workload.kind}, but {obstacle}, so no controller runs it",
		"remedy": $"create it without {_field}, or in a queue of MultiKueue",
	}
}

_place := input.workload.lifecycle.managedBy

_field := replace(trim_prefix(_place, "/"), "/", ".")

_managed if input.workload.managedBy == kueue.multikueue

_manager := text.excerpt(input.workload.managedBy) if input.workload.managedBy

_manager := "the controller of this cluster" if not input.workload.managedBy

_obstacle := "it is in no queue" if {
	not queueable.will_be_queued
	not input.cluster.kueue.queue
} else := $"its queue {text.excerpt(_queue.name)} has no AdmissionCheck, which MultiKueue is" if {
	_queue.clusterQueue.withoutChecks
}

_queue := input.cluster.kueue.queue

# A LocalQueue with the name default takes jobs without the label.
_assumption := {"assumption": "usher assumes that the namespace has no LocalQueue named default"} if {
	not input.cluster.kueue
	not queueable.will_be_queued
} else := {}
