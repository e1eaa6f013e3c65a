package usher.checks.isolation.driver_opened_by_variable_test

import data.examples.checks.isolation.driver_opened_by_variable as examples
import data.usher.checks.isolation.driver_opened_by_variable as check

test_a_driver_that_is_switched_on_is_found if {
	check.deny == {{
		"path": "/spec/containers/0/env/0",
		"message": `container server: NVIDIA_GDRCOPY "enabled" opens more of the node than the container asks for`,
		"remedy": "remove NVIDIA_GDRCOPY",
	}} with input as examples.bad_pod
}

test_files_of_the_node_are_found if {
	check.deny == {{
		"path": "/spec/containers/0/env/0",
		"message": `container server: ASCEND_RUNTIME_MOUNTS "hostlog" opens more of the node than the container asks for`,
		"remedy": "remove ASCEND_RUNTIME_MOUNTS",
	}} with input as examples.bad_npu_pod
}

test_a_value_from_elsewhere_is_found if {
	check.deny == {{
		"path": "/spec/template/spec/containers/0/env/0",
		"message": "container main: NVIDIA_GDS takes its value from elsewhere (valueFrom or $(NAME)), so it can open more of the node",
		"remedy": "remove NVIDIA_GDS",
	}} with input as examples.bad_job
}

test_a_driver_that_is_off_and_a_container_without_accelerators_are_good if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_pod_without_gpus
}

test_a_namespace_that_may_see_all_devices_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_pod, {"site": {"visibleDevicesAllowed": true}})
}
