# METADATA
# title: Training jobs with several pods use whole GPUs
# description: |
#   The pods of one training job exchange gradients at every step. MIG slices cannot reach each other over NVLink or
#   peer-to-peer. Most versions of NCCL also refuse two ranks on one GPU, and the scheduler may place two of these pods
#   on one GPU. Use slices for training that fits on one slice.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/deployment-considerations.html
#     description: NVIDIA on what applications can do on MIG slices
#   - ref: https://github.com/NVIDIA/nccl/issues/1716
#     description: The authors of NCCL on support for MIG slices
# schemas:
#   - input: schema.input
# custom:
#   code: USH707
#   about: accelerator pods
#   severity: medium
#   why: The job fails when two of its pods land on one GPU. Otherwise it waits for the network at every step.
#   closes: [S14]
#   remediation: |
#     Train on whole GPUs, or in one pod on one slice. If the pods do not depend on each other, set the label
#     gpu-usher.io/role: batch.
package usher.checks.mig.distributed_training_on_slices

import data.usher.lib.mig

deny contains finding if {
	input.workload.role == "training"
	_pods > 1

	finding := {
		"path": min([mig.path(slice.container, slice.name) | some slice in mig.own_slices]),
		"message": "the pods train together on MIG slices, but slices cannot reach each other over NVLink or peer-to-peer",
		"remedy": "train on whole GPUs, or in one pod on one slice",
	}
}

# A pod set without an upper bound can have several pods.
_pods := sum([object.get(pod_set.pods, "maximum", 2) |
	some pod_set in input.podSets
	_paths[pod_set.path]
])

_paths := {slice.podSet.path | some slice in mig.own_slices}
