# METADATA
# title: Variables of GPUDirect-TCPXO come from its profile
# description: |
#   On GKE's A3 Mega machines the installer of GPUDirect-TCPXO installs the script nccl-env-profile.sh. It sets the
#   variables that this release needs. A checker ends the workload if one of them is missing or has another value. The
#   variables change with every release, so values in a manifest stop the job after the next update. Only
#   NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY belongs in the manifest. usher cannot see whether the container sources the
#   script.
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
#   why: After the next update of the nodes the checker ends the job when it starts.
#   closes: [S29]
#   remediation: |
#     Remove the variables, and start the container's command with `source /usr/local/nvidia/lib64/nccl-env-profile.sh`.
package usher.checks.fabric.variables_of_a_managed_profile

import data.usher.lib.fabric
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some entry in fabric.rank_containers
	names := [name |
		some name, _ in entry.container.environment
		_is_of_the_profile(name)
	]
	first := entry.container.environment[min(names)]

	finding := {
		"path": first.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)} sets variables that the GPUDirect-TCPXO profile sets differently in each release: {text.names(names, ", ")}",
		"remedy": "remove them, and source the script nccl-env-profile.sh of the node",
	}
}

_is_of_the_profile(name) if {
	startswith(name, "NCCL_FASTRAK_")
	name != "NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY"
}

_is_of_the_profile(name) if startswith(name, "NCCL_SHIMNET_")
