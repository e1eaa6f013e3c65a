package usher.mutations.fabric.fabric_recipe_test

import data.examples.mutations.fabric.fabric_recipe as examples
import data.usher.mutations.fabric.fabric_recipe as mutation

worker := "/spec/pytorchReplicaSpecs/Worker/template"

skipped(at, reason) := {{"at": at, "reason": reason}}

test_a_training_pod_gets_the_recipe_of_its_fabric if {
	mutation.intents == {{
		"at": worker,
		"field": "recipe",
		"value": {
			"recipe": examples.before_pytorchjob.fabrics["a3-mega"].recipe,
			"containers": [$"{worker}/spec/containers/0"],
		},
		"reason": "fabric a3-mega needs it, and the pod can run only on nodes with this fabric",
	}} with input as examples.before_pytorchjob
	mutation.skips == set() with input as examples.before_pytorchjob
	mutation.warnings == set() with input as examples.before_pytorchjob
}

in_need := examples.untouched_pytorchjob_without_recipe

told := {{
	"at": "",
	"reason": $"fabric gcp-tcpx also needs {concat("; ", in_need.fabrics["gcp-tcpx"].needs)}: add this to the manifest, or to recipe of fabric gcp-tcpx in usher.yaml",
}}

test_without_a_recipe_the_user_is_told_once_what_the_fabric_needs if {
	count(in_need.fabrics["gcp-tcpx"].needs) == 4
	mutation.intents == set() with input as in_need
	mutation.skips == skipped(worker, "fabric gcp-tcpx has no recipe") with input as in_need
	mutation.warnings == told with input as in_need
}

test_pods_with_a_network_device_and_profiles_that_give_one_need_nothing[path] if {
	some path, value in {
		"/podSets/0/annotations/networking.gke.io~1interfaces": "[]",
		"/fabrics/gcp-tcpx/resources/rdma~1ib": 1,
		"/fabrics/gcp-tcpx/networks": ["rail-0"],
	}
	mutation.warnings == set() with input as json.patch(in_need, [{"op": "add", "path": path, "value": value}])
}

test_a_fabric_that_needs_nothing_tells_nothing if {
	mutation.warnings == set() with input as json.remove(in_need, ["/fabrics/gcp-tcpx/needs"])
}

test_a_runtime_keeps_its_containers if {
	from_runtime := json.patch(examples.before_pytorchjob, [{"op": "add", "path": "/object/trainJob", "value": {"spec": {}}}])
	mutation.intents == set() with input as from_runtime
	mutation.skips == skipped(worker, "the runtime sets the containers of these pods, so add the recipe to the runtime") with input as from_runtime
}

test_annotations_for_devices_are_only_for_whole_nodes if {
	devices := {"op": "add", "path": "/fabrics/a3-mega/recipe/annotations", "value": {"devices.gke.io/container.tcpxo-daemon": "- path: /dev/nvidia0"}}
	for_parts := {"op": "add", "path": "/fabrics/a3-mega/wholeNodes", "value": false}
	whole := json.patch(examples.before_pytorchjob, [devices, for_parts, {"op": "add", "path": "/podSets/0/fits/0/gpus", "value": 8}])
	count(mutation.intents) == 1 with input as whole
	part := json.patch(whole, [{"op": "replace", "path": "/podSets/0/fits/0/gpus", "value": 16}])
	mutation.intents == set() with input as part
	mutation.skips == skipped(worker, "its pods have a part of a node, and the annotations of the recipe give devices of all of it") with input as part
}

test_one_pod_gets_no_recipe if {
	mutation.intents == set() with input as examples.untouched_job_of_one_pod
	mutation.skips == skipped("", "the workload has only one pod, which does not use the network between nodes") with input as examples.untouched_job_of_one_pod
}
