package usher.checks.mig.profile_of_no_pool_test

import data.examples.checks.mig.profile_of_no_pool as examples
import data.usher.checks.mig.profile_of_no_pool as check

remedy := "ask for a resource that a pool offers: nvidia.com/mig-1g.10gb, nvidia.com/mig-3g.40gb.shared"

test_a_profile_that_no_pool_offers_is_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1mig-2g.20gb",
		"message": "container embeddings asks for nvidia.com/mig-2g.20gb, but no pool of usher.yaml offers it",
		"remedy": remedy,
	}} with input as examples.bad_deployment
}

test_slices_are_another_resource_than_their_shares if {
	check.deny == {{
		"path": "/spec/containers/0/resources/limits/nvidia.com~1mig-3g.40gb",
		"message": "container notebook asks for nvidia.com/mig-3g.40gb, but no pool of usher.yaml offers it",
		"remedy": remedy,
	}} with input as examples.bad_pod
}

test_it_is_found_in_the_templates_of_other_kinds if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/resources/limits/nvidia.com~1mig-7g.80gb",
		"message": "container pytorch of Master asks for nvidia.com/mig-7g.80gb, but no pool of usher.yaml offers it",
		"remedy": remedy,
	}} with input as examples.bad_pytorchjob
}

test_what_pools_offer_is_good if {
	check.deny == set() with input as examples.good_deployment
}

test_a_profile_of_no_board_is_for_another_check if {
	check.deny == set() with input as examples.good_unknown_profile
}

test_nothing_is_known_where_no_pool_offers_slices if {
	check.deny == set() with input as json.remove(examples.bad_deployment, ["/podSets/0/mig/offered"])
}
