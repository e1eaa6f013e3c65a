package usher.checks.sharing.more_replicas_than_mps_serves_test

import data.examples.checks.sharing.more_replicas_than_mps_serves as examples
import data.usher.checks.sharing.more_replicas_than_mps_serves as check

found(replicas) := {{
	"path": "/data/any",
	"message": $"the configuration \"any\" has replicas: {replicas} in sharing.mps.resources[0], but MPS serves 48 clients of a GPU at most",
	"remedy": "set 48 replicas or fewer, or share by timeSlicing",
}}

test_more_than_48_replicas_are_found if {
	check.deny == found(49) with input as examples.bad_one_more
	check.deny == found(100) with input as examples.bad_hundred
	check.deny == found(64) with input as examples.bad_shared_name
}

test_48_replicas_are_good if {
	check.deny == set() with input as examples.good_most
}

test_time_slices_have_no_limit if {
	check.deny == set() with input as examples.good_time_slices
}
