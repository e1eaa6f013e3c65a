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
			"parallelism": {"server": "vLLM", "tensor": 8, "pipeline": 1, "data": 1, "gpus": 8, "path": "/spec"},
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
