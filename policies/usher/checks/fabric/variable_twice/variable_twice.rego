# METADATA
# title: A variable stands once in a list
# description: |
#   Of two entries of one name in the `env` of a container the last one counts, which nothing says to whoever reads or
#   changes the first; and kubectl apply, which knows entries by their names, may drop one of them. Only variables that
#   rules read are looked at: those of NVIDIA, CUDA, NCCL, UCX and libfabric. A last entry whose value is built of others
#   or comes from elsewhere may mean to extend the first. What a controller made is left alone, because operators append
#   theirs to the user's.
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
#   why: Whoever changes the first entry changes nothing.
#   closes: [S29]
#   remediation: Keep one entry, with the value that is meant.
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
