# METADATA
# title: A container asks for one share
# description: |
#   A share is access to a GPU, not a measure of it. Several shares may all be of one GPU, and give a container no more
#   of it than one would: neither memory nor a second device, on which tensor parallelism counts, nor more time. A
#   device plugin that is set to failRequestsGreaterThanOne refuses the pod after it was placed. Found are shares that
#   have a name of their own, and GPUs on nodes that are selected by a label of shared GPUs.
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
#   why: It looks like several GPUs, and may be one that others use as well.
#   closes: [S15, B43]
#   remediation: |
#     Ask for one share. For more of a GPU ask for a MIG slice or a whole GPU; for several GPUs, on nodes whose GPUs are
#     not shared.
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
		"message": $"{workload.container_name(pod_set, container)} asks for {asked} of {text.excerpt(name)}, which are shares and may all be of one GPU",
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
