# METADATA
# title: Training asks for whole GPUs, not for shares
# description: |
#   A share of a GPU is a turn on one that others use as well: by time-slicing, by MPS, by HAMi, Volcano or
#   KAI-Scheduler. How fast it is, depends on them; and where memory is not kept apart, so does whether it runs at all.
#   Training keeps a GPU busy for hours and is as slow as its slowest rank, so shares serve neither it nor those with
#   whom it shares. Notebooks, tests and small inference are what they are for.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus
#     description: NVIDIA's device plugin on what shares promise
# schemas:
#   - input: schema.input
# custom:
#   code: USH801
#   about: accelerator pods
#   severity: medium
#   why: Training on a share is slow for itself and for everybody on the same GPU.
#   closes: [S14, B43]
#   remediation: |
#     Ask for nvidia.com/gpu on nodes whose GPUs are not shared, or for a MIG slice that is large enough.
package usher.checks.sharing.training_on_shares

import data.usher.lib.sharing
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "training"
	some pod_set in workload.accelerator_pod_sets
	share := sharing.shares(pod_set)[0]

	finding := {
		"path": share.path,
		"message": $"{workload.pod_set_name(pod_set)} trains on shares of GPUs, by {text.excerpt(share.name)}",
		"remedy": "ask for whole GPUs, or for a MIG slice that is large enough",
	}
}
