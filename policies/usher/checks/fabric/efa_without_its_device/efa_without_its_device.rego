# METADATA
# title: Who speaks over EFA asks for its device
# description: |
#   FI_PROVIDER=efa lets libfabric use nothing but EFA. Without the resource vpc.amazonaws.com/efa the container has no
#   such device: NCCL's plugin finds no provider, and the ranks fail, or go over ordinary sockets. The network of the
#   node, privileged containers and device claims may bring the device another way.
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
#   why: Ranks fail as they start, or train over a network that is many times slower.
#   closes: [S32]
#   remediation: Add vpc.amazonaws.com/efa to the limits, as many as the machine has for the GPUs, or remove FI_PROVIDER.
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
		"message": $"{workload.container_name(entry.podSet, entry.container)} is to speak over EFA alone (FI_PROVIDER) and asks for no {_device}",
		"remedy": $"add {_device} to its limits, or remove FI_PROVIDER",
	}
}
