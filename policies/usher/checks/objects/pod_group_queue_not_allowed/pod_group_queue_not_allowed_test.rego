package usher.checks.objects.pod_group_queue_not_allowed_test

import data.examples.checks.objects.pod_group_queue_not_allowed as examples
import data.usher.checks.objects.pod_group_queue_not_allowed as check

found(queue) := {{
	"path": "/spec/queue",
	"message": $`Volcano queue "{queue}" is not allowed in this namespace`,
	"remedy": "use one of the allowed queues: research, research-spot",
}}

test_a_queue_of_others_is_found if {
	check.deny == found("production") with input as examples.bad_pod_group
	check.deny == found("default") with input as examples.bad_pod_group_in_the_default_queue
	check.deny == found("production") with input as examples.bad_pod_group_by_review
}

test_a_queue_of_the_namespace_and_none_are_good if {
	check.deny == set() with input as examples.good_pod_group
	check.deny == set() with input as examples.good_pod_group_without_queue
}

test_those_who_run_the_cluster_make_groups_as_they_like if {
	check.deny == set() with input as examples.good_pod_group_by_volcano
	other := json.patch(examples.bad_pod_group_by_review, [{"op": "replace", "path": "/review/by", "value": ["auditors"]}])
	check.deny == found("production") with input as other
	every identity in ["administrators", "controllers"] {
		asked := json.patch(examples.bad_pod_group_by_review, [{"op": "replace", "path": "/review/by", "value": [identity]}])
		check.deny == set() with input as asked
	}
}

test_without_a_list_every_queue_is_good if {
	check.deny == set() with input as examples.good_pod_group_elsewhere
}
