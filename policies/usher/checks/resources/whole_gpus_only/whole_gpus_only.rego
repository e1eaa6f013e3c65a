# METADATA
# title: Accelerators are given out whole
# description: |
#   A quantity such as 0.5 or 500m of an accelerator does not exist: device plugins hand out whole devices. The API
#   server refuses it in a Pod, but accepts it inside the templates of custom resources, whose operator then fails to
#   create the pods. The same is true of MIG profiles and shared resources: each unit of them is a share already, and
#   is given out whole. `1000m` is a whole number and does no harm.
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
#   why: Such a pod is never created, and its job waits for ever.
#   closes: [S2]
#   severity: critical
#   remediation: |
#     Ask for a whole number. Where less than one GPU is enough, ask for a MIG profile such as nvidia.com/mig-1g.10gb,
#     for a resource that the cluster shares by time-slicing, or for a share by a device claim (DRA).
package usher.checks.resources.whole_gpus_only

import data.usher.lib.workload

deny contains finding if {
	some entry in workload.accelerator_resources
	fraction := _fraction(entry.resource)

	finding := {
		"path": workload.resource_path(entry.container, fraction.list, entry.name),
		"message": $"{workload.container_name(entry.podSet, entry.container)}: {fraction.list} {fraction.quantity.text} of {entry.name}, which is given out whole; shares need MIG, time-slicing or DRA",
		"remedy": $"ask for {fraction.quantity.value}, or for a resource that is a share of a GPU",
	}
}

# One of the two is enough to show: where they differ, another check says so.
_fraction(resource) := {"list": "requests", "quantity": quantity} if {
	quantity := resource.requests
	not quantity.whole
} else := {"list": "limits", "quantity": quantity} if {
	quantity := resource.limits
	not quantity.whole
}
