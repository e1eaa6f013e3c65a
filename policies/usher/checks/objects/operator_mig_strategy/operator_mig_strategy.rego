# METADATA
# title: Slices are offered under names of their own
# description: |
#   NVIDIA's GPU Operator is installed with the MIG strategy `single`, under which every slice is offered as
#   nvidia.com/gpu. A pod, a quota and a queue then cannot tell a seventh of a GPU from a GPU, and nvidia.com/mig-* are
#   offered nowhere. Under `mixed` every profile has its own name, and GPUs that are not divided keep theirs. A site
#   that wants another strategy says so in usher.yaml (parameters, operator-mig-strategy, strategy), and is told when an
#   operator has not got it.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-mig.html
#     description: NVIDIA's GPU Operator with MIG
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#configuration-option-details
#     description: NVIDIA's device plugin on MIG strategies
# schemas:
#   - input: schema.input
# custom:
#   code: USH1440
#   about: objects
#   kinds: [clusterPolicy]
#   severity: low
#   why: Quotas and queues count a slice as a whole GPU.
#   closes: [S18]
#   parameters:
#     strategy:
#       default: mixed
#       description: "The MIG strategy that the operator should have: mixed, single or none."
#   remediation: |
#     Set spec.mig.strategy to mixed, once no workload asks for slices as nvidia.com/gpu any more.
package usher.checks.objects.operator_mig_strategy

import data.usher.lib.parameters
import data.usher.lib.text

deny contains finding if {
	strategy := input.object.clusterPolicy.spec.mig.strategy
	strategy != _wanted

	finding := {
		"path": "/spec/mig/strategy",
		"message": $"the MIG strategy is {text.excerpt(strategy)}, and not {_wanted}",
		"remedy": $"set the strategy to {_wanted}, or say in usher.yaml which one is wanted",
	}
}

_wanted := parameters.objects.operator_mig_strategy.strategy
