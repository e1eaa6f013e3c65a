# METADATA
# title: The GPU operator uses the configured MIG strategy
# description: |
#   By default, NVIDIA's GPU Operator uses the MIG strategy `single`, which offers every slice as nvidia.com/gpu. A pod,
#   a quota and a queue then cannot distinguish a seventh of a GPU from a GPU, and no node offers nvidia.com/mig-*.
#   Under `mixed` every profile has its own name, and undivided GPUs keep theirs. A site that wants another strategy
#   sets it in usher.yaml (parameters, operator-mig-strategy, strategy). The check then reports operators with a
#   different strategy. Without this setting it looks only at operators whose MIG manager has a layout of its own, by
#   the name of a ConfigMap or by another default than all-disabled.
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
#   remediation: Set spec.mig.strategy to mixed when no workload asks for slices as nvidia.com/gpu any more.
package usher.checks.objects.operator_mig_strategy

import data.usher.lib.parameters
import data.usher.lib.text

deny contains finding if {
	strategy := input.object.clusterPolicy.spec.mig.strategy
	strategy != _wanted
	_uses_slices

	finding := {
		"path": "/spec/mig/strategy",
		"message": $"the MIG strategy is {text.excerpt(strategy)}, but {_expectation}",
		"remedy": $"set the strategy to {_wanted}, or set the parameter strategy of this check in usher.yaml",
	}
}

# Without slices the strategy changes nothing: nearly all policies keep the default, and no board is divided.
_uses_slices if input.site.parameters["objects/operator_mig_strategy"]

_uses_slices if {
	layout := input.object.clusterPolicy.spec.migManager.config["default"]
	not layout in ["", "all-disabled"]
}

_uses_slices if {
	name := input.object.clusterPolicy.spec.migManager.config.name
	not name in ["", "default-mig-parted-config"]
}

_wanted := parameters.objects.operator_mig_strategy.strategy

_expectation := "usher expects mixed unless usher.yaml names another one" if _wanted == "mixed"

else := $"usher.yaml expects {_wanted}"
