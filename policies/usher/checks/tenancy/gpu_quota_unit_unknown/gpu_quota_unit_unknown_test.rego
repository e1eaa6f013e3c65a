package usher.checks.tenancy.gpu_quota_unit_unknown_test

import data.examples.checks.tenancy.gpu_quota_unit_unknown as examples
import data.usher.checks.tenancy.gpu_quota_unit_unknown as check

found(unit, escaped, remedy) := {{
	"path": $"/spec/limits/0/hard/{escaped}",
	"message": $"{unit} is not a unit of a GPUQuota",
	"remedy": remedy,
}}

test_names_of_resources_are_no_units if {
	check.deny == found("nvidia.com/gpu", "nvidia.com~1gpu", "write gpus") with input as examples.bad_resource
	check.deny == found("profiles.1g.10gb.me", "profiles.1g.10gb.me", "write profiles.1g.10gb+me") with input as examples.bad_spelling
	remedy := "write gpus, slices, memoryGiB, or profiles.<MIG profile>"
	check.deny == found("cores", "cores", remedy) with input as examples.bad_unit
}

test_a_profile_that_no_board_has_limits_nothing if {
	check.deny == {{
		"path": "/spec/limits/1/hard/profiles.5g.99gb",
		"message": "no known board has the profile of profiles.5g.99gb, so this entry limits nothing",
		"remedy": "name a profile that the nodes offer; `kubectl describe nodes` lists them as nvidia.com/mig-*",
		"assumption": "usher assumes that it knows all boards of the cluster",
	}} with input as examples.bad_profile
}

test_units_that_there_are_are_good if {
	check.deny == set() with input as examples.good_units
	check.deny == set() with input as examples.good_profiles
}
