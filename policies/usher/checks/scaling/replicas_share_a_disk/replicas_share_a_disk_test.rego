package usher.checks.scaling.replicas_share_a_disk_test

import data.examples.checks.scaling.replicas_share_a_disk as examples
import data.usher.checks.scaling.replicas_share_a_disk as check

test_pods_that_share_a_disk_of_one_node_are_found if {
	check.deny == {{"path": "/spec/template/spec/volumes/0", "message": `3 pods share the disk "models" (ReadWriteOnce), and only the pods on one node can mount it`, "remedy": "use a disk that several nodes can mount, or a StatefulSet with volumeClaimTemplates"}} with input as examples.bad_deployment
	check.deny == {{"path": "/spec/template/spec/volumes/0", "message": `2 pods share the disk "models" (ReadWriteOncePod), and only one pod can mount it`, "remedy": "use a disk that several nodes can mount, or a StatefulSet with volumeClaimTemplates"}} with input as examples.bad_disk_of_one_pod
	check.deny == {{"path": "/spec/template/spec/volumes/0", "message": `4 pods share the disk "models" (ReadWriteOnce), and only the pods on one node can mount it`, "remedy": "use a disk that several nodes can mount, or a StatefulSet with volumeClaimTemplates"}} with input as examples.bad_job
}

test_one_pod_one_node_and_shared_disks_are_good if {
	check.deny == set() with input as examples.good_on_one_node
	check.deny == set() with input as examples.good_one_replica
	check.deny == set() with input as examples.good_shared_disk
}

test_what_a_controller_made_was_judged_at_its_owner if {
	owned := [{"op": "replace", "path": "/workload/owned", "value": true}]
	check.deny == set() with input as json.patch(examples.bad_deployment, owned)
}
