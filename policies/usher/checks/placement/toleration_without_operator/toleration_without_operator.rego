# METADATA
# title: A toleration says whether the value matters
# description: |
#   A toleration without an operator is for one value, and without a value for the empty one: it does not tolerate
#   nvidia.com/gpu=present, which GKE sets, nor nvidia.com/gpu=true. Almost always operator Exists was meant. Where
#   usher.yaml declares the node pool, its taints are known and the check gpu-toleration-present holds the toleration to
#   them; this one is for all others. Where another toleration of the same key is wide enough, nothing is found.
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
#   why: The pods are pending although they seem to tolerate the taint.
#   closes: [S3]
#   parameters:
#     keys:
#       default: [nvidia.com/gpu, google.com/tpu, amd.com/gpu]
#       description: Keys of the taints of accelerator nodes that have a value.
#   remediation: |
#     Write `operator: Exists`, or the value that the taint has. If the taint has no value, leave its key out of the
#     parameter keys.
package usher.checks.placement.toleration_without_operator

import data.usher.lib.parameters
import data.usher.lib.placement
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	not pod_set.poolsDeclared
	some index, toleration in pod_set.tolerations
	toleration.key in parameters.placement.toleration_without_operator.keys
	not _tolerated_with_a_value(pod_set, toleration.key)

	finding := {
		"path": $"{workload.field_path(pod_set, "tolerations")}/{index}",
		"message": $"{workload.pod_set_name(pod_set)} tolerates {text.excerpt(toleration.key)} only where the taint has no value, because it says neither operator Exists nor a value",
		"remedy": "add operator: Exists",
		"assumption": $"usher.yaml declares no node pool that offers what the pods ask for; the taint {toleration.key} usually has a value",
	}
}

_is_for_the_empty_value(toleration) if {
	object.get(toleration, "operator", "") in {"", "Equal"}
	object.get(toleration, "value", "") == ""
}

_tolerated_with_a_value(pod_set, key) if {
	some toleration in pod_set.tolerations
	_is_for(toleration, key)
	not _is_for_the_empty_value(toleration)
}

_is_for(toleration, key) if toleration.key == key

_is_for(toleration, _) if placement.tolerates_everything(toleration)
