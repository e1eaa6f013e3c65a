package usher.mutations.placement.kueue_topology_test

import data.examples.mutations.placement.kueue_topology as examples
import data.usher.mutations.placement.kueue_topology as mutation

rack := "cloud.provider.com/topology-rack"

annotation(at, mode, queue) := {
	"at": at,
	"field": "annotation",
	"value": {"key": $"kueue.x-k8s.io/podset-{mode}-topology", "value": rack},
	"reason": $"usher.yaml asks queue {queue} to keep training pods in one domain of {rack}",
}

skipped(at, reason) := {{"at": at, "reason": reason}}

test_the_workers_of_a_job_are_kept_together_and_its_one_master_is_wherever_it_is if {
	mutation.intents == {annotation(
		"/spec/pytorchReplicaSpecs/Worker/template",
		"preferred",
		"research",
	)} with input as examples.before_pytorchjob
	mutation.skips == skipped(
		"/spec/pytorchReplicaSpecs/Master/template",
		"the template makes only one pod",
	) with input as examples.before_pytorchjob
}

test_a_queue_may_require_it if {
	mutation.intents == {annotation(
		"/spec/replicatedJobs/0/template/spec/template",
		"required",
		"foundation",
	)} with input as examples.before_jobset
	mutation.skips == set() with input as examples.before_jobset
}

test_the_jobs_of_a_cronjob_are_kept_together if {
	mutation.intents == {annotation("/spec/jobTemplate/spec/template", "preferred", "research")} with input as examples.before_cronjob
}

test_a_job_in_another_queue_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_in_another_queue
	mutation.skips == skipped(
		"",
		"the workload is in queue urgent, but usher.yaml sets the topology for research",
	) with input as examples.untouched_pytorchjob_in_another_queue
}

test_a_job_that_volcano_places_is_left_alone if {
	by_volcano := skipped("", "Volcano places its pods")
	mutation.intents == set() with input as examples.untouched_mpijob_routed_to_volcano
	mutation.skips == by_volcano with input as examples.untouched_mpijob_routed_to_volcano
	mutation.intents == set() with input as examples.untouched_pytorchjob_on_volcano
	mutation.skips == by_volcano with input as examples.untouched_pytorchjob_on_volcano
}

test_a_job_that_speaks_of_topology_on_any_template_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_placed_anywhere
	mutation.skips == skipped(
		"",
		"a template already sets a topology annotation of Kueue",
	) with input as examples.untouched_pytorchjob_placed_anywhere
}

otherwise := skipped("", "another setting already keeps its pods together")

test_exclusive_topology_and_pod_affinity_are_mechanisms_of_their_own if {
	mutation.intents == set() with input as examples.untouched_jobset_with_exclusive_topology
	mutation.skips == otherwise with input as examples.untouched_jobset_with_exclusive_topology
	mutation.intents == set() with input as examples.untouched_jobset_with_exclusive_topology_of_pods
	mutation.intents == set() with input as examples.untouched_pytorchjob_with_pod_affinity
	mutation.skips == otherwise with input as examples.untouched_pytorchjob_with_pod_affinity
}

test_so_is_volcanos_network_topology_for_ray if {
	labelled := json.patch(examples.before_pytorchjob, [{
		"op": "add",
		"path": "/workload/labels/volcano.sh~1network-topology-mode",
		"value": "hard",
	}])
	mutation.intents == set() with input as labelled
	mutation.skips == otherwise with input as labelled
}

spread(at) := skipped(at, $"the template spreads its pods over {rack} or larger domains")

test_a_template_that_spreads_its_pods_over_racks_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_job_spread_over_zones
	mutation.skips == spread("/spec/template") with input as examples.untouched_job_spread_over_zones
	mutation.intents == set() with input as examples.untouched_job_with_anti_affinity
	mutation.skips == spread("/spec/template") with input as examples.untouched_job_with_anti_affinity
}

test_pods_that_keep_off_each_others_nodes_may_be_in_one_rack if {
	mutation.intents == {annotation("/spec/template", "preferred", "research")} with input as examples.before_job_with_a_node_for_each_pod
}

test_services_are_not_kept_together if {
	mutation.intents == set() with input as examples.untouched_statefulset
	mutation.skips == skipped(
		"",
		"the role of the workload is service, and the webhook keeps only training and models that span pods together",
	) with input as examples.untouched_statefulset
}

test_pods_that_kueue_queues_one_by_one_are_not_kept_together if {
	plain := json.patch(examples.before_job_with_a_node_for_each_pod, [{
		"op": "replace",
		"path": "/workload/kind",
		"value": "Pod",
	}])
	mutation.intents == set() with input as plain
	mutation.skips == skipped("", "Kueue cannot place the pods of a Pod together") with input as plain
}

test_what_a_controller_made_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_job_of_a_cronjob
	mutation.skips == skipped(
		"",
		"a controller made this object, and Kueue places the owner",
	) with input as examples.untouched_job_of_a_cronjob
}

test_a_queue_without_topology_keeps_nothing_together if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_of_a_queue_without_topology
	mutation.skips == skipped(
		"",
		"usher.yaml names no topology for the queue of this workload",
	) with input as examples.untouched_pytorchjob_of_a_queue_without_topology
}

test_a_job_that_kueue_cannot_take_is_left_alone if {
	claim := {"name": "gpu", "resourceClaimName": "one-for-all"}
	job := json.patch(examples.before_jobset, [
		{"op": "add", "path": "/podSets/0/resourceClaims", "value": [claim]},
		{"op": "remove", "path": "/workload/labels/kueue.x-k8s.io~1queue-name"},
	])
	mutation.intents == set() with input as job
	mutation.skips == skipped("", "the workload is in no queue of Kueue") with input as job
}

test_pods_that_each_train_by_themselves_are_not_kept_together if {
	sweep := json.patch(examples.before_jobset, [{"op": "replace", "path": "/workload/gang/wanted", "value": false}])
	mutation.intents == set() with input as sweep
	mutation.skips == skipped("", "each of its pods trains by itself, as far as its command tells") with input as sweep
}

in_group(path) := {
	"at": path,
	"field": "annotation",
	"value": {"key": "kueue.x-k8s.io/podset-group-name", "value": "usher-gang"},
	"reason": "a leader and its workers exchange data, so Kueue places both in one domain",
}

lws := "/spec/leaderWorkerTemplate"

test_a_leader_and_its_workers_are_placed_in_one_domain if {
	mutation.intents == {
		annotation($"{lws}/leaderTemplate", "preferred", "research"),
		annotation($"{lws}/workerTemplate", "preferred", "research"),
		in_group($"{lws}/leaderTemplate"),
		in_group($"{lws}/workerTemplate"),
	} with input as examples.before_leaderworkerset
	mutation.skips == set() with input as examples.before_leaderworkerset
}

test_of_two_templates_one_must_make_a_single_pod if {
	jobs := "/spec/replicatedJobs"
	mutation.intents == {
		annotation($"{jobs}/0/template/spec/template", "preferred", "research"),
		annotation($"{jobs}/1/template/spec/template", "preferred", "research"),
		in_group($"{jobs}/0/template/spec/template"),
		in_group($"{jobs}/1/template/spec/template"),
	} with input as examples.before_jobset_with_a_leader
	several := json.patch(examples.before_jobset_with_a_leader, [{
		"op": "replace",
		"path": "/podSets/0/pods",
		"value": {"minimum": 2, "maximum": 2},
	}])
	mutation.intents == {
		annotation($"{jobs}/0/template/spec/template", "preferred", "research"),
		annotation($"{jobs}/1/template/spec/template", "preferred", "research"),
	} with input as several
}

test_a_template_that_spreads_its_pods_is_in_no_group if {
	spread := json.patch(examples.before_jobset_with_a_leader, [{
		"op": "add",
		"path": "/podSets/1/topologySpreadConstraints",
		"value": [{"topologyKey": rack, "whenUnsatisfiable": "DoNotSchedule"}],
	}])
	mutation.intents == set() with input as spread
}

test_one_template_for_leader_and_workers_needs_no_group if {
	mutation.intents == {annotation($"{lws}/workerTemplate", "preferred", "research")} with input as examples.before_leaderworkerset_of_one_template
}

test_a_group_of_one_pod_serves_alone if {
	single := json.patch(examples.before_leaderworkerset, [{"op": "replace", "path": "/workload/gang/minimum", "value": 1}])
	mutation.intents == set() with input as single
	mutation.skips == skipped(
		"",
		"the role of the workload is inference, and the webhook keeps only training and models that span pods together",
	) with input as single
}

test_a_model_that_spans_pods_is_kept_together_without_a_gang if {
	without_gang := json.patch(examples.before_leaderworkerset, [{"op": "replace", "path": "/workload/gang/wanted", "value": false}])
	count(mutation.intents) == 4 with input as without_gang
}

test_devices_that_kueue_does_not_count_by_node_are_left_alone if {
	some route in ["device claim", "fraction annotation"]
	claiming := json.patch(examples.before_cronjob, [{"op": "replace", "path": "/podSets/0/requests/0/route", "value": route}])
	mutation.intents == set() with input as claiming
	mutation.skips == skipped("", "Kueue counts devices by node only where pods ask for them as resources") with input as claiming
}
