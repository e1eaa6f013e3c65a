# METADATA
# title: What must be, in one line
# description: |
#   What goes wrong otherwise, for whom, and how the rule decides; what the rule skips and why.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/
#     description: Where it is written
# schemas:
#   - input: schema.input
# custom:
#   code: <code>
#   about: accelerator pods
#   severity: medium
#   why: Why it matters, in one line.
#   parameters:
#     maximum:
#       default: 8
#       description: What a site may set in usher.yaml.
#   remediation: What to do about it.
package usher.checks.<category>.<name>

import data.usher.lib.parameters
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some name, number in pod_set.accelerators
	number > parameters.<category>.<name>.maximum

	finding := {
		"path": pod_set.specPath,
		"message": $"{workload.pod_set_name(pod_set)} asks for {number} of {name}",
		"remedy": "ask for fewer",
	}
}
