package usher.checks.scaling.rollout_waits_for_its_disk_test

import data.examples.checks.scaling.rollout_waits_for_its_disk as examples
import data.usher.checks.scaling.rollout_waits_for_its_disk as check

found(modes) := {{
	"path": "/spec/template/spec/volumes/0",
	"message": $`a rollout starts a new pod while the old pod holds the disk "models" ({modes}), so the new pod cannot mount it on another node and the rollout hangs`,
	"remedy": "set the type of the strategy to Recreate, or maxSurge to 0 and maxUnavailable to 1",
}}

with_modes(modes) := json.patch(
	examples.bad_deployment,
	[{"op": "replace", "path": "/beside/disks/models", "value": modes}],
)

test_a_disk_that_one_node_mounts_is_found if {
	check.deny == found("ReadWriteOnce") with input as examples.bad_deployment
	check.deny == found("ReadWriteOncePod") with input as examples.bad_disk_of_one_pod
	check.deny == found("ReadWriteOnce") with input as examples.bad_two_replicas
}

test_a_disk_that_several_nodes_mount_is_good if {
	check.deny == set() with input as examples.good_shared_disk
	check.deny == set() with input as with_modes(["ReadWriteOnce", "ReadOnlyMany"])
}

test_a_disk_that_usher_does_not_know_is_left_alone if {
	check.deny == set() with input as with_modes([])
	check.deny == set() with input as json.remove(examples.bad_deployment, ["/beside/disks"])
}

test_an_old_pod_that_stops_first_frees_the_disk if {
	check.deny == set() with input as examples.good_recreated
}

pinned(document) := json.patch(document, [{
	"op": "add",
	"path": "/podSets/0/nodeSelector",
	"value": {"kubernetes.io/hostname": "gpu-1"},
}])

test_pods_on_one_node_share_its_disks if {
	check.deny == set() with input as pinned(examples.bad_deployment)
	check.deny == found("ReadWriteOncePod") with input as pinned(examples.bad_disk_of_one_pod)
}

test_pods_without_accelerators_are_left_alone if {
	plain := [{"op": "replace", "path": "/podSets/0/asksAccelerators", "value": false}]
	check.deny == set() with input as json.patch(examples.bad_deployment, plain)
}

test_what_a_controller_made_was_judged_at_its_owner if {
	owned := [{"op": "replace", "path": "/workload/owned", "value": true}]
	check.deny == set() with input as json.patch(examples.bad_deployment, owned)
}
