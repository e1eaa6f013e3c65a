# METADATA
# title: Containers mount the file that NCCL_TOPO_FILE names
# description: |
#   NCCL_TOPO_FILE names a file inside the container. If no volume is mounted there, the file must be in the image.
#   Images of clouds that contain a topology file describe one machine type, and most images contain no file. NCCL then
#   warns or fails, depending on its version, or uses paths that it guessed. A mount of the file or of any directory
#   above it is enough. The check ignores TrainJobs, which leave their mounts to the runtime.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-topo-file
#     description: NVIDIA on NCCL_TOPO_FILE
# schemas:
#   - input: schema.input
# custom:
#   code: USH908
#   about: accelerator pods
#   severity: medium
#   why: Ranks fail when they start, or communicate over the wrong paths.
#   closes: [S30]
#   remediation: |
#     Mount the ConfigMap with the topology at this path, with `subPath` for the single file. Or remove the variable:
#     only virtual machines need the file.
package usher.checks.fabric.topology_file_not_mounted

import data.usher.lib.fabric
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some entry in fabric.rank_containers
	variable := entry.container.environment.NCCL_TOPO_FILE
	file := variable.value
	file != ""
	fabric.mounts_known
	not fabric.mounted(entry.container, file)

	finding := {
		"path": variable.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)}: NCCL_TOPO_FILE names {text.excerpt(file)}, but no volume is mounted there",
		"remedy": "mount the file there, or remove NCCL_TOPO_FILE",
		"assumption": "usher assumes that the image does not contain the file",
	}
}
