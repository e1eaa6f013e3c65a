package usher.checks.fabric.nccl_debug_left_on_test

import data.examples.checks.fabric.nccl_debug_left_on as examples
import data.usher.checks.fabric.nccl_debug_left_on as check

found(path, name, value) := {
	"path": path,
	"message": $"{name}: NCCL_DEBUG {value} makes every rank write log lines that only debugging needs",
	"remedy": "set NCCL_DEBUG to WARN, which still reports errors",
}

test_info_is_found_in_every_template if {
	check.deny == {
		found("/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/env/0", "container pytorch of Master", `"INFO"`),
		found("/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env/1", "container pytorch of Worker", `"INFO"`),
	} with input as examples.bad_pytorchjob
}

test_the_word_counts_in_any_case if {
	check.deny == {found("/spec/template/spec/containers/0/env/0", "container bench", `"trace"`)} with input as examples.bad_job
}

test_a_service_is_held_to_the_same if {
	check.deny == {found(
		"/spec/workerGroupSpecs/0/template/spec/containers/0/env/0",
		"container ray-worker of gpu",
		`"Info"`,
	)} with input as examples.bad_raycluster
}

test_warnings_and_what_comes_from_elsewhere_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_a_notebook_may_search_for_errors if {
	check.deny == set() with input as examples.good_notebook
}

test_ranks_that_do_not_see_it_log_nothing if {
	check.deny == set() with input as examples.good_mpijob
}
