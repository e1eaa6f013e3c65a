# METADATA
# title: The GPUs of a node can have the MIG layout of its label
# description: |
#   The MIG manager divides the GPUs of a node by the layout that its label nvidia.com/mig.config names. The layout fails
#   if the configuration does not have it, if the board lacks its profiles or holds fewer instances, or if it names a GPU
#   that the node does not have. usher compares the label with the configurations in the files of the run. Without them,
#   it reads the profile from names like all-1g.10gb, which the layouts of NVIDIA's operator have.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-mig.html
#     description: NVIDIA on the label of nodes and the layouts of its operator
# schemas:
#   - input: schema.input
# custom:
#   code: USH810
#   about: objects
#   kinds: [node]
#   severity: medium
#   why: The node has its old slices or no slices, and pods wait for the new slices.
#   closes: [S18]
#   remediation: Name a layout that the configuration of the MIG manager has and that the board of the node can have.
package usher.checks.sharing.mig_layout_not_for_node

import data.usher.lib.text

deny contains object.union(finding, _assumption) if {
	name := input.object.node.metadata.labels["nvidia.com/mig.config"]
	_reason.text != ""

	finding := {
		"path": "/metadata/labels/nvidia.com~1mig.config",
		"message": $"the layout {text.excerpt(name)} {_reason.text}",
		"remedy": _reason.remedy,
	}
}

_reason := input.beside.layout

_reason := input.object.node.metadata.layout if not input.beside.layout

_assumption := {"assumption": "usher assumes that the MIG manager reads the configurations in these files"} if {
	input.beside.layout
}

_assumption := {"assumption": "usher assumes that the layout has the profile of its name"} if not input.beside.layout
