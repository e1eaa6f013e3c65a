package usher.checks.sharing.claim_shares_without_its_gate_test

import data.examples.checks.sharing.claim_shares_without_its_gate as examples
import data.usher.checks.sharing.claim_shares_without_its_gate as check

path := "/spec/spec/devices/config/0/opaque/parameters/sharing"

off(way, gate) := {
	"path": path,
	"message": $"the claim shares by {way}, and NVIDIA's driver refuses this without its feature gate {gate}",
	"remedy": $"switch {gate} on in the driver, or remove sharing",
	"assumption": "usher assumes that the feature gate is off, as it is by default",
}

test_sharing_needs_a_gate if {
	check.deny == {off("TimeSlicing", "TimeSlicingSettings")} with input as examples.bad_time_slicing
	check.deny == set() with input as examples.bad_time_slicing
		with data.usher.lib.parameters.sharing.claim_shares_without_its_gate.gates as ["TimeSlicingSettings"]
}

test_mps_has_a_gate_of_its_own if {
	check.deny == {
		off("MPS", "MPSSupport"),
		{
			"path": path,
			"message": "the claim has defaultActiveThreadPercentage 150, and NVIDIA's driver refuses what is not from 0 to 100",
			"remedy": "write a percentage",
		},
	} with input as examples.bad_mps
}

test_an_unknown_strategy_is_found if {
	check.deny == {{
		"path": "/spec/devices/config/0/opaque/parameters/sharing",
		"message": `the claim shares by "timeSlicing", which NVIDIA's driver does not know`,
		"remedy": "write TimeSlicing or MPS",
	}} with input as examples.bad_strategy
}

test_claims_without_sharing_are_good if {
	check.deny == set() with input as examples.good_no_sharing
	check.deny == set() with input as examples.good_other_driver
}

test_a_percentage_of_the_threads_is_good if {
	half := json.patch(examples.bad_mps, [{"op": "replace", "path": "/object/resourceClaimTemplate/spec/spec/devices/config/0/percentage", "value": 50}])
	check.deny == {off("MPS", "MPSSupport")} with input as half
}
