package usher.checks.cost.spot_training_without_checkpoint_test

import data.examples.checks.cost.spot_training_without_checkpoint as examples
import data.usher.checks.cost.spot_training_without_checkpoint as check

remedy := "mount a volume for checkpoints, or name their location in the annotation gpu-usher.io/checkpoint"

test_spot_nodes_that_are_selected_are_found_though_data_are_mounted if {
	check.deny == {{
		"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/nodeSelector",
		"message": "Worker trains on spot nodes (karpenter.sh/capacity-type: spot), but mounts no volume that keeps checkpoints",
		"remedy": remedy,
	}} with input as examples.bad_pytorchjob
}

test_spot_nodes_that_affinity_allows_are_found if {
	check.deny == {{
		"path": "/spec/template/spec/affinity",
		"message": "the pod may train on spot nodes (eks.amazonaws.com/capacityType: SPOT), but mounts no volume that keeps checkpoints",
		"remedy": remedy,
	}} with input as examples.bad_job
}

test_spot_nodes_that_are_tolerated_are_found if {
	check.deny == {{
		"path": "/spec/mpiReplicaSpecs/Worker/template/spec/tolerations/1",
		"message": "Worker may train on spot nodes (it tolerates kubernetes.azure.com/scalesetpriority), but mounts no volume that keeps checkpoints",
		"remedy": remedy,
	}} with input as examples.bad_mpijob
}

test_a_site_may_have_keys_of_its_own if {
	check.deny == {{
		"path": "/spec/tolerations/0",
		"message": "the pod may train on spot nodes (it tolerates example.com/scavenged), but mounts no volume that keeps checkpoints",
		"remedy": remedy,
	}} with input as examples.bad_pod_on_scavenged_nodes
}

test_volumes_that_outlive_the_node_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
	check.deny == set() with input as examples.good_job_with_nfs
	check.deny == set() with input as examples.good_job_with_bucket
	check.deny == set() with input as examples.good_statefulset
}

test_an_annotation_of_the_object_says_where_checkpoints_go if {
	check.deny == set() with input as examples.good_mpijob
}

test_whoever_selects_nodes_that_stay_may_tolerate_others if {
	check.deny == set() with input as examples.good_job_on_nodes_that_stay
}

test_other_workloads_need_no_checkpoint if {
	check.deny == set() with input as examples.good_deployment
}

test_what_a_controller_made_was_judged_at_its_owner if {
	check.deny == set() with input as examples.good_pod_of_a_pytorchjob
}
