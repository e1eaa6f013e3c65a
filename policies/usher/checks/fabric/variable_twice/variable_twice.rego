# METADATA
# title: A container sets each variable once
# description: |
#   If the `env` of a container has two entries with one name, the last one counts. A person who reads or changes the
#   first one does not notice this. kubectl apply identifies entries by their names and may drop one of them.
#
#   The check looks only at variables that usher's rules read: those of NVIDIA, CUDA, NCCL, UCX and libfabric. It
#   ignores a last entry that uses other variables or gets its value from elsewhere, because it may extend the first
#   entry. It also ignores objects that a controller made, because operators append their variables to those of the
#   user.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/inject-data-application/define-environment-variable-container/
#     description: Kubernetes on environment variables
# schemas:
#   - input: schema.input
# custom:
#   code: USH906
#   about: accelerator pods
#   severity: low
#   why: A change of the first entry has no effect.
#   closes: [S29]
#   remediation: Keep one entry, with the value that you want.
package usher.checks.fabric.variable_twice

import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	some entry in workload.containers
	some name, variable in entry.container.environment
	earlier := variable.overrides
	value := variable.value

	finding := {
		"path": earlier,
		"message": $"{workload.container_name(entry.podSet, entry.container)}: {name} is set more than once, and the last value {text.excerpt(value)} wins",
		"remedy": $"keep one entry of {name}",
	}
}
