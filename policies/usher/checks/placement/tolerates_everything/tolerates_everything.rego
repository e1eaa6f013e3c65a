# METADATA
# title: Tolerations name their taints
# description: |
#   A toleration with operator Exists and no key is for every taint there is. Such a pod runs on nodes that are cordoned
#   before a repair, on nodes whose GPUs are broken, and on pools that are kept for others; without accelerators of its
#   own it takes the room beside GPUs. That holds for pods with accelerators as well: a job that starts on a node with a
#   broken GPU is lost. DaemonSets and system namespaces are left alone: their pods belong on every node.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
#     description: Kubernetes on taints and tolerations
# schemas:
#   - input: schema.input
# custom:
#   code: USH304
#   about: pods
#   severity: medium
#   why: No taint keeps such a pod off broken nodes, or off those of others.
#   closes: [B18]
#   remediation: |
#     Write one toleration for each taint that the pods have to tolerate, with its key.
package usher.checks.placement.tolerates_everything

import data.usher.lib.placement
import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	some index, toleration in pod_set.tolerations
	placement.tolerates_everything(toleration)
	not placement.belongs_everywhere

	finding := {
		"path": $"{workload.field_path(pod_set, "tolerations")}/{index}",
		"message": $"{workload.pod_set_name(pod_set)} tolerates every taint, so nodes that are cordoned, broken or kept for others take it",
		"remedy": "name the key of each taint that is meant",
	}
}
