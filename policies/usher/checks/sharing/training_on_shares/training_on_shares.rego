# METADATA
# title: Training asks for whole GPUs, not for shares
# description: |
#   A share of a GPU lets a container take turns with others on the same GPU. Shares come from time-slicing, MPS, HAMi,
#   Volcano or KAI-Scheduler. The other containers decide how fast the share is. If memory is not isolated, they also
#   decide whether the container runs at all. Training keeps a GPU busy for hours and is as slow as its slowest rank, so
#   it suffers on a share and slows down the others. Use shares for notebooks, tests and small inference.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#shared-access-to-gpus
#     description: NVIDIA's device plugin on shared access to GPUs
# schemas:
#   - input: schema.input
# custom:
#   code: USH801
#   about: accelerator pods
#   severity: medium
#   why: Training on a share is slow, and slows down all others on the same GPU.
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
		"message": $"{workload.pod_set_name(pod_set)} trains on shares of GPUs ({text.excerpt(share.name)})",
		"remedy": "ask for whole GPUs, or for a MIG slice that is large enough",
	}
}
