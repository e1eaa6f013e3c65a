# METADATA
# title: The labels that accelerator pods select match a declared node pool
# description: |
#   A declared node pool has what the pods ask for, but their node selector and required node affinity exclude all of
#   these pools. Examples are a misspelt product, two labels that no pool has together, or a pool for another
#   accelerator. The pods stay pending forever, and no autoscaler adds a node for them. The check compares selectors
#   only with labels that usher.yaml declares for a pool. usher does not know the other labels of its nodes, and counts
#   them as matching. The exception are labels that name a model of devices, like nvidia.com/gpu.product: if no declared
#   pool and no node of the cluster has the selected model, the finding names it. This check does not look at taints.
#   Where no pool has what the pods ask for, usher knows nothing about their nodes. usher.yaml can say which pods a pool
#   is for (`for`); the check also reports pods that fit only on pools for others.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#     description: Kubernetes on node selectors and node affinity
# schemas:
#   - input: schema.input
# custom:
#   code: USH307
#   about: accelerator pods
#   severity: medium
#   why: The pods stay pending forever, and no autoscaler helps.
#   closes: [S7]
#   remediation: |
#     Correct the labels that the pods select to match the pools of usher.yaml. If they select a pool that is not
#     declared, declare it.
package usher.checks.placement.no_pool_fits

import data.usher.lib.nodes
import data.usher.lib.placement
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	pod_set.poolsDeclared
	pod_set.fits == []
	not pod_set.undeclaredDevices
	not nodes.never_fits(pod_set)
	not pod_set.keptOff

	finding := {
		"path": placement.selection_path(pod_set),
		"message": $"{workload.pod_set_name(pod_set)} fits on no declared node pool: the pools that offer what it asks for do not have the labels that it selects",
		"remedy": "select the labels of a pool in usher.yaml, or declare the intended pool there",
	}
}

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	pod_set.fits == []
	count(pod_set.keptOff) > 0
	reasons := [$"{kept.pool} ({kept.reason})" | some kept in pod_set.keptOff]

	finding := {
		"path": placement.selection_path(pod_set),
		"message": $"{workload.pod_set_name(pod_set)} fits only on node pools for others: {concat("; ", reasons)}",
		"remedy": "select the nodes of a pool for this workload; or let usher.yaml give the workload another role (roles), or the pool other pods (pools[].for)",
	}
}

deny contains object.union(finding, _assumption(pod_set)) if {
	some pod_set in workload.accelerator_pod_sets
	devices := pod_set.undeclaredDevices[0]
	not nodes.never_fits(pod_set)

	finding := {
		"path": placement.selection_path(pod_set),
		"message": $"{workload.pod_set_name(pod_set)} selects nodes with {devices.label} {text.excerpt(concat(" or ", devices.values))}, and no declared node pool has this label",
		"remedy": "select the devices of a declared pool, or add the label to nodeSelector of their pool in usher.yaml",
	}
}

_assumption(pod_set) := {} if pod_set.fits == []

_assumption(pod_set) := {"assumption": "usher assumes that usher.yaml names the devices of each pool"} if pod_set.fits != []
