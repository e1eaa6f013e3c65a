package usher.checks.resources.cpus_below_processes_test

import data.examples.checks.resources.cpus_below_processes as examples
import data.usher.checks.resources.cpus_below_processes as check

found(what, limit, least) := {{
	"path": "/spec/template/spec/containers/0/resources/limits/cpu",
	"message": $"container trainer {what}, but its cpu limit is {limit}, so the GPUs wait for CPUs",
	"remedy": $"set the limit of cpu to {least} at least, or remove it",
}}

test_each_gpu_needs_a_cpu if {
	check.deny == found("has 8 GPUs", "4", 8) with input as examples.bad_by_gpus
	check.deny == found("has 2 GPUs", "500m", 2) with input as examples.bad_half_a_cpu
}

test_each_process_needs_a_cpu if {
	check.deny == found("starts 32 processes", "2", 32) with input as examples.bad_by_processes
}

test_trainium_devices_are_not_called_gpus if {
	trainium := json.patch(examples.bad_by_processes, [
		{"op": "replace", "path": "/podSets/0/containers/0/accelerators", "value": {"aws.amazon.com/neuron": {}}},
	])
	some finding in check.deny with input as trainium
	finding.message == "container trainer starts 32 processes, but its cpu limit is 2, so the accelerators wait for CPUs"
}

test_a_cpu_for_each_process_is_enough if {
	check.deny == set() with input as examples.good_job
	exact := json.patch(examples.good_job, [{
		"op": "replace",
		"path": "/podSets/0/containers/0/resources/cpu/limits/milli",
		"value": 8000,
	}])
	check.deny == set() with input as exact
}

test_one_gpu_may_share_a_cpu if {
	check.deny == set() with input as examples.good_one_gpu
}

test_a_container_without_a_limit_may_use_all_cpus if {
	check.deny == set() with input as examples.good_without_limit
}

test_the_size_of_nodes_runs_no_program if {
	check.deny == set() with input as examples.good_size_of_nodes
}

test_init_containers_do_not_count if {
	first := json.patch(examples.bad_by_gpus, [{
		"op": "replace",
		"path": "/podSets/0/containers/0/type",
		"value": "init container",
	}])
	check.deny == set() with input as first
}
