package usher.checks.queueing.partial_admission_of_a_gang_test

import data.examples.checks.queueing.partial_admission_of_a_gang as examples
import data.usher.checks.queueing.partial_admission_of_a_gang as check

path := "/metadata/annotations/kueue.x-k8s.io~1job-min-parallelism"

of_volcano := {{
	"path": path,
	"message": "Kueue may start only 2 of this Job's 8 pods, but Volcano places no pods until 8 exist",
	"remedy": "remove kueue.x-k8s.io/job-min-parallelism, or set scheduling.volcano.sh/group-min-member to 2",
}}

test_fewer_pods_than_volcano_wants_are_found if {
	check.deny == of_volcano with input as examples.bad_job_of_volcano
	check.unknown == set() with input as examples.bad_job_of_volcano
}

test_the_schedulers_of_usher_yaml_are_volcano_too if {
	check.deny == of_volcano with input as examples.bad_job_of_another_volcano
}

test_a_training_that_waits_for_all_its_pods_is_found if {
	check.deny == {{
		"path": path,
		"message": "Kueue may start only 4 of this training's 8 pods, and they wait for the others",
		"remedy": "remove kueue.x-k8s.io/job-min-parallelism",
	}} with input as examples.bad_training
}

test_a_gang_that_is_content_with_as_few_is_good if {
	check.deny == set() with input as examples.good_job_of_volcano
}

test_a_batch_of_independent_pods_is_good if {
	check.deny == set() with input as examples.good_job
	check.unknown == set() with input as examples.good_job
}

test_a_pod_group_by_name_is_unknown if {
	check.deny == set() with input as examples.unknown_job
	check.unknown == {{
		"path": path,
		"reason": "usher does not know the minMember of PodGroup ring, so the group may wait for more than the 2 pods that Kueue starts",
	}} with input as examples.unknown_job
}

test_another_scheduler_knows_nothing_of_volcano if {
	elsewhere := [{"op": "replace", "path": "/podSets/0/schedulerName", "value": "default-scheduler"}]
	check.deny == set() with input as json.patch(examples.bad_job_of_volcano, elsewhere)
	check.unknown == set() with input as json.patch(examples.unknown_job, elsewhere)
}

test_a_job_in_no_queue_is_admitted_by_nobody if {
	without := ["/workload/labels/kueue.x-k8s.io~1queue-name"]
	check.deny == set() with input as json.remove(examples.bad_job_of_volcano, without)
	check.deny == set() with input as json.remove(examples.bad_training, without)
	check.unknown == set() with input as json.remove(examples.unknown_job, without)
}

test_only_jobs_are_admitted_in_part if {
	check.deny == set() with input as object.union(examples.bad_training, {"workload": {"kind": "JobSet"}})
	check.deny == set() with input as object.union(examples.bad_training, {"workload": {"group": "batch.volcano.sh"}})
}

test_without_the_annotation_all_pods_start_together if {
	check.deny == set() with input as json.remove(
		examples.bad_training,
		["/workload/annotations/kueue.x-k8s.io~1job-min-parallelism"],
	)
}
