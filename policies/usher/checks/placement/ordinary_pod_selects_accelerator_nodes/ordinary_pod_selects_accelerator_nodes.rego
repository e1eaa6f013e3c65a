# METADATA
# title: Pods without accelerators do not select accelerator nodes
# description: |
#   The node selector or required node affinity of these pods allows only accelerator nodes, but the pods ask for no
#   accelerator. They take CPUs and memory that pods with GPUs need, and an autoscaler may start a GPU node for them.
#   Where usher.yaml declares node pools, their labels say which nodes have accelerators. Elsewhere the check uses the
#   labels that accelerator nodes usually carry. The check skips DaemonSets and system namespaces, because drivers and
#   exporters run there. It also skips pods with device claims: an unknown claim may be for an accelerator.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
#     description: Kubernetes on node selectors and node affinity
# schemas:
#   - input: schema.input
# custom:
#   code: USH308
#   about: ordinary pods
#   severity: medium
#   why: GPU nodes run, or even start, for pods without GPUs.
#   closes: [S5]
#   remediation: |
#     Select other nodes, or remove the selection. If the pod uses an accelerator, ask for it in the pod's limits.
package usher.checks.placement.ordinary_pod_selects_accelerator_nodes

import data.usher.lib.placement
import data.usher.lib.workload

deny contains object.union(finding, _assumption(pod_set)) if {
	some pod_set in workload.ordinary_pod_sets
	pod_set.deviceClaims == 0
	pod_set.selectsAcceleratorNodes != []
	not false in pod_set.selectsAcceleratorNodes
	not placement.belongs_everywhere

	finding := {
		"path": placement.selection_path(pod_set),
		"message": $"{workload.pod_set_name(pod_set)} asks for no accelerator, but selects only accelerator nodes",
		"remedy": "select other nodes, or ask for the accelerator that the pod uses",
	}
}

_assumption(pod_set) := {} if pod_set.poolsDeclared

_assumption(pod_set) := {"assumption": "usher assumes that nodes with these labels have accelerators, because usher.yaml declares no node pools"} if {
	not pod_set.poolsDeclared
}
