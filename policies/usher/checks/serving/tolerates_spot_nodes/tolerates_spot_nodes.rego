# METADATA
# title: Services do not tolerate spot nodes without selecting nodes that stay
# description: |
#   A pod that tolerates the taint of spot nodes can run there. All replicas may then end up on spot nodes, which the
#   cloud may take back at any time. This is acceptable for replicas beyond a number that always stays. A node selector
#   or a second workload can ensure that number.
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
#   why: All replicas of a service may stop at once when the cloud takes their nodes back.
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
#       description: Taints of spot nodes. The check reads the values spot, true and preemptible, or no value, as spot.
#   remediation: Remove the toleration, or select nodes that stay for the replicas that must always run.
package usher.checks.serving.tolerates_spot_nodes

import data.usher.lib.parameters
import data.usher.lib.serving
import data.usher.lib.workload

deny contains finding if {
	serving.serves
	some pod_set in workload.accelerator_pod_sets
	some index, toleration in pod_set.tolerations
	serving.means_spot(_keys, toleration.key, object.get(toleration, "value", ""))
	not _selects_by_node_type(pod_set)

	finding := {
		"path": $"{workload.field_path(pod_set, "tolerations")}/{index}",
		"message": $"{workload.pod_set_name(pod_set)} answers requests and tolerates spot nodes (taint {toleration.key}), so all its replicas may run on spot nodes",
		"remedy": "remove the toleration, or select nodes that stay",
	}
}

_keys := parameters.serving.tolerates_spot_nodes.spotKeys

# Either the selector names nodes that stay, or selects-spot-nodes reports it.
_selects_by_node_type(pod_set) if {
	some key in _keys
	pod_set.nodeSelector[key]
}
