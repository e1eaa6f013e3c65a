package usher.lib.ray_test

import data.usher.lib.ray

pod_set(path, accelerators) := {
	"path": path,
	"containers": [{"type": "container", "asksAccelerators": true, "accelerators": accelerators}],
}

gpus(number) := {"limits": {"text": $"{number}", "value": number}}

service(extra) := {
	"object": {"rayService": {"spec": {"rayClusterConfig": object.union(
		{"headGroupSpec": {}, "workerGroupSpecs": [{"groupName": "gpu"}]},
		extra,
	)}}},
	"podSets": [
		pod_set("/spec/rayClusterConfig/headGroupSpec/template", {}),
		pod_set("/spec/rayClusterConfig/workerGroupSpecs/0/template", {"nvidia.com/gpu": gpus(2)}),
	],
}

test_groups_have_their_pod_sets if {
	paths := [group.path | some group in ray.groups] with input as service({})
	paths == ["/spec/rayClusterConfig/headGroupSpec", "/spec/rayClusterConfig/workerGroupSpecs/0"]
}

test_autoscaling_is_a_flag if {
	ray.autoscales with input as service({"enableInTreeAutoscaling": true})
	not ray.autoscales with input as service({})
}

test_a_node_has_the_gpus_of_its_first_container if {
	ray.gpus_of_node({"path": "/spec/rayClusterConfig/workerGroupSpecs/0", "spec": {}}) == 2 with input as service({})
}

test_a_node_has_the_gpus_that_its_group_says if {
	group := {"path": "/spec/rayClusterConfig/workerGroupSpecs/0", "spec": {"rayStartParams": {"num-gpus": "1"}}}
	ray.gpus_of_node(group) == 1 with input as service({})
}

test_devices_of_other_kinds_are_unknown if {
	group := {"path": "/spec/rayClusterConfig/workerGroupSpecs/0", "spec": {}}
	tpu := json.patch(service({}), [{"op": "replace", "path": "/podSets/1/containers/0/accelerators", "value": {"google.com/tpu": gpus(4)}}])
	not ray.gpus_of_node(group) with input as tpu
}
