# METADATA
# title: Pods without accelerators do not select accelerator nodes
# description: |
#   The node selector or required node affinity of these pods allows accelerator nodes only, and the pods ask for no
#   accelerator. They take CPUs and memory that pods with GPUs need, and an autoscaler may start a GPU node for their
#   sake. Where usher.yaml declares node pools, their labels tell what accelerator nodes are; elsewhere the labels that
#   such nodes usually carry. DaemonSets and system namespaces are left alone, for drivers and exporters run there, and
#   so are pods with device claims: a claim that is not known may well be for an accelerator.
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
#   why: GPU nodes run, or are even started, for pods without GPUs.
#   closes: [S5]
#   remediation: |
#     Select other nodes, or none in particular. If the pod is to use an accelerator, let it ask for one in its limits.
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
		"message": $"{workload.pod_set_name(pod_set)} asks for no accelerator but may run on accelerator nodes only",
		"remedy": "select other nodes, or let it ask for the accelerator that it uses",
	}
}

_assumption(pod_set) := {} if pod_set.poolsDeclared

_assumption(pod_set) := {"assumption": "no node pools are declared in usher.yaml; nodes with such labels usually have accelerators"} if {
	not pod_set.poolsDeclared
}
