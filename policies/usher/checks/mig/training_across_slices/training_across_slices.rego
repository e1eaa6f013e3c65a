# METADATA
# title: Each training container asks for one MIG slice at most
# description: |
#   MIG slices cannot reach each other over NVLink or peer-to-peer, not even on one GPU. All traffic between them passes
#   through the memory of the host. Most versions of CUDA show only one slice to a process, and most versions of NCCL
#   refuse several ranks on one GPU. So a training container with several slices computes on one of them, or fails when
#   its ranks connect.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/deployment-considerations.html
#     description: NVIDIA on what applications can do on MIG slices
# schemas:
#   - input: schema.input
# custom:
#   code: USH705
#   about: accelerator pods
#   severity: medium
#   why: All slices but one stay idle, or the training fails when its ranks connect.
#   closes: [S14]
#   remediation: |
#     Train on whole GPUs, or on one slice that is large enough. Run experiments that do not depend on each other in
#     separate pods, with one slice each.
package usher.checks.mig.training_across_slices

import data.usher.lib.mig
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "training"
	some pod_set in input.podSets
	some container in pod_set.containers
	own := [slice |
		some slice in mig.slices_of(pod_set, container)
		not slice.profile.shared
	]
	slices := sum([slice.count | some slice in own])
	slices > 1

	finding := {
		"path": min([mig.path(container, slice.name) | some slice in own]),
		"message": $"{workload.container_name(pod_set, container)} trains on {slices} MIG slices, but slices cannot reach each other over NVLink or peer-to-peer",
		"remedy": "train on whole GPUs, or on one slice that is large enough",
	}
}
