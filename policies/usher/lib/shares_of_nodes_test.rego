package usher.lib.shares_of_nodes_test

import data.usher.lib.shares_of_nodes as shares

entry(route, gpus, of_node) := {
	"podSet": {"requests": [{"route": route, "name": "nvidia.com/gpu"}], "fits": [{"gpus": of_node}], "containers": []},
	"container": {"accelerators": {"nvidia.com/gpu": {"limits": {"value": gpus}}}},
}

test_a_container_with_all_gpus_of_its_node_leaves_none if {
	not shares.leaves_gpus(entry("extended resource", 8, 8))
	shares.leaves_gpus(entry("extended resource", 4, 8))
	shares.gpus(entry("extended resource", 4, 8)) == 4
}

test_parts_of_gpus_leave_some[route] if {
	some route in ["partition", "share", "fraction annotation"]
	shares.parts_of_gpus(entry(route, 8, 8))
	shares.leaves_gpus(entry(route, 8, 8))
}

test_a_pool_that_does_not_say_its_gpus_is_taken_to_be_used_whole if {
	not shares.leaves_gpus(object.union(entry("extended resource", 1, 8), {"podSet": {"fits": [{}]}}))
}

test_gpus_of_claims_count if {
	claim := {"route": "device claim", "name": "gpu.nvidia.com", "minimum": {"value": 4}}
	claiming := {"podSet": {"requests": [claim], "fits": [], "containers": []}, "container": {"accelerators": {}}}
	shares.gpus(claiming) == 4
	not shares.parts_of_gpus(claiming)
}
