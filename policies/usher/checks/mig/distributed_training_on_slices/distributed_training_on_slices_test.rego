package usher.checks.mig.distributed_training_on_slices_test

import data.examples.checks.mig.distributed_training_on_slices as examples
import data.usher.checks.mig.distributed_training_on_slices as check

message := "the pods train together on MIG slices, but slices cannot reach each other over NVLink or peer-to-peer"

remedy := "train on whole GPUs, or in one pod on one slice"

test_pods_of_several_templates_count_together if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/resources/limits/nvidia.com~1mig-3g.40gb",
		"message": message,
		"remedy": remedy,
	}} with input as examples.bad_pytorchjob
}

test_several_pods_of_one_template_are_found if {
	check.deny == {{
		"path": "/spec/mpiReplicaSpecs/Worker/template/spec/containers/0/resources/limits/nvidia.com~1mig-7g.80gb",
		"message": message,
		"remedy": remedy,
	}} with input as examples.bad_mpijob
}

test_jobs_of_one_set_count_together if {
	check.deny == {{
		"path": "/spec/replicatedJobs/0/template/spec/template/spec/containers/0/resources/limits/nvidia.com~1mig-3g.40gb",
		"message": message,
		"remedy": remedy,
	}} with input as examples.bad_jobset
}

test_pods_without_bound_may_be_several if {
	unbounded := json.remove(examples.good_pytorchjob, ["/podSets/0/pods/maximum"])
	count(check.deny) == 1 with input as unbounded
}

test_a_launcher_without_slices_does_not_count if {
	check.deny == set() with input as examples.good_mpijob
}

test_one_pod_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_serving_is_good if {
	check.deny == set() with input as examples.good_deployment
}

test_whole_gpus_are_good if {
	check.deny == set() with input as examples.good_whole_gpus
}

test_shares_of_slices_are_for_another_check if {
	check.deny == set() with input as examples.good_shares
}
