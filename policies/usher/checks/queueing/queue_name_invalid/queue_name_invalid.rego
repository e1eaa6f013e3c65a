# METADATA
# title: The queue name is a valid LocalQueue name
# description: |
#   A LocalQueue is an object, so its name has only lower-case letters, digits, `-` and `.`. A label value may also have
#   capitals, `_`, or two dots in a row. No LocalQueue can have this name, and Kueue's webhooks refuse the workload.
#   They also refuse an empty name, which other components treat as no name. For an empty name the finding only warns:
#   where Kueue does not watch the kind, an empty label does no harm.
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
#   why: Kueue refuses the workload, and no queue can ever take it.
#   closes: [S20]
#   remediation: Write the name of a LocalQueue of the namespace, or remove the label.
package usher.checks.queueing.queue_name_invalid

import data.usher.lib.kueue
import data.usher.lib.text

deny contains finding if {
	queue := kueue.queue_name
	not kueue.is_object_name(queue)

	finding := {
		"path": kueue.label_path(kueue.queue_label),
		"message": $"no LocalQueue can be named {text.excerpt(queue)}, so Kueue refuses this {input.workload.kind}",
		"remedy": "name a LocalQueue of the namespace; its name has only lower-case letters, digits, - and .",
	}
}

deny contains finding if {
	kueue.labels[kueue.queue_label] == ""

	finding := {
		"path": kueue.label_path(kueue.queue_label),
		"message": $"the label {kueue.queue_label} is empty, so Kueue refuses this {input.workload.kind}",
		"remedy": "name a LocalQueue of the namespace, or remove the label",
		"assumption": $"usher assumes that Kueue watches {input.workload.kind}s",
	}
}
