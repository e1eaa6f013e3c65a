package usher.checks.queueing.elastic_job_of_other_kind_test

import data.examples.checks.queueing.elastic_job_of_other_kind as examples
import data.usher.checks.queueing.elastic_job_of_other_kind as check

found(kind) := {{
	"path": "/metadata/annotations/kueue.x-k8s.io~1elastic-job",
	"message": $"Kueue does not support elastic {kind}s, and refuses the annotation kueue.x-k8s.io/elastic-job where it knows the kind",
	"remedy": "remove it, or use a Job, RayCluster, RayJob or RayService",
}}

test_other_kinds_are_found if {
	check.deny == found("PyTorchJob") with input as examples.bad_pytorchjob
	check.deny == found("JobSet") with input as examples.bad_jobset
	check.deny == found("RayCronJob") with input as examples.bad_raycronjob
}

test_kinds_of_the_same_name_in_other_groups_are_found if {
	check.deny == found("Job") with input as examples.bad_volcano_job
	elsewhere := object.union(examples.good_raycluster, {"workload": {"group": "example.com"}})
	check.deny == found("RayCluster") with input as elsewhere
	of_volcano := object.union(examples.bad_raycronjob, {"workload": {"group": "batch", "kind": "CronJob"}})
	check.deny == found("CronJob") with input as of_volcano
}

test_a_job_and_the_kinds_of_ray_are_good if {
	check.deny == set() with input as examples.good_job
	check.deny == set() with input as examples.good_raycluster
	every kind in ["RayJob", "RayService"] {
		check.deny == set() with input as object.union(examples.good_raycluster, {"workload": {"kind": kind}})
	}
}

test_an_annotation_that_says_no_is_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_what_a_controller_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_jobset, {"workload": {"owned": true}})
}
