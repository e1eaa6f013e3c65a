# METADATA
# title: Pods meet the rules of GKE Autopilot
# description: |
#   Autopilot adds nodes for pods that do not fit, so pods with GPUs have to say which: by the label
#   cloud.google.com/gke-accelerator, or by a ComputeClass. It has no node pools of users, and refuses selectors of their
#   names, of hosts and of machine types. usher knows Autopilot by the names of its nodes.
# scope: package
# related_resources:
#   - ref: https://docs.cloud.google.com/kubernetes-engine/docs/how-to/autopilot-gpus
#     description: GKE on GPUs in Autopilot
#   - ref: https://github.com/GoogleCloudPlatform/ai-on-gke/pull/983
#     description: The refusals of its webhook
# schemas:
#   - input: schema.input
# custom:
#   code: USH1561
#   about: cluster facts
#   severity: high
#   why: The API server refuses the pods, or the controller of the workload makes no pods.
#   closes: []
#   remediation: Select the type of the GPU by cloud.google.com/gke-accelerator, and no node pool.
package usher.checks.placement.refused_by_autopilot

import data.usher.lib.placement
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some key in input.cluster.nodePools.autopilot[pod_set.path].keys

	finding := {
		"path": workload.field_path(pod_set, "nodeSelector"),
		"message": $"{workload.pod_set_name(pod_set)} selects {key}, which GKE Autopilot refuses",
		"remedy": "select cloud.google.com/gke-accelerator or cloud.google.com/compute-class in its place",
	}
}

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	input.cluster.nodePools.autopilot[pod_set.path].withoutType

	finding := {
		"path": placement.selection_path(pod_set),
		"message": $"{workload.pod_set_name(pod_set)} asks for GPUs and selects neither cloud.google.com/gke-accelerator nor a ComputeClass, so GKE Autopilot refuses it",
		"remedy": "select the type of the GPU, for example cloud.google.com/gke-accelerator: nvidia-l4",
	}
}
