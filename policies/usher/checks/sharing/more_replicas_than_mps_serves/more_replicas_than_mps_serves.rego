# METADATA
# title: MPS shares a GPU between 48 clients at most
# description: |
#   The daemon of NVIDIA's device plugin that controls MPS refuses a device with more than 48 replicas, and with more
#   than 16 on boards before Volta. It does not start, and the device plugin waits for it, so the node offers no shares.
#   Time slicing has no limit of replicas. MPS also divides the memory of a GPU evenly: with 48 replicas a share of 80
#   GiB has 1.7 GiB.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin/blob/main/cmd/mps-control-daemon/mps/device.go
#     description: NVIDIA's device plugin on the clients of MPS
# schemas:
#   - input: schema.input
# custom:
#   code: USH813
#   about: objects
#   kinds: [configMap]
#   severity: high
#   why: The node offers no GPUs at all.
#   closes: [S19]
#   remediation: Set at most 48 replicas, or share by timeSlicing.
package usher.checks.sharing.more_replicas_than_mps_serves

import data.usher.lib.operators
import data.usher.lib.text

deny contains finding if {
	some share in operators.shares
	share.way == "mps"
	some index, resource in share.said.resources
	resource.replicas > 48

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} has replicas: {resource.replicas} in sharing.mps.resources[{index}], but MPS serves 48 clients of a GPU at most",
		"remedy": "set 48 replicas or fewer, or share by timeSlicing",
	}
}
