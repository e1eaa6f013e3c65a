package usher.checks.placement.selected_nodes_too_small_test

import data.examples.checks.placement.selected_nodes_too_small as examples
import data.usher.checks.placement.selected_nodes_too_small as check

remedy := "ask for no more than one machine has, or let the pods select a pool with larger machines"

test_a_node_pool_with_smaller_machines_is_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
		"message": "the pod selects only nodes that cannot hold it: the closest match is NodePool small (g6.12xlarge); one pod asks for 8 of nvidia.com/gpu, and one node has at most 4",
		"remedy": remedy,
	}} with input as examples.bad_job
}

test_labels_that_a_pool_sets_select_it if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
		"message": "the pod selects only nodes that cannot hold it: the closest match is NodePool small (g6.12xlarge); one pod asks for 8 of nvidia.com/gpu, and one node has at most 4",
		"remedy": remedy,
		"assumption": "usher assumes that no other nodes have the label team=nlp",
	}} with input as examples.bad_job_by_a_label
}

test_labels_that_the_pool_does_not_allow_are_found if {
	check.deny == {{
		"path": "/spec/template/spec/nodeSelector",
		"message": "the pod selects only nodes that cannot hold it: the closest match is NodePool small (g6.12xlarge); its nodes do not have node.kubernetes.io/instance-type=p5.48xlarge",
		"remedy": "select labels that the nodes of the pool have",
	}} with input as examples.bad_job_of_another_type
}

test_a_compute_class_with_smaller_machines_is_found if {
	{finding.message | some finding in check.deny} == {"the pod selects only nodes that cannot hold it: the closest match is ComputeClass l4 (g2-standard-24); one pod asks for 4 of nvidia.com/gpu, and one node has at most 2"} with input as examples.bad_pod_of_a_compute_class
}

test_a_machine_type_alone_is_an_assumption if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
		"message": "the pod selects only nodes that cannot hold it: the closest match is a node of type a3-highgpu-4g; one pod asks for 8 of nvidia.com/gpu, and one node has at most 4",
		"remedy": remedy,
		"assumption": "usher assumes that these nodes do not offer one GPU several times",
	}} with input as examples.bad_job_on_a_machine_type
}

test_pods_that_fit_and_unknown_machines_are_good if {
	check.deny == set() with input as examples.good_job
	check.deny == set() with input as examples.good_job_on_an_unknown_machine
}

test_what_the_node_class_says_about_disks_and_networks_counts if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/ephemeral-storage",
		"message": "the pod selects only nodes that cannot hold it: the closest match is NodePool public (p5.48xlarge, without EFA because its NodeClass sets associatePublicIPAddress); one pod asks for 100Gi of ephemeral-storage, and one node has at most 17Gi",
		"remedy": "give the nodes a larger disk in their NodeClass (blockDeviceMappings or instanceStorePolicy of an EC2NodeClass), or ask for less ephemeral-storage",
	}} with input as examples.bad_job_with_large_files
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/limits/vpc.amazonaws.com~1efa",
		"message": "the pod selects only nodes that cannot hold it: the closest match is NodePool public (p5.48xlarge, without EFA because its NodeClass sets associatePublicIPAddress); one pod asks for 32 of vpc.amazonaws.com/efa, and no node there offers it",
		"remedy": remedy,
	}} with input as examples.bad_job_with_efa
}

test_what_daemon_sets_take_of_a_node_counts if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/resources/requests/cpu",
		"message": "the pod selects only nodes that cannot hold it: the closest match is NodePool watched (g5.2xlarge); one pod asks for 7500m of cpu, and one node has at most 6910m beside its DaemonSets, which take 1 (logging/agent)",
		"remedy": remedy,
	}} with input as examples.bad_job_beside_daemons
	check.deny == set() with input as examples.good_job_beside_daemons
}

test_pods_that_only_tolerate_the_taint_of_a_pool_do_not_select_it if {
	tolerating := object.union(examples.bad_job, {"cluster": {"nodePools": {"tooSmall": {_path: {"selected": false}}}}})
	{finding.message | some finding in check.deny} == {"the pod tolerates the taint of pools whose nodes cannot hold it: the closest match is NodePool small (g6.12xlarge); one pod asks for 8 of nvidia.com/gpu, and one node has at most 4"} with input as tolerating
}

test_a_device_that_no_machine_has_needs_an_overlay if {
	shortages := [object.union(each, {"most": ""}) | some each in examples.bad_job.cluster.nodePools.tooSmall[_path].shortages]
	without := object.union(examples.bad_job, {"cluster": {"nodePools": {"tooSmall": {_path: {"shortages": shortages}}}}})
	{finding.remedy | some finding in check.deny} == {"ask for what these nodes offer, or tell Karpenter of nvidia.com/gpu by a NodeOverlay"} with input as without
}

_path := path if {
	some path, _ in examples.bad_job.cluster.nodePools.tooSmall
}
