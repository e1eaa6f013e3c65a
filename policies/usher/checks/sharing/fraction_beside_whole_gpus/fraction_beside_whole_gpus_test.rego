package usher.checks.sharing.fraction_beside_whole_gpus_test

import data.examples.checks.sharing.fraction_beside_whole_gpus as examples
import data.usher.checks.sharing.fraction_beside_whole_gpus as check

test_a_fraction_beside_gpus_is_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
		"message": "container embeddings has a limit of nvidia.com/gpu, but the annotation gpu-fraction asks for a part of a GPU",
		"remedy": "remove nvidia.com/gpu, or the annotation gpu-fraction",
	}} with input as examples.bad_deployment
}

test_no_gpus_at_all_are_a_limit_too if {
	check.deny == {{
		"path": "/spec/initContainers/0/resources/limits/nvidia.com~1gpu",
		"message": "init container convert has a limit of nvidia.com/gpu, but the annotation gpu-memory asks for a part of a GPU",
		"remedy": "remove nvidia.com/gpu, or the annotation gpu-memory",
	}} with input as examples.bad_pod
}

test_a_queue_of_kai_tells_who_places_the_pods if {
	check.deny == {{
		"path": "/spec/workerGroupSpecs/0/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
		"message": "container worker of shared has a limit of nvidia.com/gpu, but the annotation gpu-fraction asks for a part of a GPU",
		"remedy": "remove nvidia.com/gpu, or the annotation gpu-fraction",
	}} with input as examples.bad_raycluster
}

test_the_queue_may_stand_on_the_pods if {
	check.deny != set() with input as examples.bad_pod_of_a_queue
}

test_a_fraction_alone_is_good if {
	check.deny == set() with input as examples.good_deployment
}

test_gpus_alone_are_good if {
	check.deny == set() with input as examples.good_whole_gpus
}

test_to_other_schedulers_the_annotations_mean_nothing if {
	check.deny == set() with input as examples.good_other_scheduler
	check.deny == set() with input as examples.good_other_scheduler_of_a_queue
}
