package usher.checks.mig.profile_misspelt_test

import data.examples.checks.mig.profile_misspelt as examples
import data.usher.checks.mig.profile_misspelt as check

test_a_plus_is_found_where_a_dot_belongs if {
	check.deny == {{
		"path": "/spec/mpiReplicaSpecs/Worker/template/spec/containers/0/resources/limits/nvidia.com~1mig-1g.10gb+me",
		"message": `container worker of Worker asks for "nvidia.com/mig-1g.10gb+me", but this is not the name of a MIG profile`,
		"remedy": "write nvidia.com/mig-1g.10gb.me",
	}} with input as examples.bad_mpijob
}

test_a_part_of_an_instance_is_found_in_the_container_that_names_it if {
	check.deny == {{
		"path": "/spec/template/spec/containers/1/resources/limits/nvidia.com~1mig-1c.3g.20gb",
		"message": `container judge asks for "nvidia.com/mig-1c.3g.20gb", but this is not the name of a MIG profile`,
		"remedy": "write nvidia.com/mig-3g.20gb",
	}} with input as examples.bad_job
}

test_a_name_without_a_profile_is_found_in_requests_as_well if {
	check.deny == {{
		"path": "/spec/containers/0/resources/requests/nvidia.com~1mig-small",
		"message": `container notebook asks for "nvidia.com/mig-small", but this is not the name of a MIG profile`,
		"remedy": "write nvidia.com/mig- and a profile that the nodes offer, for example nvidia.com/mig-1g.10gb",
	}} with input as examples.bad_pod
}

test_variants_and_shares_in_their_own_spelling_are_good if {
	check.deny == set() with input as examples.good_deployment
}

test_a_name_that_usher_yaml_describes_is_good if {
	check.deny == set() with input as examples.good_name_of_the_site
}

test_pods_without_slices_are_good if {
	check.deny == set() with input as json.remove(examples.bad_pod, ["/podSets/0/mig"])
}
