# METADATA
# title: A claim shares GPUs in a way that the driver has switched on
# description: |
#   The configuration of a claim may ask NVIDIA's driver to share a GPU by TimeSlicing or by MPS. Since version 25.8 both
#   need a feature gate of the driver, TimeSlicingSettings or MPSSupport, and both are off by default. The driver refuses
#   other strategies in all versions. It reads the configuration only when the pod starts, so the pod is placed, and stays
#   in ContainerCreating. The parameter lists the gates that are on.
# scope: package
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/762
#     description: NVIDIA's driver on a claim without the gate
#   - ref: https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/main/pkg/featuregates/featuregates.go
#     description: NVIDIA's driver on its feature gates
# schemas:
#   - input: schema.input
# custom:
#   code: USH816
#   about: objects
#   kinds: [resourceClaim, resourceClaimTemplate]
#   severity: medium
#   why: The pod holds its GPU and never starts.
#   closes: [S15]
#   parameters:
#     gates:
#       default: []
#       description: Feature gates of NVIDIA's DRA driver that are on, for example TimeSlicingSettings.
#   remediation: |
#     Switch the gate on in the driver (Helm: featureGates.TimeSlicingSettings=true), or leave sharing out: containers and
#     pods that name the same claim share its GPU anyway.
package usher.checks.sharing.claim_shares_without_its_gate

import data.usher.lib.device_claims
import data.usher.lib.parameters
import data.usher.lib.text

_gates := {"TimeSlicing": "TimeSlicingSettings", "MPS": "MPSSupport"}

deny contains finding if {
	some entry in device_claims.sharing
	not _gates[entry.sharing.strategy]

	finding := {
		"path": entry.path,
		"message": $"the claim shares by {text.excerpt(entry.sharing.strategy)}, which NVIDIA's driver does not know",
		"remedy": "write TimeSlicing or MPS",
	}
}

deny contains finding if {
	some entry in device_claims.sharing
	gate := _gates[entry.sharing.strategy]
	not gate in parameters.sharing.claim_shares_without_its_gate.gates

	finding := {
		"path": entry.path,
		"message": $"the claim shares by {entry.sharing.strategy}, and NVIDIA's driver refuses this without its feature gate {gate}",
		"remedy": $"switch {gate} on in the driver, or remove sharing",
		"assumption": "usher assumes that the feature gate is off, as it is by default",
	}
}

deny contains finding if {
	some entry in device_claims.sharing
	percentage := entry.sharing.percentage
	not percentage in numbers.range(0, 100)

	finding := {
		"path": entry.path,
		"message": $"the claim has defaultActiveThreadPercentage {percentage}, and NVIDIA's driver refuses values that are not from 0 to 100",
		"remedy": "write a percentage",
	}
}
