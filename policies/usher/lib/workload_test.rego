package usher.lib.workload_test

import data.usher.lib.workload

pod_set := {"name": "Worker"}

pod_set_without_name := {"name": ""}

container := {"name": "train", "type": "init container", "path": "/spec/initContainers/0"}

test_a_resource_name_is_escaped_in_its_path if {
	workload.resource_path(container, "limits", "example.com/a~b") == "/spec/initContainers/0/resources/limits/example.com~1a~0b"
}

test_things_are_named_as_people_say_it if {
	workload.container_name(pod_set, container) == "init container train of Worker"
	workload.container_name(pod_set_without_name, container) == "init container train"
	workload.pod_set_name(pod_set) == "Worker"
	workload.pod_set_name(pod_set_without_name) == "the pod"
}
