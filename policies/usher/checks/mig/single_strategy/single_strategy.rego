# METADATA
# title: Pods ask for nvidia.com/mig-* only under the MIG strategy mixed
# description: |
#   Under the MIG strategy `mixed` the device plugin offers every slice by its profile, for example as
#   nvidia.com/mig-1g.10gb. Under `single`, the default of NVIDIA's GPU Operator, it offers slices as nvidia.com/gpu.
#   Under `none` it offers no slices. A pod that asks for nvidia.com/mig-* under `single` or `none` waits forever.
#
#   A manifest does not say which strategy the cluster has. So the check reports nothing until usher.yaml names the
#   strategy (parameters, single-strategy, strategy: `none`, `single` or `mixed`).
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#configuration-option-details
#     description: NVIDIA's device plugin on MIG strategies
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-mig.html
#     description: NVIDIA's GPU Operator with MIG
# schemas:
#   - input: schema.input
# custom:
#   code: USH703
#   about: accelerator pods
#   severity: high
#   why: No node offers slices under these names, so the pod waits forever.
#   closes: [S17]
#   parameters:
#     strategy:
#       default: unknown
#       description: "The MIG strategy of the nodes: `none`, `single` or `mixed`."
#   remediation: |
#     Under `single`, ask for nvidia.com/gpu and choose the slice by a node label, for example nvidia.com/gpu.product:
#     NVIDIA-H100-80GB-HBM3-MIG-1g.10gb. Or have the strategy changed to `mixed`.
package usher.checks.mig.single_strategy

import data.usher.lib.mig
import data.usher.lib.parameters
import data.usher.lib.workload

deny contains finding if {
	remedy := _remedies[_strategy]
	some slice in mig.slices

	finding := {
		"path": mig.path(slice.container, slice.name),
		"message": $"{workload.container_name(slice.podSet, slice.container)} asks for {slice.name}, but no node offers it under the MIG strategy {_strategy}",
		"remedy": remedy,
	}
}

_strategy := parameters.mig.single_strategy.strategy

_remedies := {
	"single": "ask for nvidia.com/gpu, and choose the slice by the node label nvidia.com/gpu.product",
	"none": "ask for nvidia.com/gpu, or have the nodes divided under the MIG strategy mixed",
}
