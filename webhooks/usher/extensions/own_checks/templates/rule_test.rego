package usher.checks.<category>.<name>_test

import data.examples.checks.<category>.<name> as examples
import data.usher.checks.<category>.<name> as check

test_what_is_wrong_is_found if {
	check.deny == {{
		"path": "/spec",
		"message": "the pod asks for 9 of nvidia.com/gpu",
		"remedy": "ask for fewer",
	}} with input as examples.bad_pod
}

test_what_is_right_is_good if {
	check.deny == set() with input as examples.good_pod
}
