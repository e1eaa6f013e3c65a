package usher.checks.gang.ray_keys_that_nobody_reads_test

import data.examples.checks.gang.ray_keys_that_nobody_reads as examples
import data.usher.checks.gang.ray_keys_that_nobody_reads as check

found(kind, sort, key, label) := {
	"path": $"/metadata/{sort}s/{replace(key, "/", "~1")}",
	"message": $"KubeRay does not read the {sort} {key} of a {kind}",
	"remedy": $"set the label {label} of the {kind}",
}

queue := "volcano.sh/queue-name"

tier := "volcano.sh/network-topology-highest-tier-allowed"

test_keys_that_are_read_on_pods_only_are_found if {
	check.deny == {
		found("RayCluster", "annotation", "scheduling.volcano.sh/queue-name", queue),
		found("RayCluster", "annotation", "volcano.sh/network-topology-highest-tier", tier),
	} with input as examples.bad_raycluster
}

test_labels_under_names_of_volcano_are_found if {
	check.deny == {
		found("RayJob", "label", "scheduling.volcano.sh/queue-name", queue),
		found("RayJob", "label", "volcano.sh/network-topology-highest-tier", tier),
	} with input as examples.bad_rayjob
}

test_the_right_names_as_annotations_are_found if {
	class := "ray.io/priority-class-name"
	check.deny == {
		found("RayService", "annotation", queue, queue),
		found("RayService", "annotation", class, class),
	} with input as examples.bad_rayservice
	topology := object.union(
		json.remove(examples.bad_raycluster, ["/workload/annotations"]),
		{"workload": {"annotations": {tier: "2", "volcano.sh/network-topology-mode": "hard"}}},
	)
	check.deny == {
		found("RayCluster", "annotation", tier, tier),
		found("RayCluster", "annotation", "volcano.sh/network-topology-mode", "volcano.sh/network-topology-mode"),
	} with input as topology
}

test_an_ignored_key_beside_the_label_does_no_harm if {
	check.deny == set() with input as examples.good_raycluster
	queued := object.union(examples.bad_rayjob, {"workload": {"labels": {queue: "research", tier: "2"}}})
	check.deny == set() with input as queued
}

test_other_kinds_are_read_by_volcano_itself if {
	check.deny == set() with input as examples.good_pod_of_volcano
	other := object.union(examples.bad_rayjob, {"workload": {"group": "jobset.x-k8s.io"}})
	check.deny == set() with input as other
}

test_of_a_ray_cron_job_no_label_is_read_either if {
	cron_job := object.union(examples.bad_rayjob, {"workload": {"kind": "RayCronJob"}})
	check.deny == set() with input as cron_job
}
