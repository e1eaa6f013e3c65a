# METADATA
# title: Containers ask for whole accelerators
# description: |
#   An accelerator cannot be split by a quantity like 0.5 or 500m: device plugins hand out whole devices. The API
#   server refuses this quantity in a Pod, but accepts it inside the templates of custom resources. Their operator then
#   fails to create the pods. The same is true of MIG profiles and shared resources: each unit of them is already a
#   share, and is handed out whole. `1000m` is a whole number and is allowed.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
#     description: Kubernetes on GPU requests and limits
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html
#     description: NVIDIA on sharing GPUs by time-slicing and MIG
# schemas:
#   - input: schema.input
# custom:
#   code: USH101
#   about: accelerator pods
#   why: The pod is never created, and its job waits forever.
#   closes: [S2]
#   severity: critical
#   remediation: |
#     Ask for a whole number. If less than one GPU is enough, ask for a MIG profile like nvidia.com/mig-1g.10gb. Or
#     ask for a resource that the cluster shares by time-slicing, or for a share by a device claim (DRA).
package usher.checks.resources.whole_gpus_only

import data.usher.lib.workload

deny contains finding if {
	some entry in workload.accelerator_resources
	fraction := _fraction(entry.resource)

	finding := {
		"path": workload.resource_path(entry.container, fraction.list, entry.name),
		"message": $"{workload.container_name(entry.podSet, entry.container)} sets {fraction.list} of {entry.name} to {fraction.quantity.text}, but only whole units exist; shares need MIG, time-slicing or DRA",
		"remedy": $"ask for {fraction.quantity.value}, or for a resource that is a share of a GPU",
	}
}

# Shows only one of the two; another check finds a difference.
_fraction(resource) := {"list": "requests", "quantity": quantity} if {
	quantity := resource.requests
	not quantity.whole
} else := {"list": "limits", "quantity": quantity} if {
	quantity := resource.limits
	not quantity.whole
}
