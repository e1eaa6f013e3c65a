# METADATA
# title: Pods without accelerators let the scheduler choose their node
# description: |
#   A pod with `nodeName` bypasses the scheduler, so the taint of accelerator nodes does not keep it off. It takes CPUs
#   and memory beside the GPUs although it has no toleration. Tools that manage single nodes, for example storage
#   provisioners, set nodeName on purpose; list their users as controllers in the identities of usher.yaml. Schedulers,
#   controllers and administrators may set it, and in system namespaces everybody may. The check skips a Pod that runs
#   already, because nothing shows who chose its node.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename
#     description: Kubernetes on nodeName
# schemas:
#   - input: schema.input
# custom:
#   code: USH317
#   about: ordinary pods
#   severity: medium
#   why: The taint of GPU nodes does not keep the pod off.
#   closes: [B15, S5]
#   remediation: Remove `nodeName`. To use one particular node, select it by its label `kubernetes.io/hostname`.
package usher.checks.placement.ordinary_pod_names_its_node

import data.usher.lib.placement
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.ordinary_pod_sets
	placement.node_is_named(pod_set)

	finding := {
		"path": workload.field_path(pod_set, "nodeName"),
		"message": $"{workload.pod_set_name(pod_set)} sets nodeName to {text.excerpt(pod_set.nodeName)} and bypasses the scheduler, so no taint keeps it off if that node has accelerators",
		"remedy": "remove nodeName; to use this node, select its label kubernetes.io/hostname",
	}
}
