# METADATA
# title: Accelerator pods fit on a declared node pool
# description: |
#   Some declared node pool has what the pods ask for, but their node selector and required node affinity let them onto
#   none of those pools: a product that is spelled differently, two labels that no pool has together, a pool for another
#   accelerator. Such pods are pending for ever, and no autoscaler adds a node for them. Only labels that usher.yaml
#   declares for a pool are held against a selector; what else its nodes carry is not known, and counts as fitting.
#   Taints are not looked at here. Where no pool has what the pods ask for, nothing is known of their nodes.
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
#   why: The pods are pending for ever, and no autoscaler helps.
#   closes: [S7]
#   remediation: |
#     Correct the labels that the pods select, as the pools of usher.yaml have them. If they mean a pool that is not
#     declared, declare it.
package usher.checks.placement.no_pool_fits

import data.usher.lib.nodes
import data.usher.lib.placement
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	pod_set.poolsDeclared
	pod_set.fits == []
	not nodes.never_fits(pod_set)

	finding := {
		"path": placement.selection_path(pod_set),
		"message": $"{workload.pod_set_name(pod_set)} fits on no declared node pool: those that offer what it asks for lack the labels that it selects",
		"remedy": "select labels of a pool in usher.yaml, or declare the pool that is meant",
	}
}
