# METADATA
# title: A label names the queue, not an annotation
# description: |
#   Kueue reads the name of the queue from the label kueue.x-k8s.io/queue-name. Early versions read an annotation of the
#   same name, and old guides still show it, often on a pod template. Today Kueue ignores the annotation, so the
#   workload runs outside the quota although its author thinks that it is queued. Beside the label, the annotation does
#   no harm. The check skips objects that a controller made, because it judges their owner.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations/
#     description: Kueue on its labels and annotations
# schemas:
#   - input: schema.input
# custom:
#   code: USH402
#   about: labelled pods
#   severity: medium
#   why: The workload does not wait for its quota; it runs outside the quota.
#   closes: [S20]
#   remediation: |
#     Write the name as a label where Kueue reads it: on the object itself, or for a CronJob on the template of its
#     Jobs.
package usher.checks.queueing.queue_name_as_annotation

import data.usher.lib.kueue
import data.usher.lib.text

deny contains finding if {
	some path in _paths
	not input.workload.owned
	not kueue.in_queue

	finding := {
		"path": $"{path.metadata}/annotations/{kueue.escaped(kueue.queue_label)}",
		"message": $"the annotation {kueue.queue_label} {text.excerpt(path.queue)} does not queue the workload, because Kueue reads only the label of this name",
		"remedy": _remedy,
	}
}

_paths contains {"metadata": "/metadata", "queue": queue} if queue := input.workload.annotations[kueue.queue_label]

_paths contains {"metadata": pod_set.metadataPath, "queue": queue} if {
	some pod_set in input.podSets
	queue := pod_set.annotations[kueue.queue_label]
}

_remedy := $"move it to {kueue.label_field}" if input.workload.queueLabelPath

_remedy := "remove it, or use a kind that Kueue queues" if not input.workload.queueLabelPath
