# METADATA
# title: Every toleration names its taint
# description: |
#   A toleration with operator Exists and no key matches every taint. The pod then runs on nodes that are cordoned
#   before a repair, on nodes whose GPUs are broken, and on pools that are kept for others. A pod without accelerators
#   takes the CPUs and memory beside GPUs. Pods with accelerators are found as well: a job that starts on a node with a
#   broken GPU is lost. The check skips DaemonSets and system namespaces, because their pods belong on every node.
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
#   why: No taint keeps the pod off broken nodes or off the nodes of other teams.
#   closes: [B18]
#   remediation: Write one toleration with a key for each taint that the pods must tolerate.
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
		"message": $"{workload.pod_set_name(pod_set)} tolerates every {_taint(toleration)}, so it can run on nodes that are cordoned, broken or kept for others",
		"remedy": "name the key of each taint that the pods must tolerate",
	}
}

_taint(toleration) := "taint" if object.get(toleration, "effect", "") == ""

_taint(toleration) := $"taint with effect {toleration.effect}" if object.get(toleration, "effect", "") != ""
