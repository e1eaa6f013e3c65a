# METADATA
# title: What answers requests does not live on spot nodes
# description: |
#   A cloud takes spot nodes back whenever it likes, with half a minute to two minutes of warning, and a model server
#   takes longer than that to start elsewhere. What users wait for needs a base of nodes that stay. A node selector says
#   it, and so does usher.yaml where all node pools that the pods could run on are spot pools by their labels.
# scope: package
# related_resources:
#   - ref: https://karpenter.sh/docs/concepts/scheduling/
#     description: Karpenter on capacity types
#   - ref: https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms
#     description: GKE on spot nodes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1004
#   about: accelerator pods
#   severity: medium
#   why: The service is gone whenever the cloud wants its nodes back, often in all zones at once.
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
#       description: Labels of spot nodes; spot, true and preemptible are the values that mean it.
#   remediation: |
#     Select nodes that stay (karpenter.sh/capacity-type: on-demand, for example) for the replicas that must always be
#     there. What may go away at any time can be a second workload on spot nodes, with the label gpu-usher.io/role: batch.
package usher.checks.serving.selects_spot_nodes

import data.usher.lib.parameters
import data.usher.lib.serving
import data.usher.lib.workload

deny contains finding if {
	serving.serves
	some pod_set in workload.accelerator_pod_sets
	some key, value in pod_set.nodeSelector
	serving.means_spot(_keys, key, value)

	finding := {
		"path": workload.field_path(pod_set, "nodeSelector"),
		"message": $"{workload.pod_set_name(pod_set)} answers requests from spot nodes only ({key}: {value}), which the cloud may take back at any time",
		"remedy": "select nodes that stay, or keep a base of replicas on such nodes",
	}
}

deny contains finding if {
	serving.serves
	some pod_set in workload.accelerator_pod_sets
	not _selects(pod_set)
	pools := [fit | some fit in pod_set.fits; fit.untolerated == []]
	pools != []
	every pool in pools {
		_of_spot_nodes(pool)
	}

	finding := {
		"path": pod_set.specPath,
		"message": $"{workload.pod_set_name(pod_set)} answers requests from the spot nodes of pool {pools[0].pool} only, which the cloud may take back at any time",
		"remedy": "let it run on a pool of nodes that stay as well",
	}
}

_keys := parameters.serving.selects_spot_nodes.spotKeys

_selects(pod_set) if {
	some key, value in pod_set.nodeSelector
	serving.means_spot(_keys, key, value)
}

_of_spot_nodes(pool) if {
	some key, value in pool.labels
	serving.means_spot(_keys, key, value)
}
