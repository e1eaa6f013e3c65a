# METADATA
# title: Accelerator pods tolerate the taints of a node pool
# description: |
#   Accelerator nodes have taints so that other pods stay off. A pod that asks for an accelerator fits on some node
#   pools. If it does not tolerate the taints of any of these pools, it waits forever. The check compares as the
#   scheduler does: without an operator the value must be equal, and one effect does not match another. If a toleration
#   has the right key but the wrong value or effect, the finding says so. Where usher.yaml declares no node pool for the
#   pods, usher reads the pools from the nodes of the cluster. Where it knows no nodes for them either, it assumes the
#   taint that accelerator nodes usually carry. In both cases the finding only warns. A taint that does not mark
#   accelerators, for example `dedicated=training`, says for whom the nodes are; the webhook adds no toleration for it.
#   The check judges the pods where their template cannot hold the toleration.
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
#   why: The pods stay pending on a cluster that has the GPUs.
#   closes: [S3]
#   mended_on_pods: true
#   remediation: |
#     Add a toleration with operator Exists for each taint of the pool that the pods should use. Or let the mutation
#     gpu-toleration add them.
package usher.checks.placement.gpu_toleration_present

import data.usher.lib.placement
import data.usher.lib.serving
import data.usher.lib.workload

deny contains object.union(finding, _assumption(pod_set)) if {
	some pod_set in _pod_sets
	not pod_set.undeclaredDevices
	nearest := _nearest(pod_set)
	nearest.untolerated != []

	finding := {
		"path": workload.field_path(pod_set, "tolerations"),
		"message": $"{workload.pod_set_name(pod_set)} does not tolerate {_taints(nearest)} of pool {nearest.pool}{_choice(pod_set)}{_near_miss(pod_set, nearest)}",
		"remedy": _remedy(nearest),
	}
}

deny contains finding if {
	some pod_set in _pod_sets
	some key in pod_set.assumedTaints

	finding := {
		"path": workload.field_path(pod_set, "tolerations"),
		"message": $"{workload.pod_set_name(pod_set)} does not tolerate the taint {key}, so nodes with this taint refuse it",
		"remedy": $"tolerate {key} with operator Exists",
		"assumption": $"usher assumes the usual taint {key}, because usher.yaml declares no node pools",
	}
}

# Knative refuses tolerations in its templates, and the webhook cannot edit the templates of some kinds. The webhook adds
# the tolerations to their pods, and the check judges these pods.
_pod_sets := [pod_set |
	some pod_set in workload.accelerator_pod_sets
	pod_set.changeable
	not serving.on_knative
]

_assumption(pod_set) := {} if not pod_set.poolsFound

_assumption(pod_set) := {"assumption": "usher read the pools from the nodes, and assumes that no autoscaler adds nodes without these taints"} if {
	pod_set.poolsFound
}

# The pool with the fewest untolerated taints, and the first of these; undefined where the pods fit nowhere. Pools that are
# kept for others come last.
_nearest(pod_set) := pod_set.fits[index] if {
	[_, _, index] := min([[_reserved(fit), count(fit.untolerated), index] | some index, fit in pod_set.fits])
}

_reserved(fit) := 1 if placement.reserved(fit)

_reserved(fit) := 0 if not placement.reserved(fit)

_taints(fit) := concat(" and ", [text | some taint in fit.untolerated; text := placement.taint_text(taint)])

_remedy(fit) := $"tolerate {concat(" and ", sort(by_any_value))} with operator Exists" if {
	by_any_value := {taint.key | some taint in fit.untolerated}
	every taint in fit.untolerated { taint.operator == "Exists" }
}

# usher.yaml says that the pool is for these pods, so its taint is tolerated with its value.
else := $"tolerate {concat(" and ", array.concat(by_any_value, by_value))}" if {
	every taint in fit.untolerated { taint.operator }
	by_any_value := sort({$"{taint.key} with operator Exists" | some taint in fit.untolerated; taint.operator == "Exists"})
	by_value := sort({$"{taint.key}={taint.value} with operator Equal" | some taint in fit.untolerated; taint.operator == "Equal"})
}

else := $"choose another pool; if the nodes are for these pods, tolerate {_taints(fit)}"

# Tolerations of the right key that do not tolerate the taint are usually a mistake.
_near_miss(pod_set, fit) := $"; its toleration of {concat(" and ", keys)} has another value or effect" if {
	keys := _missed(pod_set, fit)
	keys != []
} else := ""

_missed(pod_set, fit) := sort({taint.key |
	some taint in fit.untolerated
	some toleration in pod_set.tolerations
	toleration.key == taint.key
})

_choice(pod_set) := ", so it cannot start there" if count(pod_set.fits) == 1

_choice(pod_set) := $", the closest of {count(pod_set.fits)} pools, and it cannot start in any of them" if count(pod_set.fits) > 1
