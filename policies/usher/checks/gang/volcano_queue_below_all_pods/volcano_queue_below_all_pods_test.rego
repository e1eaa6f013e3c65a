package usher.checks.gang.volcano_queue_below_all_pods_test

import data.examples.checks.gang.volcano_queue_below_all_pods as examples
import data.usher.checks.gang.volcano_queue_below_all_pods as check

found(path, takes, queue, can) := {
	"path": path,
	"message": $"all pods together need {takes}, but Volcano queue {queue} can never give more than {can}, so some pods wait forever",
	"remedy": $"ask for at most {can} of nvidia.com/gpu, or choose a queue with more",
}

test_pods_that_wait_for_ever_are_found if {
	takes := "64 of nvidia.com/gpu (8 worker x 8)"
	check.deny == {found("/spec/queue", takes, "research", "32")} with input as examples.bad_volcano_job
	place := "/spec/template/metadata/annotations/scheduling.volcano.sh~1queue-name"
	several := "33 of nvidia.com/gpu (33 pods x 1)"
	check.deny == {found(place, several, "research", "32")} with input as examples.bad_deployment
}

test_queues_above_count_where_the_scheduler_knows_of_them if {
	assumed := {"assumption": "usher assumes that the plugin capacity of Volcano's scheduler has enableHierarchy"}
	expected := object.union(found("/spec/queue", "32 of nvidia.com/gpu (4 worker x 8)", "lab", "16"), assumed)
	check.deny == {expected} with input as examples.bad_below_another_queue
}

test_what_fits_is_good if {
	check.deny == set() with input as examples.good_volcano_job
}

test_what_never_starts_is_for_another_check if {
	check.deny == set() with input as examples.good_volcano_job_that_never_fits
}
