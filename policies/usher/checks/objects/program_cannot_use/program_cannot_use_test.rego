package usher.checks.objects.program_cannot_use_test

import data.examples.checks.objects.program_cannot_use as examples
import data.usher.checks.objects.program_cannot_use as check

found(path, message, remedy) := {"path": path, "message": message, "remedy": remedy}

test_an_option_that_a_version_no_longer_has_is_found if {
	check.deny == {found(
		"/spec/template/spec/containers/0/args/1",
		"Deployment starts vLLM with the option --enable-reasoning, which version 0.10.0 no longer has",
		"remove it, and keep --reasoning-parser",
	)} with input as examples.bad_deployment
}

test_a_misspelt_option_is_found if {
	check.deny == {found(
		"/spec/template/spec/containers/0/args/1",
		"Deployment starts vLLM with the option --max-modle-len, which it does not know",
		"did you mean --max-model-len?",
	)} with input as examples.bad_deployment_misspelt
}

test_a_variable_in_a_command_without_a_shell_is_found if {
	check.deny == {found(
		"/spec/template/spec/containers/0/args/0",
		"Deployment uses $MODEL in a command that no shell reads, so the program gets it as it is written",
		"write $(MODEL)",
	)} with input as examples.bad_deployment_without_shell
}

test_other_arguments_pass if {
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_deployment)
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_deployment_with_shell)
}
