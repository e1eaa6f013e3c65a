# METADATA
# title: A workload stays below its ceiling of GPUs
# description: |
#   One object can ask for the whole cluster: by a replica count, by an autoscaler's maximum. What counts is the most that
#   all its pods together can ask for, at the top level, so that a gang is turned away whole and not pod by pod. Whole
#   accelerators are counted, of whichever vendor and by resources or device claims alike; slices and shares have quotas
#   of their own. What a controller made is left alone: its owner was judged. Where nothing bounds the pods the least
#   that there will be counts, and other checks find the missing bound.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/
#     description: Kubernetes on quotas, which bite pod by pod
# schemas:
#   - input: schema.input
# custom:
#   code: USH1301
#   about: accelerator pods
#   severity: high
#   why: One typing error in a replica count can take every GPU of the cluster.
#   closes: [S47, B24]
#   parameters:
#     maximum:
#       default: 512
#       description: Whole accelerators that one workload may ask for at its largest.
#   remediation: |
#     Ask for fewer pods or fewer accelerators for each, set an upper bound, or have the ceiling of the namespace raised
#     in usher.yaml (parameters, gpus-per-workload, maximum).
package usher.checks.cost.gpus_per_workload

import data.usher.lib.parameters

deny contains finding if {
	not input.workload.owned
	not input.workload.isTemplate
	_most > _maximum

	finding := {
		"path": "",
		"message": $"its pods ask for {_most} accelerators together, more than the {_maximum} that one workload may have",
		"remedy": $"stay at {_maximum} or below, or have the ceiling raised",
	}
}

_maximum := parameters.cost.gpus_per_workload.maximum

_most := sum([_largest(total) |
	some total in input.workload.totals
	total.route in {"extended resource", "device claim"}
])

# What nothing bounds is at least its minimum; that it has no bound is for other checks to say.
_largest(total) := object.get(total, "maximum", total.minimum).value
