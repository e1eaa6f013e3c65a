# METADATA
# title: The queue has a name that a LocalQueue can have
# description: |
#   A LocalQueue is an object, so its name has small letters, digits, `-` and `.` only. A label may hold more than that:
#   capitals, `_`, two dots in a row. No LocalQueue has such a name, and Kueue's webhooks refuse the workload. They refuse
#   an empty name just as well, which everything else takes for none; that is only told, for where Kueue does not watch
#   the kind an empty label does no harm.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names
#     description: Kubernetes on names of objects
# schemas:
#   - input: schema.input
# custom:
#   code: USH407
#   about: labelled pods
#   severity: high
#   why: Kueue refuses the workload, and no queue could ever take it.
#   closes: [S20]
#   remediation: |
#     Write the name of a LocalQueue of the namespace, or leave the label out.
package usher.checks.queueing.queue_name_invalid

import data.usher.lib.kueue
import data.usher.lib.text

deny contains finding if {
	queue := kueue.queue_name
	not kueue.is_object_name(queue)

	finding := {
		"path": kueue.label_path(kueue.queue_label),
		"message": $"no LocalQueue can be named {text.excerpt(queue)}, so Kueue refuses this {input.workload.kind}",
		"remedy": "name a LocalQueue of the namespace: small letters, digits, - and . only",
	}
}

deny contains finding if {
	kueue.labels[kueue.queue_label] == ""

	finding := {
		"path": kueue.label_path(kueue.queue_label),
		"message": $"the label {kueue.queue_label} is empty, so Kueue refuses this {input.workload.kind}",
		"remedy": "name a LocalQueue of the namespace, or leave the label out",
		"assumption": $"Kueue watches {input.workload.kind}s here",
	}
}
