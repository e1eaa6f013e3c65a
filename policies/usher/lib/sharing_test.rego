package usher.lib.sharing_test

import data.usher.lib.sharing

gpu := {"route": "share", "name": "nvidia.com/gpu"}

asking(list) := {"requests": [gpu], "containers": [{"accelerators": accelerators} |
	some amounts in list
	accelerators := {name: {"limits": {"value": value}} | some name, value in amounts}
]}

is_a_share(list) if sharing.shares(asking(list)) == [gpu]

is_no_share(list) if sharing.shares(asking(list)) == []

test_shares_and_fractions_are_shares if {
	fraction := {"route": "fraction annotation", "name": "gpu-fraction"}
	whole := {"route": "extended resource", "name": "nvidia.com/gpu"}
	slice := {"route": "partition", "name": "nvidia.com/mig-1g.10gb"}
	pod_set := {"requests": [whole, slice, gpu, fraction], "containers": []}
	sharing.shares(pod_set) == [gpu, fraction]
}

test_all_cores_of_a_gpu_are_no_share if {
	is_no_share([{"nvidia.com/gpu": 1, "nvidia.com/gpucores": 100}])
	is_a_share([{"nvidia.com/gpu": 1, "nvidia.com/gpucores": 99}])
}

test_all_memory_of_a_gpu_is_no_share_unless_the_cores_are_less if {
	is_no_share([{"nvidia.com/gpu": 1, "nvidia.com/gpumem-percentage": 100}])
	is_a_share([{"nvidia.com/gpu": 1, "nvidia.com/gpumem-percentage": 99}])
	is_a_share([{"nvidia.com/gpu": 1, "nvidia.com/gpumem-percentage": 100, "nvidia.com/gpucores": 50}])
}

test_volcano_says_it_in_its_own_words if {
	number := {"route": "share", "name": "volcano.sh/vgpu-number"}
	amounts := {"volcano.sh/vgpu-number": {"limits": {"value": 1}}, "volcano.sh/vgpu-cores": {"limits": {"value": 100}}}
	sharing.shares({"requests": [number], "containers": [{"accelerators": amounts}]}) == []
}

test_one_container_with_a_share_is_enough if {
	all := {"nvidia.com/gpu": 1, "nvidia.com/gpucores": 100}
	is_no_share([all, all, {"amd.com/gpu": 1}])
	is_a_share([all, {"nvidia.com/gpu": 1, "nvidia.com/gpucores": 30}])
}

selecting(labels) := {"specPath": "/spec", "nodeSelector": labels, "fits": []}

test_labels_of_shared_nodes_are_known if {
	every label, values in {
		"nvidia.com/gpu.sharing-strategy": ["mps", "time-slicing"],
		"nvidia.com/gpu.product": ["Tesla-T4-SHARED"],
		"cloud.google.com/gke-gpu-sharing-strategy": ["mps", "time-sharing"],
	} {
		every value in values {
			sharing.shared_nodes(selecting({label: value})).which == $`nodes with {label}: "{value}"`
		}
	}
	sharing.shared_nodes(selecting({"nvidia.com/gpu.product": "Tesla-T4-SHARED"})).path == "/spec/nodeSelector/nvidia.com~1gpu.product"
}

test_other_labels_say_nothing if {
	not sharing.shared_nodes(selecting({"nvidia.com/gpu.sharing-strategy": "none"}))
	not sharing.shared_nodes(selecting({"nvidia.com/gpu.product": "SHARED-Tesla-T4"}))
	not sharing.shared_nodes(selecting({"cloud.google.com/gke-gpu-sharing-strategy": "time-slicing"}))
	not sharing.shared_nodes(selecting({}))
}

shared_pool := {"pool": "slices", "labels": {"zone": "a", "nvidia.com/gpu.sharing-strategy": "mps"}}

whole_pool := {"pool": "whole", "labels": {"zone": "a"}}

test_pools_say_it_where_all_of_them_do if {
	pod_set := {"specPath": "/spec", "nodeSelector": {}}
	only := object.union(pod_set, {"fits": [shared_pool, shared_pool]})
	sharing.shared_nodes(only) == {"path": "/spec", "which": "the pool slices"}
	not sharing.shared_nodes(object.union(pod_set, {"fits": [shared_pool, whole_pool]}))
}

test_the_selector_says_it_before_the_pools if {
	pod_set := {"specPath": "/spec", "nodeSelector": {"nvidia.com/gpu.sharing-strategy": "mps"}, "fits": [shared_pool]}
	sharing.shared_nodes(pod_set).which == `nodes with nvidia.com/gpu.sharing-strategy: "mps"`
}

test_of_several_labels_always_the_same_is_named if {
	labels := {"nvidia.com/gpu.sharing-strategy": "mps", "nvidia.com/gpu.product": "Tesla-T4-SHARED"}
	sharing.shared_nodes(selecting(labels)).which == `nodes with nvidia.com/gpu.product: "Tesla-T4-SHARED"`
}
