package usher.checks.placement.device_that_no_pool_offers_test

import data.examples.checks.placement.device_that_no_pool_offers as examples
import data.usher.checks.placement.device_that_no_pool_offers as check

test_a_network_card_that_no_pool_lists_is_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/vpc.amazonaws.com~1efa",
		"message": `container train asks for "vpc.amazonaws.com/efa", and no pool on which the pod can run lists it in allocatable: l40s`,
		"remedy": "leave the resource out or select a pool that offers it; if its nodes do, add it to allocatable in usher.yaml",
		"assumption": "usher assumes that allocatable of a pool in usher.yaml names every device",
	}} with input as examples.bad_job
}

test_a_pool_that_lists_it_and_a_pool_without_amounts_are_good if {
	check.deny == set() with input as examples.good_job
	check.deny == set() with input as examples.good_job_on_a_pool_without_amounts
	check.deny == set() with input as examples.good_job_of_a_fabric
}
