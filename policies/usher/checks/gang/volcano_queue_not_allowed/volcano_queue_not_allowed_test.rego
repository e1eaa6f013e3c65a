package usher.checks.gang.volcano_queue_not_allowed_test

import data.examples.checks.gang.volcano_queue_not_allowed as examples
import data.usher.checks.gang.volcano_queue_not_allowed as check

found(path) := {{
	"path": path,
	"message": `Volcano queue "production" is not allowed in this namespace`,
	"remedy": "use one of the allowed queues: research, research-spot",
}}

annotation := "annotations/scheduling.volcano.sh~1queue-name"

test_a_queue_of_others_is_found_wherever_it_is_named if {
	check.deny == found("/spec/queue") with input as examples.bad_volcano_job
	check.deny == found("/spec/runPolicy/schedulingPolicy/queue") with input as examples.bad_pytorchjob
	check.deny == found("/metadata/labels/volcano.sh~1queue-name") with input as examples.bad_raycluster
	check.deny == found($"/metadata/{annotation}") with input as examples.bad_pod
	check.deny == found($"/metadata/{annotation}") with input as examples.bad_trainjob
	check.deny == found($"/spec/template/metadata/{annotation}") with input as examples.bad_deployment
}

test_a_queue_of_the_namespace_is_good if {
	check.deny == set() with input as examples.good_volcano_job
	check.deny == set() with input as examples.good_raycluster
}

test_no_queue_at_all_is_good if {
	check.deny == set() with input as examples.good_pytorchjob_without_queue
}

test_a_queue_of_others_is_found_in_a_pod_group if {
	check.deny == found("/spec/queue") with input as examples.bad_pod_group
	check.deny == found("/spec/queue") with input as examples.bad_pod_group_by_review
	check.deny == {object.union(
		each,
		{"message": `Volcano queue "default" is not allowed in this namespace`},
	) |
		some each in found("/spec/queue")
	} with input as examples.bad_pod_group_in_the_default_queue
}

test_a_pod_group_in_a_queue_of_the_namespace_or_in_no_queue_is_good if {
	check.deny == set() with input as examples.good_pod_group
	check.deny == set() with input as examples.good_pod_group_without_queue
}

asked(identity) := json.patch(
	examples.bad_pod_group_by_review,
	[{"op": "replace", "path": "/review/by", "value": [identity]}],
)

test_those_who_run_the_cluster_make_groups_as_they_like if {
	check.deny == set() with input as examples.good_pod_group_by_volcano
	check.deny == found("/spec/queue") with input as asked("auditors")
	every identity in ["administrators", "controllers"] {
		check.deny == set() with input as asked(identity)
	}
}

test_without_a_list_every_queue_is_good if {
	check.deny == set() with input as examples.good_pod_group_elsewhere
	check.deny == set() with input as examples.good_deployment_elsewhere
}

test_on_other_kinds_the_label_names_no_queue if {
	pod := object.union(examples.good_raycluster, {"workload": {
		"group": "",
		"labels": {"volcano.sh/queue-name": "production"},
	}})
	check.deny == set() with input as pod
}
