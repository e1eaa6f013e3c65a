package usher.checks.resources.whole_cpus_for_training_test

import data.examples.checks.resources.whole_cpus_for_training as examples
import data.usher.checks.resources.whole_cpus_for_training as check

test_a_part_of_a_core_is_found_in_the_containers_with_accelerators if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0",
		"message": "container pytorch of Worker asks for 95500m of cpu, so the kubelet gives it no cores of its own",
		"remedy": "set requests and limits of cpu to 96",
	}} with input as examples.bad_pytorchjob
	check.deny == {{
		"path": "/spec/replicatedJobs/0/template/spec/template/spec/containers/0",
		"message": "container train of workers asks for 100m of cpu, so the kubelet gives it no cores of its own",
		"remedy": "set requests and limits of cpu to 1",
	}} with input as examples.bad_jobset
}

test_a_request_of_the_same_amount_is_no_other_one if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0",
		"message": "container train asks for 7500m of cpu, so the kubelet gives it no cores of its own",
		"remedy": "set requests and limits of cpu to 8",
	}} with input as examples.bad_job
}

test_whole_cores_are_good_however_they_are_spelt_and_init_containers_do_not_matter if {
	check.deny == set() with input as examples.good_mpijob
}

test_what_shares_its_cores_anyway_is_left_to_another_check if {
	check.deny == set() with input as examples.good_job_that_shares_its_cores
}

test_other_workloads_may_share_cores if {
	check.deny == set() with input as examples.good_deployment
}
