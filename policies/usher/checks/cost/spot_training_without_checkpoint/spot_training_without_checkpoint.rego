# METADATA
# title: Training on spot nodes keeps checkpoints
# description: |
#   A cloud takes spot nodes back whenever it likes, with half a minute to two minutes of warning. Training survives that
#   if it writes checkpoints to something that outlives the node: a volume by a claim, NFS or a CSI driver, which one of
#   its containers may write to, or a store of objects, which no manifest shows: the annotation gpu-usher.io/checkpoint
#   on the pod template or the object says where (s3://checkpoints/llama, for example). A node selector, required node
#   affinity or a toleration tells that the pods may run on spot nodes. Whether checkpoints are written, and often
#   enough, nobody can see here. What a controller made is left alone: its owner was judged.
# scope: package
# related_resources:
#   - ref: https://karpenter.sh/docs/concepts/scheduling/
#     description: Karpenter on capacity types
#   - ref: https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms
#     description: GKE on spot nodes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1306
#   about: accelerator pods
#   severity: medium
#   why: Days of training are lost, and paid for twice, when the cloud wants a node back.
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
#       description: Labels and taints of spot nodes; spot, true and preemptible are the values that mean it.
#   remediation: |
#     Mount a volume that outlives the pods and write checkpoints to it, or say with the annotation
#     gpu-usher.io/checkpoint where they go; or train on nodes that stay.
package usher.checks.cost.spot_training_without_checkpoint

import data.usher.lib.parameters
import data.usher.lib.serving
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "training"
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	spot := _spot(pod_set)[0]
	not _says_where(pod_set.annotations)
	not _says_where(input.workload.annotations)
	not _outlives_the_node(pod_set)

	finding := {
		"path": spot.path,
		"message": $"{workload.pod_set_name(pod_set)} {spot.what}, and mounts nothing that would keep a checkpoint",
		"remedy": "mount a volume for checkpoints, or say in the annotation gpu-usher.io/checkpoint where they go",
	}
}

_keys := parameters.cost.spot_training_without_checkpoint.spotKeys

_spot(pod_set) := array.concat(array.concat(_selected(pod_set), _required(pod_set)), _tolerated(pod_set))

_selected(pod_set) := [spot |
	some key, value in pod_set.nodeSelector
	serving.means_spot(_keys, key, value)
	spot := {"path": workload.field_path(pod_set, "nodeSelector"), "what": $"trains on spot nodes ({key}: {value})"}
]

_required(pod_set) := [spot |
	terms := pod_set.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms
	some term in terms
	some expression in term.matchExpressions
	expression.operator == "In"
	some value in expression.values
	serving.means_spot(_keys, expression.key, value)
	spot := {
		"path": workload.field_path(pod_set, "affinity"),
		"what": $"may train on spot nodes ({expression.key}: {value})",
	}
]

# A toleration lets nobody onto spot nodes who selects others.
_tolerated(pod_set) := [spot |
	not _selects_by_a_key(pod_set)
	some index, toleration in pod_set.tolerations
	serving.means_spot(_keys, toleration.key, object.get(toleration, "value", ""))
	spot := {
		"path": $"{workload.field_path(pod_set, "tolerations")}/{index}",
		"what": $"may train on spot nodes (it tolerates {toleration.key})",
	}
]

_selects_by_a_key(pod_set) if {
	some key in _keys
	pod_set.nodeSelector[key]
}

_says_where(annotations) if not object.get(annotations, "gpu-usher.io/checkpoint", "") in {"", "false"}

_outlives_the_node(pod_set) if {
	some container in pod_set.containers
	some mount in container.volumeMounts
	not mount.readOnly
	_is_kept(pod_set, mount.name)
}

_is_kept(pod_set, name) if {
	some volume in pod_set.volumes
	volume.name == name
	some type in ["persistentVolumeClaim", "nfs", "csi"]
	volume[type]
}

# It comes from a template of claims, or from the operator.
_is_kept(pod_set, name) if {
	names := [volume.name | some volume in pod_set.volumes]
	not name in names
}
