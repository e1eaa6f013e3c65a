package usher.checks.queueing.ray_autoscaling_without_elastic_job_test

import data.examples.checks.queueing.ray_autoscaling_without_elastic_job as examples
import data.usher.checks.queueing.ray_autoscaling_without_elastic_job as check

found(path, kind) := {{
	"path": $"{path}/enableInTreeAutoscaling",
	"message": $"the cluster of the {kind} scales itself, so Kueue refuses it in a queue unless it is an elastic job",
	"remedy": `set the annotation kueue.x-k8s.io/elastic-job: "true", or turn enableInTreeAutoscaling off`,
}}

test_a_cluster_that_scales_itself_is_found_in_every_kind if {
	check.deny == found("/spec", "RayCluster") with input as examples.bad_raycluster
	check.deny == found("/spec/rayClusterSpec", "RayJob") with input as examples.bad_rayjob
	check.deny == found("/spec/rayClusterConfig", "RayService") with input as examples.bad_rayservice
}

test_an_elastic_job_is_good if {
	check.deny == set() with input as examples.good_rayjob
}

test_only_the_word_true_makes_an_elastic_job if {
	worded := json.patch(examples.good_rayjob, [{
		"op": "replace",
		"path": "/workload/annotations/kueue.x-k8s.io~1elastic-job",
		"value": "yes",
	}])
	check.deny == found("/spec/rayClusterSpec", "RayJob") with input as worded
}

test_a_cluster_of_a_fixed_size_is_good if {
	check.deny == set() with input as examples.good_raycluster
}

test_a_cluster_in_no_queue_may_scale_itself if {
	check.deny == set() with input as examples.good_raycluster_in_no_queue
}
