# METADATA
# title: The topology file is mounted where NCCL looks for it
# description: |
#   NCCL_TOPO_FILE names a file inside the container. Without a volume there it has to come with the image, and images of
#   clouds that hold such a file describe one machine type; most hold none. NCCL then warns or fails, depending on its
#   version, or takes paths that it has guessed. A mount of the file itself or of any directory above it is enough. A
#   TrainJob leaves its mounts to the runtime, and is not judged.
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
#   why: Ranks fail when they start, or talk over the wrong paths.
#   closes: [S30]
#   remediation: |
#     Mount the ConfigMap with the topology at that place, the file alone with `subPath`, or remove the variable: only
#     virtual machines need the file.
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
		"message": $"{workload.container_name(entry.podSet, entry.container)}: NCCL_TOPO_FILE names {text.excerpt(file)}, where nothing is mounted",
		"remedy": "mount the file there, or remove NCCL_TOPO_FILE",
		"assumption": "the image does not bring the file with it",
	}
}
