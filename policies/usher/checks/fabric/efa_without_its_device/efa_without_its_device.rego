# METADATA
# title: Containers that use EFA ask for vpc.amazonaws.com/efa
# description: |
#   With FI_PROVIDER=efa, libfabric uses EFA only. Without the resource vpc.amazonaws.com/efa the container has no EFA
#   device. NCCL's plugin then finds no provider, and the ranks fail or use ordinary sockets. The check ignores pods
#   with the network of the node or with device claims, and privileged containers, because they can get the device in
#   another way.
# scope: package
# related_resources:
#   - ref: https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
#     description: AWS on EFA in EKS
# schemas:
#   - input: schema.input
# custom:
#   code: USH916
#   about: accelerator pods
#   severity: medium
#   why: Ranks fail when they start, or train over a network that is many times slower.
#   closes: [S32]
#   remediation: |
#     Add vpc.amazonaws.com/efa to the limits, with the number of devices that the machine has for these GPUs. Or remove
#     FI_PROVIDER.
package usher.checks.fabric.efa_without_its_device

import data.usher.lib.fabric
import data.usher.lib.workload

_device := "vpc.amazonaws.com/efa"

deny contains finding if {
	some entry in fabric.rank_containers
	variable := entry.container.environment.FI_PROVIDER
	variable.value == "efa"
	not entry.container.resources[_device]
	not entry.container.securityContext.privileged
	not entry.podSet.hostNetwork
	entry.podSet.deviceClaims == 0
	fabric.mounts_known

	finding := {
		"path": variable.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)} may use EFA only (FI_PROVIDER), but does not ask for {_device}",
		"remedy": $"add {_device} to its limits, or remove FI_PROVIDER",
	}
}
