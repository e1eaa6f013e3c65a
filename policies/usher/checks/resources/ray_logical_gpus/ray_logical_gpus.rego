# METADATA
# title: Ray's GPU numbers match the GPUs of its pods
# description: |
#   Ray schedules by logical resources. KubeRay reads the number of GPUs of a Ray node from the limits of the first
#   container of its group. If rayStartParams or `resources` of the group set another number, Ray uses that number
#   instead. If the number is too high, tasks that need a GPU run where there is no GPU, or share one. If it is too low,
#   the pods hold GPUs that no task can get. Tasks that share a GPU can ask for a part of it (num_gpus=0.5), so they do
#   not need a false number. The check does not compare device claims, or accelerators other than GPUs.
# scope: package
# related_resources:
#   - ref: https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/config.html
#     description: Ray on rayStartParams and the resources of pods
#   - ref: https://docs.ray.io/en/latest/ray-core/scheduling/resources.html
#     description: Ray on logical and physical resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH110
#   about: objects
#   kinds: [rayCluster, rayJob, rayService]
#   severity: medium
#   why: Tasks crash because a GPU that Ray promised is missing, or GPUs idle because Ray does not know them.
#   closes: [B36]
#   remediation: |
#     Remove num-gpus from rayStartParams, and GPU from `resources`. KubeRay then reads the number from the limits of
#     the container.
package usher.checks.resources.ray_logical_gpus

import data.usher.lib.amounts
import data.usher.lib.ray
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	some group in ray.groups
	logical := ray.logical_gpus(group)
	some pod_set in ray.pod_sets(group)
	container := ray.container(pod_set)
	gpus := ray.gpus(container)
	effect := _effect(logical.number, gpus)

	finding := {
		"path": logical.path,
		"message": $"Ray counts {amounts.number_of(logical.number, "GPU", "GPUs")} in {workload.container_name(pod_set, container)}, but it has {amounts.number_of(gpus, "GPU", "GPUs")}: {effect}",
		"remedy": "remove it; KubeRay then reads the number from the limits of the container",
	}
}

# Undefined where they match.
_effect(logical, gpus) := "tasks get GPUs that do not exist" if logical > gpus

_effect(logical, gpus) := "no task can get the other GPUs" if {
	logical < gpus
	logical > 0
}

_effect(0, gpus) := "no task can get a GPU" if gpus > 0
