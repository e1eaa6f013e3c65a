package usher.checks.objects.gke_network_of_another_machine_test

import data.examples.checks.objects.gke_network_of_another_machine as examples
import data.usher.checks.objects.gke_network_of_another_machine as check

test_the_helper_of_another_machine_family_is_found if {
	check.deny == {{
		"path": "/spec/template/metadata/annotations/devices.gke.io~1container.tcpxo-daemon",
		"message": "the pod has the annotation devices.gke.io/container.tcpxo-daemon of GPUDirect-TCPXO, which A3 Mega has, but selects cloud.google.com/gke-accelerator=\"nvidia-h100-80gb\", which has GPUDirect-TCPX",
		"remedy": "use the helper container, the plugin and the variables of GPUDirect-TCPX, or select A3 Mega",
	}} with input as examples.bad_tcpxo_on_a3_high
}

test_variables_of_another_machine_family_are_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/env/1",
		"message": "the pod has the variable NCCL_GPUDIRECTTCPX_CTRL_DEV of GPUDirect-TCPX, which A3 High has, but selects node.kubernetes.io/instance-type=\"a3-megagpu-8g\", which has GPUDirect-TCPXO",
		"remedy": "use the helper container, the plugin and the variables of GPUDirect-TCPXO, or select A3 High",
	}} with input as examples.bad_tcpx_on_a3_mega
}

test_the_helper_of_the_selected_machines_is_good if {
	check.deny == set() with input as examples.good_tcpxo_on_a3_mega
	check.deny == set() with input as examples.good_tcpx_on_a3_high
	check.deny == set() with input as examples.good_any_machine
}

test_what_a_controller_made_was_judged_at_its_owner if {
	owned := [{"op": "replace", "path": "/workload/owned", "value": true}]
	check.deny == set() with input as json.patch(examples.bad_tcpxo_on_a3_high, owned)
}
