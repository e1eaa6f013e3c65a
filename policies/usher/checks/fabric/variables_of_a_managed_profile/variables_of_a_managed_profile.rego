# METADATA
# title: Variables of GPUDirect-TCPXO come from its profile
# description: |
#   On GKE's A3 Mega machines the installer of GPUDirect-TCPXO brings a script, nccl-env-profile.sh, that sets the
#   variables which its release needs, and a checker that ends the workload where one is missing or has another value.
#   The set changes with every release: what a manifest fixes today stops the job after the next update. Only
#   NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY belongs into the manifest. Whether the container sources the script cannot be seen
#   here.
# scope: package
# related_resources:
#   - ref: https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx
#     description: Google on GPUDirect-TCPXO in GKE
# schemas:
#   - input: schema.input
# custom:
#   code: USH913
#   about: accelerator pods
#   severity: low
#   why: After the next update of the nodes the job is ended as it starts.
#   closes: [S29]
#   remediation: |
#     Remove the variables, and begin the container's command with `source /usr/local/nvidia/lib64/nccl-env-profile.sh`.
package usher.checks.fabric.variables_of_a_managed_profile

import data.usher.lib.fabric
import data.usher.lib.workload

deny contains finding if {
	some entry in fabric.rank_containers
	names := sort([name |
		some name, _ in entry.container.environment
		_is_of_the_profile(name)
	])
	first := entry.container.environment[names[0]]

	finding := {
		"path": first.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)} fixes variables that the profile of each GPUDirect-TCPXO release sets: {concat(", ", names)}",
		"remedy": "remove them, and source nccl-env-profile.sh of the node",
	}
}

_is_of_the_profile(name) if {
	startswith(name, "NCCL_FASTRAK_")
	name != "NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY"
}

_is_of_the_profile(name) if startswith(name, "NCCL_SHIMNET_")
