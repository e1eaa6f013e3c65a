package usher.lib.workload_test

import data.usher.lib.workload

pod_set := {"name": "Worker"}

pod_set_without_name := {"name": ""}

container := {"name": "train", "type": "init container", "path": "/spec/initContainers/0"}

test_a_resource_name_is_escaped_in_its_path if {
	workload.resource_path(container, "limits", "example.com/a~b") == "/spec/initContainers/0/resources/limits/example.com~1a~0b"
}

test_things_are_named_as_people_say_it if {
	workload.container_name(pod_set, container) == "init container train of Worker"
	workload.container_name(pod_set_without_name, container) == "init container train"
	unnamed := object.union(container, {"name": ""})
	workload.container_name(pod_set, unnamed) == "the init container without a name of Worker"
	workload.pod_set_name(pod_set) == "Worker"
	workload.pod_set_name(pod_set_without_name) == "the pod"
}

test_pods_are_those_of_a_daemon_set_by_their_kind_or_a_believed_owner if {
	workload.of_a_daemon_set with input as {"workload": {"kind": "DaemonSet"}}
	workload.of_a_daemon_set with input as {"workload": {"kind": "Pod", "owner": {"group": "apps", "kind": "DaemonSet"}}}
	every document in [
		{"workload": {"kind": "Pod", "claimedOwner": {"group": "apps", "kind": "DaemonSet"}}},
		{"workload": {"kind": "Pod", "owner": {"group": "apps", "kind": "ReplicaSet"}}},
		{"workload": {"kind": "Deployment"}},
	] {
		not workload.of_a_daemon_set with input as document
	}
}

test_containers_and_ordinary_pod_sets_are_listed if {
	ordinary := {"name": "a", "asksAccelerators": false, "containers": [{"name": "x"}]}
	asking := {"name": "b", "asksAccelerators": true, "containers": [{"name": "y"}]}
	workload.ordinary_pod_sets == [ordinary] with input as {"podSets": [ordinary, asking]}
	unread := {"name": "c", "asksAccelerators": false, "containers": [{"name": "z", "asksAccelerators": true}]}
	workload.ordinary_pod_sets == [] with input as {"podSets": [unread]}
	workload.containers == [
		{"podSet": ordinary, "container": {"name": "x"}},
		{"podSet": asking, "container": {"name": "y"}},
	] with input as {"podSets": [ordinary, asking]}
}

test_a_field_stands_below_the_spec_or_at_its_own_place if {
	moved := {"specPath": "/spec", "places": {"schedulerName": "/spec/other"}}
	workload.field_path(moved, "schedulerName") == "/spec/other"
	workload.field_path(moved, "hostPID") == "/spec/hostPID"
}
