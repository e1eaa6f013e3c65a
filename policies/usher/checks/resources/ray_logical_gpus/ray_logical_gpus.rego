# METADATA
# title: Ray hands out the GPUs that its pods have
# description: |
#   Ray schedules by logical resources. KubeRay works out how many GPUs a node of a cluster has from the limits of the
#   first container of its group, unless rayStartParams or `resources` of the group say another number: then that is what
#   Ray believes. With more than there are, tasks that need a GPU run where there is none, or share one; with fewer,
#   GPUs are held that no task can ever get. Tasks that share a GPU ask for a part of it (num_gpus=0.5) and need no
#   such lie. What device claims and accelerators that are no GPUs amount to is not compared.
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
#   why: Tasks crash for want of a GPU that Ray promised them, or GPUs idle that Ray knows nothing of.
#   closes: [B36]
#   remediation: |
#     Remove num-gpus from rayStartParams and GPU from `resources`, so that KubeRay takes the number from the limits of
#     the container.
package usher.checks.resources.ray_logical_gpus

import data.usher.lib.amounts
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	some group in _groups
	logical := _logical(group)
	some pod_set in input.podSets
	pod_set.path == $"{group.path}/template"
	container := [container | some container in pod_set.containers; container.type == "container"][0]
	gpus := _gpus(container)
	effect := _effect(logical.number, gpus)

	finding := {
		"path": logical.path,
		"message": $"Ray is told of {amounts.number_of(logical.number, "GPU", "GPUs")} in {workload.container_name(pod_set, container)}, which has {amounts.number_of(gpus, "GPU", "GPUs")}: {effect}",
		"remedy": "remove it, so that KubeRay takes the number from the limits of the container",
	}
}

_groups := array.concat([_head], _workers)

_head := {"path": $"{_cluster.path}/headGroupSpec", "spec": object.get(_cluster.spec, "headGroupSpec", {})}

_workers := [group |
	some index, spec in _cluster.spec.workerGroupSpecs
	group := {"path": $"{_cluster.path}/workerGroupSpecs/{index}", "spec": spec}
]

_cluster := {"path": "/spec", "spec": input.object.rayCluster.spec}

_cluster := {"path": "/spec/rayClusterSpec", "spec": input.object.rayJob.spec.rayClusterSpec}

_cluster := {"path": "/spec/rayClusterConfig", "spec": input.object.rayService.spec.rayClusterConfig}

# `resources` of the group counts before the start parameters.
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

# Not memory or cores of a GPU, and not TPUs and their like, which Ray knows by names of their own.
_counts_gpus(name) if endswith(name, "/gpu")

_counts_gpus(name) if endswith(name, ".shared")

_counts_gpus(name) if startswith(name, "nvidia.com/mig-")

# None where they match.
_effect(logical, gpus) := "tasks get GPUs that are not there" if logical > gpus

_effect(logical, gpus) := "no task can get the others" if {
	logical < gpus
	logical > 0
}

_effect(0, gpus) := "no task can get any" if gpus > 0
