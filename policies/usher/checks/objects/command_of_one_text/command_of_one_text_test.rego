package usher.checks.objects.command_of_one_text_test

import data.examples.checks.objects.command_of_one_text as examples
import data.usher.checks.objects.command_of_one_text as check

found(path, name) := {{
	"path": path,
	"message": $"the command of container {name} is one text with spaces, and no program has that name, so the container never starts",
	"remedy": "write each word as an entry of its own, or start a shell: [sh, -c, \"...\"]",
}}

test_a_command_line_in_one_entry_is_found if {
	check.deny == found("/spec/containers/0/command/0", "server") with input as examples.bad_pod
	check.deny == found("/spec/containers/0/command/0", "server") with input as examples.bad_lines
	check.deny == found("/spec/template/spec/containers/0/command/0", "trainer") with input as examples.bad_job
}

test_words_and_shells_are_good if {
	check.deny == set() with input as examples.good_words
	check.deny == set() with input as examples.good_shell
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as json.patch(examples.bad_pod, [{"op": "replace", "path": "/workload/owned", "value": true}])
}
