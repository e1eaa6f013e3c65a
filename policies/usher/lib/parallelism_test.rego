package usher.lib.parallelism_test

import data.usher.lib.parallelism

entry(sizes) := {"parallelism": object.union({"tensor": 1, "pipeline": 1, "data": 1}, sizes)}

server(workload) := {
	"workload": object.union({"group": "apps", "owned": false}, workload),
	"podSets": [{
		"asksAccelerators": true,
		"requests": [],
		"containers": [{
			"asksAccelerators": true,
			"accelerators": {"nvidia.com/gpu": {"limits": {"text": "8", "value": 8, "milli": 8000, "whole": true}}},
			"parallelism": {"server": "vLLM", "tensor": 8, "pipeline": 1, "data": 1, "gpus": 8, "spans": false, "path": "/spec"},
		}],
	}],
}

test_the_tensor_parallel_size_is_always_named if {
	parallelism.sizes(entry({})) == "tensor parallel size 1"
	parallelism.sizes(entry({"tensor": 4})) == "tensor parallel size 4"
}

test_other_sizes_are_named_above_one if {
	parallelism.sizes(entry({"pipeline": 2})) == "tensor parallel size 1, pipeline parallel size 2"
	parallelism.sizes(entry({"data": 2})) == "tensor parallel size 1, data parallel size 2"
}

test_servers_in_one_pod_count if {
	every group in ["", "apps", "batch", "serving.knative.dev"] {
		[found | some each in parallelism.servers; found := each.gpus] == [8] with input as server({"group": group})
	}
}

test_servers_of_groups_of_pods_and_owned_pods_do_not_count if {
	parallelism.servers == [] with input as server({"group": "ray.io"})
	parallelism.servers == [] with input as server({"owned": true})
}

test_an_inference_service_on_one_node_counts if {
	of_kserve := server({"group": "serving.kserve.io"})
	one := object.union(of_kserve, {"object": {"inferenceService": {"spec": {"predictor": {}}}}})
	count(parallelism.servers) == 1 with input as one
	several := object.union(of_kserve, {"object": {"inferenceService": {"spec": {"predictor": {"workerSpec": true}}}}})
	parallelism.servers == [] with input as several
}

test_a_server_that_may_span_pods_is_skipped_in_one_pod if {
	spanning := json.patch(server({}), [{"op": "replace", "path": "/podSets/0/containers/0/parallelism/spans", "value": true}])
	parallelism.servers == [] with input as spanning
}

# A group of a leader and two workers, twice.
group := {
	"workload": {"group": "leaderworkerset.x-k8s.io", "kind": "LeaderWorkerSet", "owned": false},
	"podSets": [
		object.union(server({}).podSets[0], {"name": "leader", "pods": {"minimum": 2}}),
		object.union(server({}).podSets[0], {"name": "worker", "pods": {"minimum": 4}}),
	],
}

changed(path, value) := json.patch(group, [{"op": "replace", "path": path, "value": value}])

of_group := [[entry.gpus, entry.spans, entry.has] | some entry in parallelism.servers]

test_the_leader_speaks_for_the_gpus_of_its_group if {
	of_group == [[24, false, "its group has"]] with input as group
}

test_a_server_spans_its_group_if_it_says_so_or_needs_it if {
	of_group[0][1] == true with input as changed("/podSets/0/containers/0/parallelism/spans", true)
	of_group[0][1] == true with input as changed("/podSets/0/containers/0/parallelism/gpus", 16)
}

test_a_group_with_unknown_numbers_is_skipped if {
	of_group == [] with input as changed("/podSets/0/pods/minimum", 0)
	of_group == [] with input as changed("/podSets/0/name", "worker")
	of_group == [] with input as changed("/podSets/1/name", "leader")
	of_group == [] with input as changed("/podSets/1/containers/0/accelerators", {})
	of_group == [] with input as changed("/podSets/1/containers/0/asksAccelerators", false)
	of_group == [] with input as changed("/podSets/0/containers/0/parallelism/data", 2)
	of_group == [] with input as changed("/workload/owned", true)
	of_group == [] with input as changed("/workload/kind", "LeaderWorkerSetGroup")
}

# Three pods of 8 GPUs that one server may use together.
unit(sizes, pods) := {
	"workload": {"group": "grove.io", "kind": "PodCliqueSet", "owned": false},
	"podSets": [object.union(
		json.patch(server({}).podSets[0], [{
			"op": "replace",
			"path": "/containers/0/parallelism",
			"value": object.union(server({}).podSets[0].containers[0].parallelism, sizes),
		}]),
		{"name": "decode", "pods": {"minimum": 6}, "unit": {"name": "decode", "pods": pods}},
	)],
}

test_a_server_uses_its_pod_or_else_its_unit if {
	of_group == [[8, true, "has"]] with input as unit({}, 3)
	of_group == [[24, true, "its group has"]] with input as unit({"tensor": 16, "gpus": 16}, 3)
	of_group == [[24, true, "its group has"]] with input as unit({"spans": true}, 3)
	of_group == [[8, true, "has"]] with input as unit({"tensor": 16, "gpus": 16}, 1)
}

test_servers_of_a_unit_that_share_data_are_skipped if {
	of_group == [] with input as unit({"data": 4, "gpus": 32}, 3)
	of_group == [[8, true, "has"]] with input as unit({"tensor": 2, "data": 4}, 3)
}
