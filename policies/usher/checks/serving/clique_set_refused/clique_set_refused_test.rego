package usher.checks.serving.clique_set_refused_test

import data.examples.checks.serving.clique_set_refused as examples
import data.usher.checks.serving.clique_set_refused as check

messages := {[found.path, found.message] | some found in check.deny}

test_a_minimum_above_the_replicas_is_refused if {
	messages == {["/spec/template/cliques/0/spec/minAvailable", "Grove refuses minAvailable 3 above replicas 2"]} with input as examples.bad_minimum
}

test_a_scaling_group_is_refused_for_its_minimum_and_its_names if {
	messages == {
		["/spec/template/podCliqueScalingGroups/0/minAvailable", "Grove refuses minAvailable 3 above replicas 2"],
		[
			"/spec/template/podCliqueScalingGroups/0/cliqueNames/1",
			`Grove refuses scaling group "prefill", because no clique has the name "workers"`,
		],
	} with input as examples.bad_group
}

test_cliques_of_several_schedulers_are_refused if {
	message := "Grove refuses cliques of several schedulers (kai-scheduler, default-scheduler)"
	messages == {
		["/spec/template/cliques/1/spec/podSpec/schedulerName", message],
		["/spec/template/cliques/2/spec/podSpec/schedulerName", message],
	} with input as examples.bad_schedulers
}

test_kai_needs_one_queue if {
	messages == {["", "Grove refuses a PodCliqueSet for KAI-Scheduler without a queue"]} with input as examples.bad_queue
	messages == {["", "Grove refuses a PodCliqueSet that names several queues of KAI-Scheduler (a, b)"]} with input as examples.bad_queues
}

test_autoscaling_is_refused_below_the_minimum_and_in_a_group if {
	{found[0] | some found in messages} == {
		"/spec/template/cliques/0/spec/autoScalingConfig",
		"/spec/template/cliques/0/spec/autoScalingConfig/maxReplicas",
		"/spec/template/cliques/0/spec/autoScalingConfig/minReplicas",
		"/spec/template/podCliqueScalingGroups/1/cliqueNames/0",
	} with input as examples.bad_autoscaling
}

test_good_ones_pass if {
	every example in [examples.good_groups, examples.good_queue_of_cliques] {
		check.deny == set() with input as example
	}
}
