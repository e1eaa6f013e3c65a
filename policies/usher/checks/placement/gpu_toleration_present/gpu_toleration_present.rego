# METADATA
# title: Accelerator pods tolerate the taint of some node pool
# description: |
#   Accelerator nodes are tainted so that other pods stay off. A pod that asks for an accelerator and tolerates the
#   taints of no pool on which it fits waits for ever. A toleration counts as the scheduler counts it: without an
#   operator the value must be the same, and one effect is not another; where a toleration misses a taint for that
#   reason alone, the finding says so. Where usher.yaml declares no node pools, the taint that such nodes usually carry
#   is assumed; such a finding only warns.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
#     description: Kubernetes on taints and tolerations
# schemas:
#   - input: schema.input
# custom:
#   code: USH301
#   about: accelerator pods
#   severity: high
#   why: The pods are pending for ever on a cluster that has the GPUs.
#   closes: [S3]
#   mended_on_pods: true
#   remediation: |
#     Add a toleration with operator Exists for each taint of the pool on which the pods are to run, or let the
#     mutation gpu-toleration add them.
package usher.checks.placement.gpu_toleration_present

import data.usher.lib.serving
import data.usher.lib.workload

deny contains object.union(finding, _assumption(pod_set)) if {
	some pod_set in _pod_sets
	nearest := _nearest(pod_set)
	nearest.untolerated != []

	finding := {
		"path": workload.field_path(pod_set, "tolerations"),
		"message": $"{workload.pod_set_name(pod_set)} does not tolerate {_taints(nearest)} of pool {nearest.pool}{_choice(pod_set)}{_near_miss(pod_set, nearest)}",
		"remedy": $"tolerate {_keys(nearest)} with operator Exists",
	}
}

deny contains finding if {
	some pod_set in _pod_sets
	some key in pod_set.assumedTaints

	finding := {
		"path": workload.field_path(pod_set, "tolerations"),
		"message": $"{workload.pod_set_name(pod_set)} does not tolerate the taint {key}",
		"remedy": $"tolerate {key} with operator Exists",
		"assumption": $"no node pools are declared in usher.yaml; such nodes usually carry the taint {key}",
	}
}

# Knative refuses tolerations in its templates: there the pods are judged alone.
_pod_sets := [pod_set | some pod_set in workload.accelerator_pod_sets; not serving.on_knative]

_assumption(pod_set) := {} if pod_set.changeable

_assumption(pod_set) := {"assumption": "its pods are given it when they are made, which this template cannot be"} if {
	not pod_set.changeable
}

# The pool with the fewest taints in the way, the first of several; none where the pods fit nowhere.
_nearest(pod_set) := pod_set.fits[index] if {
	[_, index] := min([[count(fit.untolerated), index] | some index, fit in pod_set.fits])
}

_taints(fit) := concat(" and ", [text | some taint in fit.untolerated; text := _taint(taint)])

_taint(taint) := $"{taint.key}={taint.value}:{taint.effect}" if taint.value != ""

_taint(taint) := $"{taint.key}:{taint.effect}" if taint.value == ""

_keys(fit) := concat(" and ", sort({taint.key | some taint in fit.untolerated}))

# Tolerations of the right key that do not tolerate the taint are usually a mistake.
_near_miss(pod_set, fit) := $"; its toleration of {concat(" and ", keys)} is for another value or effect" if {
	keys := _missed(pod_set, fit)
	keys != []
} else := ""

_missed(pod_set, fit) := sort({taint.key |
	some taint in fit.untolerated
	some toleration in pod_set.tolerations
	toleration.key == taint.key
})

_choice(pod_set) := "" if count(pod_set.fits) == 1

_choice(pod_set) := $", the nearest of {count(pod_set.fits)} pools" if count(pod_set.fits) > 1
