package usher.lib.gpu_memory_test

import data.usher.lib.gpu_memory

selecting(labels) := {"nodeSelector": labels, "fits": []}

test_labels_of_operators_and_clouds_name_a_board if {
	gpu_memory.of_pods(selecting({"nvidia.com/gpu.product": "NVIDIA-L40S"})) == {"least": 48, "most": 48}
	gpu_memory.of_pods(selecting({"nvidia.com/gpu.product": "Tesla-T4"})) == {"least": 16, "most": 16}
	gpu_memory.of_pods(selecting({"cloud.google.com/gke-accelerator": "nvidia-h100-80gb"})) == {"least": 80, "most": 80}
	gpu_memory.of_pods(selecting({"node.kubernetes.io/instance-type": "g6.4xlarge"})) == {"least": 24, "most": 24}
	gpu_memory.of_pods(selecting({"node.kubernetes.io/instance-type": "g2-standard-8"})) == {"least": 24, "most": 24}
}

test_the_label_of_nvidia_counts_before_others if {
	both := {"nvidia.com/gpu.product": "NVIDIA-L4", "k8s.amazonaws.com/accelerator": "nvidia-tesla-t4"}
	gpu_memory.of_pods(selecting(both)) == {"least": 24, "most": 24}
}

test_pools_tell_the_smallest_and_the_largest if {
	pod_set := {"nodeSelector": {}, "fits": [
		{"labels": {"nvidia.com/gpu.product": "NVIDIA-L4"}},
		{"labels": {"nvidia.com/gpu.product": "NVIDIA-H200"}},
	]}
	gpu_memory.of_pods(pod_set) == {"least": 24, "most": 141}
}

test_unknown_boards_have_no_size if {
	not gpu_memory.of_pods(selecting({}))
	not gpu_memory.of_pods(selecting({"nvidia.com/gpu.product": "NVIDIA-A100"}))
	not gpu_memory.of_pods({"nodeSelector": {}, "fits": [{"labels": {"nvidia.com/gpu.product": "NVIDIA-L4"}}, {"labels": {"pool": "a"}}]})
}
