package usher.checks.objects.slurm_gpus_other_than_pods_test

import data.examples.checks.objects.slurm_gpus_other_than_pods as examples
import data.usher.checks.objects.slurm_gpus_other_than_pods as check

found(path, message, remedy) := {{"path": path, "message": message, "remedy": remedy}}

test_gpus_that_slurm_does_not_know_are_found if {
	check.deny == found("/spec", "slurmd asks for 8 GPUs, but extraConf names no Gres, so Slurm gives no job a GPU of these nodes", "set extraConf to Gres=gpu:8") with input as examples.bad_without_gres
}

test_more_gpus_than_the_pods_have_are_found if {
	check.deny == found("/spec/extraConf", "Gres has 8 GPUs, but slurmd asks for 4: slurmd reports fewer, and Slurm drains the nodes", "set Gres to gpu:4, or ask for 8 GPUs") with input as examples.bad_too_many
}

test_gpus_that_no_job_gets_are_found if {
	fewer := json.patch(examples.bad_too_many, [{"op": "replace", "path": "/object/nodeSet/spec/extraConf/gpus", "value": 2}])
	check.deny == found("/spec/extraConf", "Gres has 2 GPUs, but slurmd asks for 4: no job gets the others", "set Gres to gpu:4, or ask for 2 GPUs") with input as fewer
}

test_gres_without_devices_is_found if {
	check.deny == found("/spec/extraConf", "Gres has 4 GPUs, but the pods ask for none: slurmd finds no GPU, and Slurm drains the nodes", "ask for 4 GPUs in the limits of slurmd, or remove Gres") with input as examples.bad_without_devices
}

test_equal_numbers_are_good if {
	check.deny == set() with input as examples.good_gres
	check.deny == set() with input as examples.good_two_types
}

test_nodes_without_gpus_are_good if {
	check.deny == set() with input as examples.good_cpu
}

test_privileged_pods_see_the_gpus_of_their_node if {
	check.deny == set() with input as examples.good_privileged
}

test_no_gpus_on_both_sides_are_good if {
	none := json.patch(examples.bad_without_devices, [{"op": "replace", "path": "/object/nodeSet/spec/extraConf/gpus", "value": 0}])
	check.deny == set() with input as none
	zero := json.patch(examples.bad_without_gres, [{"op": "replace", "path": "/podSets/0/containers/0/accelerators", "value": {"nvidia.com/gpu": {"limits": {"text": "0", "value": 0}}}}])
	check.deny == set() with input as zero
}

test_pods_that_ask_in_another_way_are_left_alone if {
	claim := json.patch(examples.bad_without_devices, [{"op": "replace", "path": "/podSets/0/requests", "value": [{"route": "device claim", "name": "gpu.nvidia.com", "minimum": {"text": "4", "value": 4}}]}])
	check.deny == set() with input as claim
}
