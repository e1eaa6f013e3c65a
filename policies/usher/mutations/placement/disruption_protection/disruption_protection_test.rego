package usher.mutations.placement.disruption_protection_test

import data.examples.mutations.placement.disruption_protection as examples
import data.usher.mutations.placement.disruption_protection as mutation

protected(at) := {annotation |
	some key, value in {
		"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
		"karpenter.sh/do-not-disrupt": "true",
	}
	annotation := {
		"at": at,
		"field": "annotation",
		"value": {"key": key, "value": value},
		"reason": "training loses all work since its last checkpoint when an autoscaler moves it",
	}
}

skipped(at, reason) := {{"at": at, "reason": reason}}

test_all_pods_of_a_gang_stay_where_they_are_with_its_launcher if {
	mutation.intents == protected("/spec/mpiReplicaSpecs/Worker/template") | protected("/spec/mpiReplicaSpecs/Launcher/template") with input as examples.before_mpijob
	mutation.skips == set() with input as examples.before_mpijob
}

test_so_does_a_pod_that_trains if {
	mutation.intents == protected("") with input as examples.before_pod_on_spot_nodes
}

test_what_a_template_says_of_either_autoscaler_stays if {
	mutation.intents == protected("/spec/pytorchReplicaSpecs/Worker/template") with input as examples.before_pytorchjob
	mutation.skips == skipped(
		"/spec/pytorchReplicaSpecs/Master/template",
		"the template already sets an annotation for autoscalers",
	) with input as examples.before_pytorchjob
}

test_services_may_be_moved if {
	mutation.intents == set() with input as examples.untouched_deployment
	mutation.skips == skipped(
		"",
		"the role of the workload is service, and the webhook protects only training",
	) with input as examples.untouched_deployment
}

test_what_people_work_in_may_be_moved if {
	mutation.intents == set() with input as examples.untouched_notebook
}

test_what_a_controller_made_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_pod_of_a_pytorchjob
	mutation.skips == skipped(
		"",
		"a controller made this object, and the webhook protects the owner",
	) with input as examples.untouched_pod_of_a_pytorchjob
}

test_the_other_steps_of_a_workflow_may_be_moved if {
	mutation.intents == protected("/spec/templates/2") with input as examples.before_workflow
}

test_what_makes_no_gang_is_protected_only_where_it_uses_accelerators if {
	alone := json.patch(examples.before_mpijob, [{"op": "replace", "path": "/workload/gang/wanted", "value": false}])
	mutation.intents == protected("/spec/mpiReplicaSpecs/Worker/template") with input as alone
}
