package usher.checks.queueing.role_label_without_effect_test

import data.examples.checks.queueing.role_label_without_effect as examples
import data.usher.checks.queueing.role_label_without_effect as check

test_a_label_that_usher_yaml_does_not_trust_is_found if {
	check.deny == {{
		"path": "/metadata/labels/gpu-usher.io~1role",
		"message": "the role of the workload is batch: its label gpu-usher.io/role: training does not count, because queues[0] of usher.yaml depends on the role and trusts no label",
		"remedy": "remove the label, or have a rule of roles with fromLabel added to usher.yaml",
	}} with input as examples.bad_job
}

test_no_label_makes_a_workload_part_of_the_system if {
	some finding in check.deny with input as examples.bad_pod_of_the_system
	endswith(finding.message, "only usher.yaml and the kind make a workload part of the system")
}

test_what_a_controller_made_is_judged_at_its_owner if {
	check.deny == set() with input as json.patch(examples.bad_job, [{"op": "replace", "path": "/workload/owned", "value": true}])
}

test_a_label_on_which_nothing_depends_counts if {
	check.deny == set() with input as examples.good_job_elsewhere
}

test_a_label_that_says_what_the_workload_is_is_good if {
	check.deny == set() with input as examples.good_job_of_its_role
}
