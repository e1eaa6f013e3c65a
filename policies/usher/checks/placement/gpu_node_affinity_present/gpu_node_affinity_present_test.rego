package usher.checks.placement.gpu_node_affinity_present_test

import data.examples.checks.placement.gpu_node_affinity_present as examples
import data.usher.checks.placement.gpu_node_affinity_present as check

undeclared(example) := json.patch(example, [
	{"op": "replace", "path": "/podSets/0/poolsDeclared", "value": false},
	{"op": "replace", "path": "/podSets/0/fits", "value": []},
])

split := {
	"path": "/spec/replicatedJobs/0/template/spec/template/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms",
	"message": "workers: 1 of 2 alternative node affinity terms allow nodes without accelerators",
	"remedy": "make every term select accelerator nodes",
}

test_a_node_selector_is_enough if {
	check.deny == set() with input as examples.good_deployment
}

test_machines_that_no_pool_names_are_selected_too if {
	machine := [{"label": "node.kubernetes.io/instance-type", "values": ["g5.12xlarge"]}]
	selecting := json.patch(examples.bad_pod, [{"op": "add", "path": "/podSets/0/undeclaredLabels", "value": machine}])
	check.deny == set() with input as selecting
	{entry.reason | some entry in check.unknown} == {"the pod may run on another pool: it selects node.kubernetes.io/instance-type=g5.12xlarge, which no pool of usher.yaml names"} with input as selecting
}

test_where_the_queue_of_the_namespace_places_the_pods_nothing_is_found if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_a_queue_that_places_no_pods_changes_nothing if {
	elsewhere := json.patch(examples.good_pytorchjob, [
		{"op": "replace", "path": "/site/queue/placesPods", "value": false},
	])
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/nodeSelector",
		"message": "Worker selects no accelerator nodes by node selector or required node affinity, so any node with its devices may take it",
		"remedy": "select the nodes of one pool, for example h100: example.com/tier=premium, nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3",
	}} with input as elsewhere
}

test_the_label_counts_where_kueue_reads_it_and_on_what_a_queued_deployment_made if {
	check.deny == set() with input as examples.good_cronjob
	check.deny == set() with input as examples.good_replicaset
}

test_another_selector_and_a_preference_pick_no_accelerator_nodes if {
	check.deny == {{
		"path": "/spec/nodeSelector",
		"message": "the pod selects nodes by topology.kubernetes.io/zone=eu-west-1a, but no pool in usher.yaml has these labels, so usher does not know that they are accelerator nodes",
		"remedy": "select the nodes of one pool, for example h100: example.com/tier=premium, nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3",
	}} with input as examples.bad_pod
	check.deny == {{
		"path": "/spec/workerGroupSpecs/0/template/spec/nodeSelector",
		"message": "gpu-group selects no accelerator nodes by node selector or required node affinity, so any node with its devices may take it",
		"remedy": "select the nodes of one pool, for example h100: example.com/tier=premium, nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3",
	}} with input as examples.bad_raycluster
}

test_the_only_pool_is_no_example if {
	one := json.patch(examples.bad_pod, [{
		"op": "replace",
		"path": "/podSets/0/fits",
		"value": [{"pool": "mi300", "labels": {"pool": "mi300"}, "untolerated": []}],
	}])
	{finding.remedy | some finding in check.deny} == {"select the nodes of pool mi300: pool=mi300"} with input as one
}

test_pods_that_fit_on_no_pool_are_found_elsewhere if {
	misfit := json.patch(examples.bad_pod, [{"op": "replace", "path": "/podSets/0/fits", "value": []}])
	check.deny == set() with input as misfit
	check.unknown == set() with input as misfit
}

test_terms_without_an_affinity_around_them_are_pointed_at if {
	bare := json.patch(examples.bad_jobset, [{
		"op": "add",
		"path": "/podSets/0/places",
		"value": {"nodeSelectorTerms": "/spec/placement/nodeSelectorTerms"},
	}])
	check.deny == {object.union(split, {"path": "/spec/placement/nodeSelectorTerms"})} with input as bare
}

test_one_term_that_selects_is_not_enough if {
	check.deny == {split} with input as examples.bad_jobset
}

test_without_declared_pools_terms_that_differ_rest_on_an_assumption if {
	assumption := "usher assumes the usual node labels, because usher.yaml declares no node pool that offers what the pods ask for"
	check.deny == {object.union(split, {"assumption": assumption})} with input as undeclared(examples.bad_jobset)
	check.unknown == set() with input as undeclared(examples.bad_jobset)
}

test_without_declared_pools_and_usual_labels_it_is_unknown if {
	check.deny == set() with input as undeclared(examples.bad_pod)
	check.unknown == {{
		"path": "/spec",
		"reason": "usher.yaml declares no node pool that offers what the pods ask for",
	}} with input as undeclared(examples.bad_pod)
}

test_without_declared_pools_selectors_by_usual_labels_are_good if {
	check.deny == set() with input as undeclared(examples.good_deployment)
	check.unknown == set() with input as undeclared(examples.good_deployment)
}

test_what_knative_runs_is_judged_as_pods if {
	check.deny == set() with input as examples.good_knative_service
}

test_a_label_that_kueue_does_not_read_places_nothing if {
	check.deny == {{
		"path": "/spec/tasks/0/template/spec/nodeSelector",
		"message": "worker selects no accelerator nodes by node selector or required node affinity, so any node with its devices may take it",
		"remedy": "select the nodes of one pool, for example h100: example.com/tier=premium, nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3",
	}} with input as examples.bad_volcano_job
}

test_devices_whose_pools_are_not_known_are_unknown if {
	check.deny == set() with input as examples.unknown_claim_of_unmatched_class
	check.unknown == {{
		"path": "/spec",
		"reason": "usher does not know which node pools have devices of class gpu.example.com; a pool offers a class if its resources in usher.yaml list deviceclass.resource.kubernetes.io/gpu.example.com",
	}} with input as examples.unknown_claim_of_unmatched_class
}

test_a_pool_for_others_is_named if {
	kept_off := {"op": "add", "path": "/podSets/0/keptOff", "value": [{"pool": "serving", "reason": "it is for the roles inference"}]}
	found := check.deny with input as json.patch(examples.bad_pod, [kept_off])
	{finding.message | some finding in found} == {"the pod may run on nodes of pool serving, but it is for the roles inference"}
}

test_agents_of_the_system_belong_on_every_node if {
	agent := json.patch(examples.bad_pod, [{"op": "replace", "path": "/workload/role", "value": "system"}])
	check.deny == set() with input as agent
	check.unknown == set() with input as undeclared(agent)
}

test_any_node_that_usher_knows_may_be_meant if {
	read := json.patch(undeclared(examples.bad_pod), [{"op": "add", "path": "/podSets/0/poolsFound", "value": true}])
	check.deny == set() with input as read
	check.unknown == set() with input as read
}

test_pods_that_select_other_devices_than_the_pools_are_found_elsewhere if {
	elsewhere := json.patch(examples.bad_pod, [
		{"op": "add", "path": "/podSets/0/undeclaredDevices", "value": [{"label": "nvidia.com/gpu.product", "values": ["NVIDIA-L4"]}]},
	])
	check.deny == set() with input as elsewhere
}
