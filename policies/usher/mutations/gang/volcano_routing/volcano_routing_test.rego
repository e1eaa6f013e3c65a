package usher.mutations.gang.volcano_routing_test

import data.examples.mutations.gang.volcano_routing as examples
import data.usher.mutations.gang.volcano_routing as mutation

scheduler(at) := {
	"at": at,
	"field": "schedulerName",
	"value": {"name": "volcano"},
	"reason": "all pods of a gang need one scheduler",
}

gang(kind, policy) := {
	"at": "",
	"field": "gangPolicy",
	"value": policy,
	"reason": $"{kind}s of namespace ml-research run as gangs in queue research",
}

test_all_pods_of_a_pytorchjob_form_a_gang if {
	mutation.intents == {
		scheduler("/spec/pytorchReplicaSpecs/Master/template"),
		scheduler("/spec/pytorchReplicaSpecs/Worker/template"),
		gang("PyTorchJob", {"queue": "research"}),
	} with input as examples.before_pytorchjob
}

test_the_launcher_of_an_mpijob_belongs_to_the_gang if {
	mutation.intents == {
		scheduler("/spec/mpiReplicaSpecs/Launcher/template"),
		scheduler("/spec/mpiReplicaSpecs/Worker/template"),
		gang("MPIJob", {"queue": "research"}),
	} with input as examples.before_mpijob
}

test_an_elastic_job_is_routed_like_any_other if {
	mutation.intents == {
		scheduler("/spec/pytorchReplicaSpecs/Master/template"),
		scheduler("/spec/pytorchReplicaSpecs/Worker/template"),
		gang("PyTorchJob", {"queue": "research"}),
	} with input as examples.before_elastic_pytorchjob
}

test_a_kind_without_gang_settings_is_given_the_scheduler_alone if {
	plain := json.patch(examples.before_mpijob, [{"op": "remove", "path": "/workload/gangPolicyPath"}])
	mutation.intents == {
		scheduler("/spec/mpiReplicaSpecs/Launcher/template"),
		scheduler("/spec/mpiReplicaSpecs/Worker/template"),
	} with input as plain
}

test_a_job_with_another_scheduler_on_any_template_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_on_another_scheduler
}

test_a_job_that_kueue_places_by_topology_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_placed_by_kueue
}

test_a_single_pod_is_no_gang if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_of_one_pod
}

test_what_a_controller_made_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_owned_pytorchjob
}

test_a_kind_that_is_not_routed_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_deployment
}
