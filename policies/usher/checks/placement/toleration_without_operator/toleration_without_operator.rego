# METADATA
# title: Tolerations of valued taints set operator Exists or a value
# description: |
#   A toleration without an operator matches one value; without a value it matches only the empty value. It does not
#   tolerate nvidia.com/gpu=present, which GKE sets, or nvidia.com/gpu=true. The author almost always meant operator
#   Exists. Where usher.yaml declares the node pool, or nodes of the cluster form it, its taints are known, and the check gpu-toleration-present compares
#   the toleration with them. This check covers all other pods. It finds nothing where another toleration of the same
#   key also matches a value.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
#     description: Kubernetes on taints and tolerations
# schemas:
#   - input: schema.input
# custom:
#   code: USH313
#   about: accelerator pods
#   severity: medium
#   why: The pods stay pending although they seem to tolerate the taint.
#   closes: [S3]
#   parameters:
#     keys:
#       default: [nvidia.com/gpu, google.com/tpu, amd.com/gpu]
#       description: Keys of accelerator taints that have a value.
#   remediation: |
#     Write `operator: Exists`, or the value of the taint. If the taint has no value, remove its key from the parameter
#     keys.
package usher.checks.placement.toleration_without_operator

import data.usher.lib.parameters
import data.usher.lib.placement
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	not pod_set.poolsDeclared
	not pod_set.poolsFound
	some index, toleration in pod_set.tolerations
	toleration.key in parameters.placement.toleration_without_operator.keys
	not _tolerated_with_a_value(pod_set, toleration.key)

	finding := {
		"path": $"{workload.field_path(pod_set, "tolerations")}/{index}",
		"message": $"{workload.pod_set_name(pod_set)} tolerates {text.excerpt(toleration.key)} only where the taint has no value, because the toleration has neither operator Exists nor a value",
		"remedy": "add operator: Exists",
		"assumption": $"usher assumes that the taint {toleration.key} has a value, because usher.yaml declares no node pool that offers what the pods ask for",
	}
}

_is_for_the_empty_value(toleration) if {
	object.get(toleration, "operator", "") in ["", "Equal"]
	object.get(toleration, "value", "") == ""
}

_tolerated_with_a_value(pod_set, key) if {
	some toleration in pod_set.tolerations
	_is_for(toleration, key)
	not _is_for_the_empty_value(toleration)
}

_is_for(toleration, key) if toleration.key == key

_is_for(toleration, _) if placement.tolerates_everything(toleration)
