# METADATA
# title: A container asks for one share of a GPU
# description: |
#   A share gives access to a GPU. It does not say how much of the GPU the container gets. Several shares can all come
#   from one GPU. The container then gets no more than with one share: not more memory, not more time and no second
#   device, which tensor parallelism needs. A device plugin with failRequestsGreaterThanOne refuses the pod after the
#   scheduler has placed it. The check reports shares that have their own resource name, and GPUs on nodes that the pod
#   selects by a label of shared GPUs.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#with-cuda-time-slicing
#     description: NVIDIA's device plugin on requests for more than one share
# schemas:
#   - input: schema.input
# custom:
#   code: USH802
#   about: accelerator pods
#   severity: medium
#   why: The container seems to have several GPUs, but may get one GPU that others use too.
#   closes: [S15, B43]
#   remediation: |
#     Ask for one share. For more of a GPU, ask for a MIG slice or a whole GPU. For several GPUs, use nodes whose GPUs
#     are not shared.
package usher.checks.sharing.several_shares

import data.usher.lib.amounts
import data.usher.lib.mig
import data.usher.lib.sharing
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	some name, resource in container.accelerators
	asked := amounts.effective(resource).value
	asked > 1
	startswith(name, "nvidia.com/")
	_is_shared(pod_set, name)

	finding := {
		"path": mig.path(container, name),
		"message": $"{workload.container_name(pod_set, container)} asks for {asked} of {text.excerpt(name)}, but these are shares and may all come from one GPU",
		"remedy": "ask for 1 share, or for whole GPUs on nodes that do not share them",
	}
}

_is_shared(_, name) if endswith(name, ".shared")

_is_shared(pod_set, name) if {
	sharing.shared_nodes(pod_set)
	some request in pod_set.requests
	request.name == name
	request.route == "extended resource"
}
