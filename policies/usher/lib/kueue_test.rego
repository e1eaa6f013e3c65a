package usher.lib.kueue_test

import data.usher.lib.kueue

at(path, labels, queue_labels) := {"workload": {
	"queueLabelPath": path,
	"labels": labels,
	"queueLabels": queue_labels,
}} if path != "/metadata"

at(path, labels, _) := {"workload": {"queueLabelPath": path, "labels": labels}} if path == "/metadata"

label(name) := {"kueue.x-k8s.io/queue-name": name}

test_the_queue_is_read_where_kueue_reads_it if {
	kueue.queue_name == "research" with input as at("/metadata", label("research"), {})
	kueue.queue_name == "research" with input as at("/spec/jobTemplate/metadata", label("urgent"), label("research"))
	kueue.in_queue with input as at("/metadata", label("research"), {})
	not kueue.in_queue with input as at("/spec/jobTemplate/metadata", label("urgent"), {})
}

test_an_empty_queue_is_none if {
	not kueue.in_queue with input as at("/metadata", label(""), {})
	not kueue.in_queue with input as at("/spec/jobTemplate/metadata", {}, label(""))
}

test_only_what_is_in_no_queue_and_was_not_made_joins_the_declared_one if {
	declared := {"queue": {"localQueue": "research"}}
	job := {"group": "batch", "kind": "Job", "owned": false, "queueLabelPath": "/metadata", "labels": {}}
	kueue.could_join_declared_queue with input as {"site": declared, "workload": job}
	not kueue.could_join_declared_queue with input as {"site": {}, "workload": job}
	every other in [{"owned": true}, {"labels": label("urgent")}] {
		not kueue.could_join_declared_queue with input as {"site": declared, "workload": object.union(job, other)}
	}
	daemon_set := object.remove(job, ["queueLabelPath"])
	not kueue.could_join_declared_queue with input as {"site": declared, "workload": daemon_set}
	left_out := {"kueue": {"frameworks": ["pod"]}}
	not kueue.could_join_declared_queue with input as {"site": declared, "workload": job, "cluster": left_out}
}

with_frameworks(workload) := {"workload": workload, "cluster": {"kueue": {"frameworks": ["batch/job"]}}}

test_what_comes_by_an_integration_is_left_out_where_that_is_not_listed if {
	stateful_set := {"group": "apps", "kind": "StatefulSet", "queueLabelPath": "/metadata"}
	kueue.left_out with input as with_frameworks(stateful_set)
	not kueue.left_out with input as {"workload": stateful_set}
	not kueue.left_out with input as with_frameworks({"group": "batch", "kind": "Job", "queueLabelPath": "/metadata"})
}

test_what_comes_by_no_integration_is_never_left_out if {
	every workload in [
		{"group": "apps", "kind": "DaemonSet"},
		{"group": "argoproj.io", "kind": "Workflow", "queueLabelPath": "/spec/podMetadata"},
		{"group": "sagemaker.amazonaws.com", "kind": "HyperPodPyTorchJob", "queueLabelPath": "/metadata"},
	] {
		not kueue.framework with input as {"workload": workload}
		not kueue.left_out with input as with_frameworks(workload)
	}
}

test_kinds_of_one_name_are_told_apart_by_their_group if {
	kueue.queued_as_one with input as {"workload": {"group": "batch", "kind": "Job"}}
	not kueue.queued_as_one with input as {"workload": {"group": "batch.volcano.sh", "kind": "Job"}}
	not kueue.queued_as_one with input as {"workload": {"group": "apps", "kind": "Deployment"}}
	not kueue.queued_as_one with input as {"workload": {"group": "", "kind": "Pod"}}
}

test_places_are_json_pointers if {
	path := kueue.label_path("kueue.x-k8s.io/queue-name") with input as at("/metadata", {}, {})
	path == "/metadata/labels/kueue.x-k8s.io~1queue-name"
	kueue.annotation_path({"metadataPath": "/spec/template/metadata"}, "a/b") == "/spec/template/metadata/annotations/a~1b"
}

test_fields_are_written_as_people_do if {
	kueue.label_field == "metadata.labels" with input as at("/metadata", {}, {})
	kueue.label_field == "spec.jobTemplate.metadata.labels" with input as at("/spec/jobTemplate/metadata", {}, {})
}

test_pod_sets_that_speak_of_topology_are_found if {
	driver := {"name": "driver", "annotations": {"kueue.x-k8s.io/workload": "x"}}
	worker := {"name": "worker", "annotations": {"kueue.x-k8s.io/podset-slice-size": "4"}}
	kueue.topology_pod_sets == [worker] with input as {"podSets": [driver, worker]}
}

test_whole_numbers_are_read_as_go_does if {
	kueue.whole_number("8") == 8
	kueue.whole_number("+8") == 8
	kueue.whole_number("008") == 8
	kueue.whole_number("0") == 0
	kueue.whole_number("00") == 0
	kueue.whole_number("123456789") == 123456789
	every text in ["", "+", "-8", "++8", "8+", "2.5", "8 ", "0x8", "8e0", "eight", "1234567890"] {
		not kueue.whole_number(text)
	}
}

test_the_ray_cluster_that_an_object_makes_is_found if {
	spec := {"enableInTreeAutoscaling": true}
	kueue.ray_cluster == {"path": "/spec", "spec": spec} with input as {"object": {"rayCluster": {"spec": spec}}}
	job := {"rayClusterSpec": spec, "clusterSelector": {}}
	of_job := {"path": "/spec/rayClusterSpec", "spec": spec}
	kueue.ray_cluster == of_job with input as {"object": {"rayJob": {"spec": job}}}
	of_service := {"path": "/spec/rayClusterConfig", "spec": spec}
	kueue.ray_cluster == of_service with input as {"object": {"rayService": {"spec": {"rayClusterConfig": spec}}}}
	selecting := {"rayClusterSpec": spec, "clusterSelector": {"ray.io/cluster": "shared"}}
	not kueue.ray_cluster with input as {"object": {"rayJob": {"spec": selecting}}}
}

test_quotas_have_their_place_and_flavor if {
	quota := {"name": "cpu"}
	groups := [{"flavors": []}, {"flavors": [{"name": "a100", "resources": []}, {"name": "h100", "resources": [quota]}]}]
	expected := [{
		"path": "/spec/resourceGroups/1/flavors/1/resources/0",
		"flavor": "h100",
		"resource": "cpu",
		"quota": quota,
	}]
	kueue.quotas == expected with input as {"object": {"clusterQueue": {"spec": {"resourceGroups": groups}}}}
	kueue.quotas == expected with input as {"object": {"cohort": {"spec": {"resourceGroups": groups}}}}
}

test_memory_is_said_in_the_unit_that_people_use if {
	kueue.amount("memory", {"value": 1073741824, "text": "1073741824"}) == "1Gi"
	kueue.amount("cpu", {"value": 2, "text": "1500m"}) == "1500m"
}

test_the_cohort_is_read_in_the_field_of_either_version if {
	kueue.in_cohort with input as {"object": {"clusterQueue": {"spec": {"cohortName": "gpus"}}}}
	kueue.in_cohort with input as {"object": {"clusterQueue": {"spec": {"cohort": "gpus"}}}}
	kueue.in_cohort with input as {"object": {"clusterQueue": {"spec": {"cohort": "gpus", "cohortName": "tpus"}}}}
	not kueue.in_cohort with input as {"object": {"clusterQueue": {"spec": {"cohort": ""}}}}
	not kueue.in_cohort with input as {"object": {"clusterQueue": {"spec": {}}}}
}

test_who_asks_is_none_of_some_identities if {
	kueue.user_is_not_one_of(["controllers"]) with input as {"review": {"by": []}}
	kueue.user_is_not_one_of(["controllers"]) with input as {"review": {"by": ["schedulers"]}}
	not kueue.user_is_not_one_of(["controllers"]) with input as {"review": {"by": ["schedulers", "controllers"]}}
	not kueue.user_is_not_one_of(["controllers"]) with input as {}
}

test_names_of_objects_are_dns_subdomains if {
	every name in ["research", "a", "9", "team-a.research", "x--y"] {
		kueue.is_object_name(name)
	}
	every name in ["", "Research", "team_a", "-a", "a-", "a..b", "a.", ".a", "a.-b", "a b", "aXb"] {
		not kueue.is_object_name(name)
	}
	kueue.is_object_name(concat("", ["a" | some _ in numbers.range(1, 253)]))
	not kueue.is_object_name(concat("", ["a" | some _ in numbers.range(1, 254)]))
}
