package usher.checks.scaling.scaled_job_without_bound_test

import data.examples.checks.scaling.scaled_job_without_bound as examples
import data.usher.checks.scaling.scaled_job_without_bound as check

unbounded := {{
	"path": "/spec",
	"message": "maxReplicaCount is missing, so KEDA may run 100 Jobs at once, and each asks for accelerators",
	"remedy": "set maxReplicaCount",
}}

test_a_missing_bound_is_found if {
	check.deny == unbounded with input as examples.bad_scaledjob
	check.deny == unbounded with input as examples.bad_scaledjob_of_several_pods
	check.deny == unbounded with input as examples.bad_scaledjob_with_a_minimum
}

test_any_bound_is_good if {
	check.deny == set() with input as examples.good_scaledjob
}

test_other_kinds_have_other_bounds if {
	check.deny == set() with input as examples.good_job
}
