# METADATA
# title: A workload asks for at most the maximum number of GPUs
# description: |
#   One object can ask for the whole cluster, by its replica count or by the maximum of an autoscaler. The check counts
#   the most that all pods of the workload can ask for together. It judges the top-level object, so usher refuses a gang
#   as a whole and not pod by pod.
#   It counts whole accelerators of every vendor, by resources and device claims. Slices and shares have their own
#   quotas. It skips objects that a controller made, because usher judges their owner. If nothing bounds the pods, the
#   check uses the minimum; other checks report the missing bound.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/
#     description: Kubernetes on quotas, which count pod by pod
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
#       description: Maximum number of whole accelerators that one workload may ask for at its largest.
#   remediation: |
#     Ask for fewer pods or for fewer accelerators in each pod, or set an upper bound. Or ask an administrator to raise
#     the maximum of the namespace in usher.yaml (parameters, gpus-per-workload, maximum).
package usher.checks.cost.gpus_per_workload

import data.usher.lib.parameters
import data.usher.lib.sharing

deny contains finding if {
	not input.workload.owned
	not input.workload.isTemplate
	_together > _maximum
	_most > _maximum

	finding := {
		"path": "",
		"message": $"the pods ask for {_most} accelerators together, but {_allowed} one workload at most {_maximum}",
		"remedy": $"ask for at most {_maximum}, or ask the administrators of the cluster for a higher maximum",
	}
}

_maximum := parameters.cost.gpus_per_workload.maximum

_allowed := "usher.yaml allows" if input.site.parameters["cost/gpus_per_workload"].maximum

else := "by default usher allows"

_most := _together - _shares

_together := sum([_largest(total) |
	some total in input.workload.totals
	total.route in ["extended resource", "device claim"]
])

# Pods that only run on nodes with shared GPUs ask for shares by the name of whole GPUs.
_shares := sum([product([_largest(request), object.get(pod_set.pods, "maximum", pod_set.pods.minimum)]) |
	some pod_set in input.podSets
	sharing.shared_nodes(pod_set)
	some request in pod_set.requests
	request.route == "extended resource"
])

# The minimum if there is no bound; other checks report the missing bound.
_largest(total) := object.get(total, "maximum", total.minimum).value
