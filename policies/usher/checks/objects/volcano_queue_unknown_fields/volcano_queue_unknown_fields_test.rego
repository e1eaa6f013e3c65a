package usher.checks.objects.volcano_queue_unknown_fields_test

import data.examples.checks.objects.volcano_queue_unknown_fields as examples
import data.usher.checks.objects.volcano_queue_unknown_fields as check

found(field) := {
	"path": $"/spec/{field}",
	"message": $"a Volcano queue has no field {field}",
	"remedy": $"remove {field}; reclaimable decides whether others may take back what the queue has borrowed",
}

test_fields_that_do_not_exist_are_found_whatever_they_say if {
	check.deny == {found("preemptable"), found("preemptionPolicy")} with input as examples.bad_queue
	check.deny == {found("preemptable")} with input as examples.bad_queue_that_is_not_preemptable
	check.deny == {found("preemptionPolicy")} with input as examples.bad_queue_with_policy
}

test_fields_that_exist_are_good if {
	check.deny == set() with input as examples.good_queue
	check.deny == set() with input as examples.good_queue_without_spec
}
