# METADATA
# title: Pods without accelerators do not tolerate the taints of accelerator nodes
# description: |
#   Accelerator nodes have taints so that only pods that need them run there. A pod that asks for no accelerator and
#   tolerates the taint takes their CPUs and memory. In the end a GPU idles, because its node has no room for another
#   pod. The check finds a toleration only if it opens a node pool that the pod's selectors allow, so it needs to know
#   the pools: from usher.yaml, or from the nodes of the cluster. Launchers of MPIJobs and heads of Ray clusters are also
#   ordinary pods. The check skips DaemonSets and system namespaces, because their pods belong on every node. It also
#   skips pods with device claims: an unknown claim may be for an accelerator.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
#     description: Kubernetes on taints and tolerations
# schemas:
#   - input: schema.input
# custom:
#   code: USH303
#   about: ordinary pods
#   severity: medium
#   why: Pods without GPUs fill GPU nodes, and the GPUs idle.
#   closes: [S5, B18]
#   remediation: |
#     Remove the toleration. If the pod uses an accelerator, ask for it in the pod's limits. If these pods must run
#     beside the GPUs, as some launchers do, add an exception to usher.yaml.
package usher.checks.placement.ordinary_pod_tolerates_accelerator_taint

import data.usher.lib.placement
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.ordinary_pod_sets
	_knows_pools(pod_set)
	pod_set.deviceClaims == 0
	some entry in pod_set.tolerated
	not placement.tolerates_everything(pod_set.tolerations[entry.index])
	not placement.belongs_everywhere

	finding := {
		"path": $"{workload.field_path(pod_set, "tolerations")}/{entry.index}",
		"message": $"{workload.pod_set_name(pod_set)} asks for no accelerator, but tolerates {entry.taint}, the taint that keeps ordinary pods off accelerator nodes",
		"remedy": "remove this toleration",
	}
}

_knows_pools(pod_set) if pod_set.poolsDeclared

_knows_pools(pod_set) if pod_set.poolsFound
