package usher.lib.gpus_test

import data.usher.lib.gpus

amount(number) := {"text": $"{number}", "value": number, "milli": number * 1000, "whole": true}

container(accelerators) := {
	"asksAccelerators": true,
	"accelerators": {name: {"limits": amount(number)} | some name, number in accelerators},
}

claiming(classes) := {
	"containers": [container({})],
	"requests": [{"route": "device claim", "name": name, "minimum": amount(2), "maximum": amount(2)} |
		some name in classes
	],
}

test_whole_gpus_count if {
	every name in ["amd.com/gpu", "habana.ai/gaudi", "nvidia.com/gpu"] {
		gpus.of_container({}, container({name: 4})) == 4
	}
}

test_other_devices_do_not_count if {
	every name in ["nvidia.com/mig-1g.10gb", "google.com/tpu", "aws.amazon.com/neuron"] {
		not gpus.of_container({}, container({name: 4}))
	}
	not gpus.of_container({}, container({"nvidia.com/gpu": 1, "nvidia.com/mig-1g.10gb": 1}))
}

test_shares_and_slices_that_nodes_offer_as_gpus_do_not_count if {
	labels := [
		{"nvidia.com/gpu.sharing-strategy": "time-slicing"},
		{"nvidia.com/gpu.product": "NVIDIA-L4-SHARED"},
		{"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"},
		{"cloud.google.com/gke-gpu-partition-size": "1g.5gb"},
	]
	every selector in labels {
		of_pod := {"specPath": "/spec", "path": "/spec"}
		not gpus.of_container(object.union(of_pod, {"nodeSelector": selector, "fits": []}), container({"nvidia.com/gpu": 4}))
		fits := [{"pool": "a", "labels": selector}]
		not gpus.of_container(object.union(of_pod, {"nodeSelector": {}, "fits": fits}), container({"nvidia.com/gpu": 4}))
		also := array.concat(fits, [{"pool": "b", "labels": {}}])
		gpus.of_container(object.union(of_pod, {"nodeSelector": {}, "fits": also}), container({"nvidia.com/gpu": 4})) == 4
	}
}

test_claims_of_one_class_count_for_their_only_user if {
	pod_set := claiming(["gpu.nvidia.com"])
	gpus.of_container(pod_set, pod_set.containers[0]) == 2
	two_users := json.patch(pod_set, [{"op": "add", "path": "/containers/-", "value": container({})}])
	not gpus.of_container(two_users, two_users.containers[0])
	two_claims := claiming(["gpu.nvidia.com", "gpu.nvidia.com"])
	not gpus.of_container(two_claims, two_claims.containers[0])
	of_another_class := claiming(["gpu.example.com"])
	not gpus.of_container(of_another_class, of_another_class.containers[0])
}

test_a_claim_without_a_fixed_number_does_not_count if {
	pod_set := json.patch(claiming(["gpu.nvidia.com"]), [{"op": "replace", "path": "/requests/0/maximum", "value": amount(4)}])
	not gpus.of_container(pod_set, pod_set.containers[0])
}
