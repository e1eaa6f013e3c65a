# METADATA
# title: The layouts of the MIG manager fit a GPU
# description: |
#   A layout of the ConfigMap of NVIDIA's MIG manager says how many instances of each profile a GPU is divided into. The
#   MIG manager refuses the whole configuration if one entry lacks a field or names no profile: it writes 1g.24gb+gfx
#   where resources and labels have 1g.24gb.gfx. A layout with more instances than a GPU holds fails on the node. With a
#   device filter, the check compares the instances with the boards of the filter, otherwise with all boards that usher
#   knows. The configuration is a text in the ConfigMap, so findings name only its key.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/mig-parted/blob/main/api/spec/v1/spec.go
#     description: NVIDIA on the fields of a layout
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
#     description: NVIDIA on the profiles of each board
# schemas:
#   - input: schema.input
# custom:
#   code: USH809
#   about: objects
#   kinds: [configMap]
#   severity: medium
#   why: The MIG manager leaves the node undivided and writes `failed` into its label, and pods wait for the slices.
#   closes: [S18]
#   remediation: Write profiles as `nvidia-smi mig -lgip` lists them on the node, and no more of them than fit one GPU.
package usher.checks.sharing.mig_layout_refused

import data.usher.lib.text

deny contains finding if {
	some key, configuration in input.object.configMap.data
	some layout in configuration.layouts
	escaped := replace(replace(key, "~", "~0"), "/", "~1")

	finding := {
		"path": $"/data/{escaped}",
		"message": $"the layout {text.excerpt(layout.layout)} {layout.text}",
		"remedy": layout.remedy,
	}
}
