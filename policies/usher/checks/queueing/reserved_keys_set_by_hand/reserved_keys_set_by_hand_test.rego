package usher.checks.queueing.reserved_keys_set_by_hand_test

import data.examples.checks.queueing.reserved_keys_set_by_hand as examples
import data.usher.checks.queueing.reserved_keys_set_by_hand as check

found(path, kind, key, value) := {
	"path": $"{path}/{kind}s/kueue.x-k8s.io~1{key}",
	"message": $"the {kind} kueue.x-k8s.io/{key} {value} is set by hand, but only Kueue sets it when it admits the workload",
	"remedy": "remove it",
}

test_a_running_job_used_anew_is_found if {
	check.deny == {
		found("/spec/template/metadata", "label", "cluster-queue-name", `"gpus"`),
		found("/spec/template/metadata", "label", "local-queue-name", `"research"`),
		found("/spec/template/metadata", "label", "podset", `"main"`),
		found("/spec/template/metadata", "annotation", "workload", `"job-distil-1f2e3"`),
	} with input as examples.bad_job
}

test_a_pod_that_says_it_is_managed_may_be_marked_by_kueue if {
	check.deny == {
		found("/metadata", "label", "local-queue-name", `"vision"`),
		found("/metadata", "annotation", "workload", `"somebody-elses"`),
	} with input as examples.bad_pod
}

test_marks_of_pods_on_a_template_are_found if {
	path := "/spec/replicatedJobs/0/template/spec/template/metadata"
	check.deny == {
		found("/metadata", "label", "managed", `"true"`),
		found(path, "label", "managed", `"true"`),
		found(path, "annotation", "role-hash", `"0123abcd"`),
	} with input as examples.bad_jobset
}

test_what_the_webhooks_of_kueue_set_is_left_alone if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_deployment
	every kind in ["StatefulSet", "LeaderWorkerSet"] {
		check.deny == set() with input as object.union(examples.good_deployment, {"workload": {"kind": kind}})
	}
}

test_some_identities_may if {
	every identity in ["administrators", "controllers", "backup"] {
		check.deny == set() with input as object.union(examples.bad_job, {"review": {"by": [identity]}})
	}
	count(check.deny) == 4 with input as object.union(examples.bad_job, {"review": {"by": ["schedulers"]}})
}

test_without_a_parameter_nobody_else_may if {
	count(check.deny) == 4 with input as json.remove(examples.bad_job, ["/site/parameters"])
}

test_what_a_controller_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_job, {"workload": {"owned": true}})
}

test_later_changes_are_left_alone if {
	check.deny == set() with input as object.union(examples.bad_job, {"review": {"operation": "UPDATE"}})
}

test_where_nobody_asks_kueue_may_have_set_it if {
	check.deny == set() with input as json.remove(examples.bad_job, ["/review"])
}
