# METADATA
# title: Accelerator pods let the scheduler choose their node
# description: |
#   A pod with `nodeName` bypasses the scheduler. Taints with effect NoSchedule do not keep it off, and no gang waits
#   for its other pods. It also takes GPUs that the scheduler has promised to other pods; if too few GPUs are left, the
#   kubelet fails the pod. The schedulers, controllers and administrators that the identities of usher.yaml name may set
#   it. In system namespaces everybody may set it. The check skips a Pod that runs already, because nothing shows who
#   chose its node.
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
#   why: The pod takes GPUs and ignores taints, queues and gangs.
#   closes: [B15]
#   remediation: |
#     Remove `nodeName`. To use one particular node, select it by its label `kubernetes.io/hostname`. The scheduler then
#     still checks that the GPUs are free.
package usher.checks.placement.node_chosen_by_hand

import data.usher.lib.placement
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	placement.node_is_named(pod_set)

	finding := {
		"path": workload.field_path(pod_set, "nodeName"),
		"message": $"{workload.pod_set_name(pod_set)} sets nodeName to {text.excerpt(pod_set.nodeName)} and bypasses the scheduler, so no taint, queue or gang holds it back",
		"remedy": "remove nodeName; to use this node, select its label kubernetes.io/hostname",
	}
}
