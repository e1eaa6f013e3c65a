# METADATA
# title: What answers requests is kept off spot nodes
# description: |
#   A toleration of the taint of spot nodes lets all replicas end up on them, where the cloud may take them back at any
#   time. That is well for replicas beyond a base that stays, which a node selector or a second workload makes sure of.
# scope: package
# related_resources:
#   - ref: https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms#taints-tolerations
#     description: GKE on the taint of spot nodes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1006
#   about: accelerator pods
#   severity: low
#   why: All replicas of a service may go at once, with the nodes that they happen to share.
#   closes: [S34]
#   parameters:
#     spotKeys:
#       default:
#         - karpenter.sh/capacity-type
#         - cloud.google.com/gke-spot
#         - cloud.google.com/gke-preemptible
#         - cloud.google.com/gke-provisioning
#         - kubernetes.azure.com/scalesetpriority
#         - eks.amazonaws.com/capacityType
#       description: Taints of spot nodes; spot, true, preemptible and no value are the values that mean it.
#   remediation: |
#     Remove the toleration, or select nodes that stay for the replicas that must always be there.
package usher.checks.serving.tolerates_spot_nodes

import data.usher.lib.parameters
import data.usher.lib.serving
import data.usher.lib.workload

deny contains finding if {
	serving.serves
	some pod_set in workload.accelerator_pod_sets
	some index, toleration in pod_set.tolerations
	serving.means_spot(_keys, toleration.key, object.get(toleration, "value", ""))
	not _says_where(pod_set)

	finding := {
		"path": $"{workload.field_path(pod_set, "tolerations")}/{index}",
		"message": $"{workload.pod_set_name(pod_set)} answers requests and tolerates spot nodes (taint {toleration.key}), so all of its replicas may live on them",
		"remedy": "remove the toleration, or select nodes that stay",
	}
}

_keys := parameters.serving.tolerates_spot_nodes.spotKeys

# Either it lives on nodes that stay, or another check finds that it does not.
_says_where(pod_set) if {
	some key in _keys
	pod_set.nodeSelector[key]
}
