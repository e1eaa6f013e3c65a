# METADATA
# title: Training on spot nodes keeps checkpoints
# description: |
#   A cloud may take back spot nodes at any time, with a warning of half a minute to two minutes. Training survives this
#   if it writes checkpoints to storage that outlives the node. The check accepts a volume from a claim, NFS or a CSI
#   driver that a container can write to. A manifest does not show object storage, so the annotation
#   gpu-usher.io/checkpoint on the pod template or the object names its location (for example s3:
#   checkpoints/llama).
#   A node selector, a required node affinity or a toleration shows that the pods may run on spot nodes. The check
#   cannot see whether the program writes checkpoints often enough, or at all. It skips objects that a controller made,
#   because usher judges their owner.
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
#   why: The cloud takes a node back, and days of training are lost and must be paid again.
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
#       description: Labels and taints of spot nodes. The values spot, true and preemptible mean spot.
#   remediation: |
#     Mount a volume that outlives the pods and write checkpoints to it, or name their location in the annotation
#     gpu-usher.io/checkpoint. Or train on nodes that are not spot nodes.
package usher.checks.cost.spot_training_without_checkpoint

import data.usher.lib.parameters
import data.usher.lib.serving
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "training"
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	spot := _spot(pod_set)[0]
	not _names_location(pod_set.annotations)
	not _names_location(input.workload.annotations)
	not _outlives_the_node(pod_set)

	finding := {
		"path": spot.path,
		"message": $"{workload.pod_set_name(pod_set)} {spot.what}, but mounts no volume that keeps checkpoints",
		"remedy": "mount a volume for checkpoints, or name their location in the annotation gpu-usher.io/checkpoint",
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

# A toleration has no effect if the node selector excludes spot nodes.
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

_names_location(annotations) if not object.get(annotations, "gpu-usher.io/checkpoint", "") in ["", "false"]

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

# The volume comes from a volumeClaimTemplate, or from the operator.
_is_kept(pod_set, name) if {
	names := [volume.name | some volume in pod_set.volumes]
	not name in names
}
