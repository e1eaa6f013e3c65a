package usher.checks.scaling.workloads_share_a_disk_test

import data.examples.checks.scaling.workloads_share_a_disk as examples
import data.usher.checks.scaling.workloads_share_a_disk as check

found(others) := {{
	"path": "/spec/template/spec/volumes/0",
	"message": $`{others} the disk "models" (ReadWriteOnce) too, and only pods on one node can mount it`,
	"remedy": "use a disk that several nodes can mount, or a disk for each workload",
}}

test_a_disk_of_two_servers_is_found if {
	check.deny == found("Deployment embed mounts") with input as examples.bad_two_deployments
	check.deny == found("Deployment embed and Deployment rerank mount") with input as examples.bad_three_deployments
	check.deny == found("Pod shell mounts") with input as examples.bad_pod
}

test_the_disk_of_a_model_of_kserve_counts if {
	check.deny == {{
		"path": "/spec/predictor",
		"message": `Pod shell mounts the disk "models" (ReadWriteOnce) too, and only pods on one node can mount it`,
		"remedy": "use a disk that several nodes can mount, or a disk for each workload",
	}} with input as examples.bad_inference_service
}

test_a_disk_for_several_nodes_is_good if {
	check.deny == set() with input as examples.good_many
}

test_jobs_give_the_disk_back if {
	check.deny == set() with input as examples.good_job
}

test_servers_on_one_node_are_good if {
	check.deny == set() with input as examples.good_one_node
	near := json.patch(examples.bad_two_deployments, [{"op": "add", "path": "/podSets/0/affinity", "value": {"podAffinity": {}}}])
	check.deny == set() with input as near
}

test_pods_that_a_controller_made_are_left_to_their_owner if {
	check.deny == set() with input as object.union(examples.bad_two_deployments, {"workload": {"owned": true}})
}

test_without_modes_nothing_is_known if {
	unknown := json.patch(examples.bad_two_deployments, [{"op": "replace", "path": "/beside/disks/models", "value": []}])
	check.deny == set() with input as unknown
}
