# METADATA
# title: Pods without accelerators do not tolerate the taints of accelerator nodes
# description: |
#   Accelerator nodes are tainted so that only pods that need them run there. A pod that asks for no accelerator and
#   tolerates the taint takes their CPUs and memory, until a GPU stands idle because its node has no room for another
#   pod. Where usher.yaml declares node pools, only a toleration is found that opens a pool which the pod's selectors
#   allow; elsewhere the taints that such nodes usually carry are assumed. Launchers of MPIJobs and heads of Ray
#   clusters are ordinary pods too. DaemonSets and system namespaces are left alone, whose pods belong on every node,
#   and so are pods with device claims: a claim that is not known may well be for an accelerator.
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
#   why: Pods without GPUs fill GPU nodes, and the GPUs stand idle.
#   closes: [S5, B18]
#   remediation: |
#     Remove the toleration. If the pod is to use an accelerator, let it ask for one in its limits. Where such pods have
#     to run beside the GPUs, as some launchers do, an exception in usher.yaml says so.
package usher.checks.placement.ordinary_pod_tolerates_accelerator_taint

import data.usher.lib.placement
import data.usher.lib.workload

deny contains object.union(finding, _assumption(pod_set, entry.taint)) if {
	some pod_set in input.podSets
	pod_set.deviceClaims == 0
	some entry in pod_set.tolerated
	not placement.tolerates_everything(pod_set.tolerations[entry.index])
	not placement.belongs_everywhere

	finding := {
		"path": $"{workload.field_path(pod_set, "tolerations")}/{entry.index}",
		"message": $"{workload.pod_set_name(pod_set)} asks for no accelerator but tolerates {entry.taint}, the taint that keeps such pods off accelerator nodes",
		"remedy": "remove this toleration",
	}
}

_assumption(pod_set, _) := {} if pod_set.poolsDeclared

_assumption(pod_set, taint) := {"assumption": text} if {
	not pod_set.poolsDeclared
	text := $"no node pools are declared in usher.yaml; accelerator nodes usually carry the taint {taint}"
}
