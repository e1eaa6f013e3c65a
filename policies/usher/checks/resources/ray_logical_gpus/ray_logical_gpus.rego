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
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	some group in _groups
	logical := _logical(group)
	some index in _indexes[$"{group.path}/template"]
	pod_set := input.podSets[index]
	container := [container | some container in pod_set.containers; container.type == "container"][0]
	gpus := _gpus(container)
	effect := _effect(logical.number, gpus)

	finding := {
		"path": logical.path,
		"message": $"Ray counts {amounts.number_of(logical.number, "GPU", "GPUs")} in {workload.container_name(pod_set, container)}, but it has {amounts.number_of(gpus, "GPU", "GPUs")}: {effect}",
		"remedy": "remove it; KubeRay then reads the number from the limits of the container",
	}
}

_indexes[pod_set.path] contains index if some index, pod_set in input.podSets

_groups := array.concat([_head], _workers)

_head := {"path": $"{_cluster.path}/headGroupSpec", "spec": object.get(_cluster.spec, "headGroupSpec", {})}

_workers := [group |
	some index, spec in _cluster.spec.workerGroupSpecs
	group := {"path": $"{_cluster.path}/workerGroupSpecs/{index}", "spec": spec}
]

_cluster := {"path": "/spec", "spec": input.object.rayCluster.spec}

_cluster := {"path": "/spec/rayClusterSpec", "spec": input.object.rayJob.spec.rayClusterSpec}

_cluster := {"path": "/spec/rayClusterConfig", "spec": input.object.rayService.spec.rayClusterConfig}

# `resources` of the group takes precedence over the start parameters.
_logical(group) := {"path": $"{group.path}/resources/{name}", "number": number} if {
	some name in ["GPU", "gpu"]
	number := _number(group.spec.resources[name])
} else := {"path": $"{group.path}/rayStartParams/num-gpus", "number": number} if {
	number := _number(group.spec.rayStartParams["num-gpus"])
}

_number(text) := to_number(text) if trim(text, "0123456789") == ""

_gpus(container) := sum([amounts.effective(resource).value | some resource in container.accelerators]) if {
	_by_resources(container)
	every name, _ in container.accelerators {
		_counts_gpus(name)
	}
}

_by_resources(container) if not container.asksAccelerators

_by_resources(container) if count(container.accelerators) > 0

# Excludes memory and cores of a GPU, and accelerators like TPUs, which have their own names in Ray.
_counts_gpus(name) if endswith(name, "/gpu")

_counts_gpus(name) if endswith(name, ".shared")

_counts_gpus(name) if startswith(name, "nvidia.com/mig-")

# Undefined where they match.
_effect(logical, gpus) := "tasks get GPUs that do not exist" if logical > gpus

_effect(logical, gpus) := "no task can get the other GPUs" if {
	logical < gpus
	logical > 0
}

_effect(0, gpus) := "no task can get a GPU" if gpus > 0
