# METADATA
# title: Pods without accelerators leave the node to the scheduler
# description: |
#   A pod with `nodeName` never sees a scheduler, so the taint of accelerator nodes does not keep it off: it takes CPUs
#   and memory beside the GPUs though it tolerates nothing. Tools that look after single nodes, such as storage
#   provisioners, do so on purpose; name their users among the identities of usher.yaml, as controllers. Schedulers,
#   controllers and administrators may set it, and in system namespaces anybody. Of a Pod that runs already nobody can
#   tell who chose the node.
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
#   why: The taint of GPU nodes does not keep it off.
#   closes: [B15, S5]
#   remediation: |
#     Remove `nodeName`. To get one node in particular, select it by its label `kubernetes.io/hostname`.
package usher.checks.placement.ordinary_pod_names_its_node

import data.usher.lib.placement
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.ordinary_pod_sets
	placement.node_is_named(pod_set)

	finding := {
		"path": workload.field_path(pod_set, "nodeName"),
		"message": $"{workload.pod_set_name(pod_set)} is put on node {text.excerpt(pod_set.nodeName)} past the scheduler, so no taint keeps it off if that node has accelerators",
		"remedy": "remove nodeName, and select the label kubernetes.io/hostname if it has to be this node",
	}
}
