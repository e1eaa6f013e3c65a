# METADATA
# title: Accelerator pods leave the node to the scheduler
# description: |
#   A pod with `nodeName` never sees a scheduler. Taints with effect NoSchedule do not keep it off, no gang waits for its
#   other pods, and GPUs that the scheduler has promised to somebody else are taken; if too few are left, the kubelet
#   fails the pod. Schedulers, controllers and administrators, as the identities of usher.yaml name them, may set it,
#   and in system namespaces anybody. Of a Pod that runs already nobody can tell who chose the node.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename
#     description: Kubernetes on nodeName
# schemas:
#   - input: schema.input
# custom:
#   code: USH305
#   about: accelerator pods
#   severity: high
#   why: It takes GPUs past taints, queues and gangs.
#   closes: [B15]
#   remediation: |
#     Remove `nodeName`. To get one node in particular, select it by its label `kubernetes.io/hostname`: then the
#     scheduler still looks whether the GPUs are free.
package usher.checks.placement.node_chosen_by_hand

import data.usher.lib.placement
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	placement.node_is_named(pod_set)

	finding := {
		"path": workload.field_path(pod_set, "nodeName"),
		"message": $"{workload.pod_set_name(pod_set)} is put on node {text.excerpt(pod_set.nodeName)} past the scheduler, so no taint, queue or gang holds it back",
		"remedy": "remove nodeName, and select the label kubernetes.io/hostname if it has to be this node",
	}
}
