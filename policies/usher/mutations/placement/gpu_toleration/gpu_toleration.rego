# METADATA
# title: Tolerate the taints of accelerator nodes
# description: |
#   Accelerator nodes are tainted so that other pods stay off; a pod that asks for an accelerator must say that it
#   tolerates the taint, or it waits for ever. Where node pools are declared, the taints of every pool on which the
#   pods could run are tolerated; elsewhere the taint that such nodes usually carry, which does no harm where they
#   carry none.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
#     description: Kubernetes on taints and tolerations
# schemas:
#   - input: schema.input
# custom:
#   code: USM301
#   order: 50
#   about: accelerator pods
#   promises: [placement/gpu_toleration_present]
package usher.mutations.placement.gpu_toleration

import data.usher.lib.workload

intents contains intent if {
	some pod_set in workload.accelerator_pod_sets
	some fit in pod_set.fits
	some taint in fit.untolerated

	intent := {
		"at": pod_set.path,
		"field": "toleration",
		"value": {"key": taint.key, "operator": "Exists", "effect": taint.effect},
		"reason": $"nodes of pool {fit.pool} carry the taint {taint.key}",
	}
}

intents contains intent if {
	some pod_set in workload.accelerator_pod_sets
	some key in pod_set.assumedTaints

	intent := {
		"at": pod_set.path,
		"field": "toleration",
		"value": {"key": key, "operator": "Exists", "effect": "NoSchedule"},
		"reason": $"such nodes usually carry the taint {key}",
	}
}

skips contains {"at": pod_set.path, "reason": "it tolerates the taints of all nodes on which it could run"} if {
	some pod_set in workload.accelerator_pod_sets
	count(pod_set.assumedTaints) == 0
	count(pod_set.fits) > 0
	every fit in pod_set.fits { count(fit.untolerated) == 0 }
}

skips contains {"at": pod_set.path, "reason": "no node pool has what it asks for"} if {
	some pod_set in workload.accelerator_pod_sets
	pod_set.poolsDeclared
	count(pod_set.fits) == 0
}

skips contains {"at": pod_set.path, "reason": "it tolerates the taint that such nodes usually carry, or none is usual"} if {
	some pod_set in workload.accelerator_pod_sets
	not pod_set.poolsDeclared
	count(pod_set.assumedTaints) == 0
}
