package usher.checks.resources.resources_of_the_runtime_dropped_test

import data.examples.checks.resources.resources_of_the_runtime_dropped as examples
import data.usher.checks.resources.resources_of_the_runtime_dropped as check

claim := {
	"path": "/spec/trainer/resourcesPerNode",
	"message": "the Trainer drops claim channel of the runtime, because resourcesPerNode takes the place of the container's resources",
	"remedy": "remove resourcesPerNode, or use a runtime that has the amounts of this job",
}

test_devices_that_the_block_does_not_repeat_are_named if {
	check.deny == {
		claim,
		{
			"path": "/spec/trainer/resourcesPerNode",
			"message": "resourcesPerNode does not repeat hugepages-2Mi, vpc.amazonaws.com/efa of the runtime: up to version 2.2 the Trainer drops what the block does not name, later versions merge",
			"remedy": "repeat hugepages-2Mi, vpc.amazonaws.com/efa in resourcesPerNode",
		},
	} with input as examples.bad_trainjob
}

test_claims_are_lost_even_where_devices_are_repeated if {
	check.deny == {claim} with input as examples.bad_trainjob_with_its_devices
}

test_without_a_block_nothing_is_said if {
	check.deny == set() with input as examples.good_trainjob_without_a_block
}
