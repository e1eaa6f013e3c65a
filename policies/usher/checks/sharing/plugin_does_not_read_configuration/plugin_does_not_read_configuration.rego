# METADATA
# title: The device plugin reads the configuration of sharing
# description: |
#   NVIDIA's device plugin reads a configuration only from the file that --config-file or the variable CONFIG_FILE names,
#   or that its config manager chooses. A ConfigMap that is mounted or given as variables (envFrom) is not read without
#   them, and the node offers its GPUs undivided. To share by MPS, the plugin also needs --mps-root or MPS_ROOT and the
#   daemon that controls MPS; without them it does not start. usher looks for DaemonSets of the plugin in the files of the
#   run. The charts of NVIDIA set all of this.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#configuring-the-nvidia-device-plugin-binary
#     description: NVIDIA's device plugin on its configuration file
#   - ref: https://github.com/NVIDIA/k8s-device-plugin/issues/1132
#     description: NVIDIA's device plugin without a root for MPS
# schemas:
#   - input: schema.input
# custom:
#   code: USH817
#   about: objects
#   kinds: [configMap]
#   severity: medium
#   why: The node offers whole GPUs, or no GPUs.
#   closes: [S19]
#   remediation: Install the device plugin with NVIDIA's chart, or set CONFIG_FILE, and MPS_ROOT for MPS, in its DaemonSet.
package usher.checks.sharing.plugin_does_not_read_configuration

import data.usher.lib.operators
import data.usher.lib.text

deny contains finding if {
	some share in operators.shares
	some lack, row in _rows
	lack in input.beside.placed
	share.way in row.ways

	finding := {
		"path": share.path,
		"message": $"the configuration {text.excerpt(share.key)} shares GPUs by {share.way}, but the DaemonSet of the device plugin in these files {row.text}",
		"remedy": row.remedy,
		"assumption": "usher assumes that the configuration is for this DaemonSet",
	}
}

_rows := {
	"plugin without a file": {
		"ways": {"mps", "timeSlicing"},
		"text": "names no configuration file, so it reads no configuration",
		"remedy": "set CONFIG_FILE or --config-file to the mounted key, or use NVIDIA's chart",
	},
	"plugin without a root": {
		"ways": {"mps"},
		"text": "has no MPS_ROOT, so it does not start",
		"remedy": "set MPS_ROOT or --mps-root and run the MPS control daemon, or use NVIDIA's chart",
	},
}
