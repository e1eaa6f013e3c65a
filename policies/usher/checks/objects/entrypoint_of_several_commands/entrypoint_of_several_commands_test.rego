package usher.checks.objects.entrypoint_of_several_commands_test

import data.examples.checks.objects.entrypoint_of_several_commands as examples
import data.usher.checks.objects.entrypoint_of_several_commands as check

found(operator) := {{
	"path": "/spec/entrypoint",
	"message": $"the entry point has several commands, and all behind {operator} run in the pod that submits the job, without GPUs",
	"remedy": "put the commands into one: bash -c '...'",
	"assumption": "usher assumes KubeRay 1.3 or later",
}}

test_the_second_command_runs_in_the_submitter if {
	check.deny == found("&&") with input as examples.bad_and
	check.deny == found("a line break") with input as examples.bad_lines
	check.deny == found(";") with input as examples.bad_sidecar
}

test_one_command_is_good if {
	check.deny == set() with input as examples.good_one_command
	check.deny == set() with input as examples.good_shell
}

test_a_submission_without_a_shell_is_good if {
	check.deny == set() with input as examples.good_http
}

test_a_job_without_accelerators_is_skipped if {
	check.deny == set() with input as object.union(examples.bad_and, {"podSets": []})
}
