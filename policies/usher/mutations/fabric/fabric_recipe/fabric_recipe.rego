# METADATA
# title: Give training pods the containers and volumes of their fabric
# description: |
#   Some plugins of NCCL need more than variables and devices: a daemon beside the training container, libraries of the
#   node, a socket that both share. Where the fabric profile has a `recipe`, the webhook adds its containers and volumes
#   to training pods of a workload with several pods, and its mounts to their containers that train. It adds all of the
#   recipe or nothing: where the pod has another container or volume of the same name, or something else at a mount
#   path, its author has a recipe of their own. Images and versions are those of usher.yaml; usher brings no image.
#   A recipe with annotations for devices is only for pods that take all GPUs of a node.
#   Where the profile needs more and has no recipe, the webhook warns of what is missing, unless the pods have a network
#   device. The same checks judge the pods with the recipe, so let `isolation` or `enforcement` of usher.yaml allow what
#   the recipe takes of the node.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/
#     description: Kubernetes on sidecars among the init containers
#   - ref: https://github.com/GoogleCloudPlatform/container-engine-accelerators/blob/master/gpudirect-tcpxo/README.md
#     description: Google on the parts of GPUDirect-TCPXO
# schemas:
#   - input: schema.input
# custom:
#   code: USM708
#   order: 77
#   about: accelerator pods
package usher.mutations.fabric.fabric_recipe

import data.usher.lib.fabric
import data.usher.lib.shares_of_nodes as shares

intents contains intent if {
	some path, indexes in _indexes
	entry := fabric.training_containers[min(indexes)]
	recipe := entry.profile.recipe
	not _why_not(entry)

	intent := {
		"at": path,
		"field": "recipe",
		"value": {
			"recipe": recipe,
			"containers": [fabric.training_containers[index].container.path | some index in sort(indexes)],
		},
		"reason": fabric.reason(entry),
	}
}

# One intent for each template, whatever the number of its containers that train.
_indexes[entry.podSet.path] contains index if some index, entry in fabric.training_containers

_why_not(entry) := $"fabric {entry.fabric} has no recipe" if not entry.profile.recipe

else := "its pods have a part of a node, and the annotations of the recipe give devices of all of it" if {
	count(entry.profile.recipe.annotations) > 0
	shares.leaves_gpus(entry)
}

else := "the runtime sets the containers of these pods, so add the recipe to the runtime" if not fabric.mounts_known

# Once for each fabric: the templates of a workload need the same.
warnings contains {"at": "", "reason": $"fabric {name} also needs {concat("; ", needs)}: add this to the manifest, or to recipe of fabric {name} in usher.yaml"} if {
	some name in {entry.fabric | some entry in _in_need}
	needs := input.fabrics[name].needs
}

_in_need := [entry |
	some entry in fabric.training_containers
	count(entry.profile.resources) == 0
	count(entry.profile.networks) == 0
	not entry.profile.claims
	not fabric.has_network_device(entry.podSet)
]

skips contains skip if some skip in fabric.skips

skips contains {"at": entry.podSet.path, "reason": _why_not(entry)} if some entry in fabric.training_containers
