# METADATA
# title: Services do not run only on spot nodes
# description: |
#   A cloud can take spot nodes back at any time, with half a minute to two minutes of warning. A model server takes
#   longer than that to start elsewhere. A service for users needs some replicas on nodes that stay. The check reads the
#   node selector. It also reports pods that can run only on node pools of usher.yaml whose labels say spot.
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
#   why: The service stops whenever the cloud takes its nodes back, often in all zones at once.
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
#       description: Labels of spot nodes. The check reads the values spot, true and preemptible as spot.
#   remediation: |
#     Select nodes that stay (for example karpenter.sh/capacity-type: on-demand) for the replicas that must always run.
#     Run replicas that may stop at any time as a second workload on spot nodes, with the label gpu-usher.io/role:
#     batch.
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
		"message": $"{workload.pod_set_name(pod_set)} answers requests and runs on spot nodes only ({key}: {value}), but the cloud may take them back at any time",
		"remedy": "select nodes that stay, at least for some replicas",
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
		"message": $"{workload.pod_set_name(pod_set)} answers requests and runs only on the spot nodes of pool {pools[0].pool}, but the cloud may take them back at any time",
		"remedy": "let it also run on a pool whose nodes stay",
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
