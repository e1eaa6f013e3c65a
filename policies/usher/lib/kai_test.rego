package usher.lib.kai_test

import data.usher.lib.kai

workload(labels, pod_sets) := {"workload": {"group": "batch", "labels": labels}, "podSets": pod_sets, "site": {}}

pods(scheduler, labels) := {"schedulerName": scheduler, "metadataPath": "/spec/template/metadata", "labels": labels}

test_a_queue_is_named_on_the_owner_and_on_its_pods if {
	both := workload({"kai.scheduler/queue": "a"}, [pods("kai-scheduler", {"kai.scheduler/queue": "b"})])
	kai.queues == [
		{"path": "/metadata/labels/kai.scheduler~1queue", "name": "a"},
		{"path": "/spec/template/metadata/labels/kai.scheduler~1queue", "name": "b"},
	] with input as both
}

test_a_pod_names_its_queue_once if {
	pod := workload({"kai.scheduler/queue": "a"}, [{
		"schedulerName": "kai-scheduler",
		"metadataPath": "/metadata",
		"labels": {"kai.scheduler/queue": "a"},
	}])
	kai.queues == [{"path": "/metadata/labels/kai.scheduler~1queue", "name": "a"}] with input as pod
}

test_without_a_queue_the_project_names_one if {
	project := {"path": "/metadata/labels/project", "name": "a"}
	kai.queues == [project] with input as workload({"project": "a"}, [pods("kai-scheduler", {})])
	kai.queues == [] with input as workload({"project": "a"}, [pods("default-scheduler", {})])
	kai.queues == [] with input as workload({}, [pods("kai-scheduler", {})])
	kai.queues == [] with input as workload({"kai.scheduler/queue": ""}, [pods("kai-scheduler", {})])
	count(kai.queues) == 1 with input as workload({"project": "a", "kai.scheduler/queue": "b"}, [pods("kai-scheduler", {})])
}

test_the_class_of_a_label_counts_on_this_scheduler_alone if {
	class := {"path": "/metadata/labels/priorityClassName", "name": "inference"}
	named := {"priorityClassName": "inference"}
	kai.priority_classes == [class] with input as workload(named, [pods("runai-scheduler", {})])
	kai.priority_classes == [] with input as workload(named, [pods("volcano", {})])
}

test_usher_yaml_and_kuberay_name_the_scheduler_too if {
	kai.places_pods with input as object.union(workload({}, [pods("gang", {})]), {"site": {"kaiSchedulers": ["gang"]}})
	ray := object.union(workload({"kai.scheduler/queue": "a"}, [pods("", {})]), {"workload": {"group": "ray.io"}})
	kai.places_pods with input as ray
	not kai.places_pods with input as workload({"kai.scheduler/queue": "a"}, [pods("", {})])
	not kai.places_pods with input as object.union(workload({}, [pods("", {})]), {"workload": {"group": "ray.io"}})
}
