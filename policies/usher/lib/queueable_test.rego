package usher.lib.queueable_test

import data.usher.lib.queueable

site := {"queue": {"localQueue": "research"}}

workload(fields) := object.union(
	{
		"group": "ray.io",
		"kind": "RayJob",
		"labels": {},
		"annotations": {},
		"queueLabelPath": "/metadata",
		"owned": false,
	},
	fields,
)

ray_job(spec) := {"workload": workload({}), "site": site, "podSets": [], "object": {"rayJob": {"spec": spec}}}

job(fields, pod_sets) := {
	"workload": workload(object.union({"group": "batch", "kind": "Job"}, fields)),
	"site": site,
	"podSets": pod_sets,
	"object": {},
}

pod_set(fields) := object.union({"path": "/spec/template", "labels": {}, "annotations": {}, "requests": []}, fields)

one_obstacle(document) if {
	count(queueable.obstacles) == 1 with input as document
	not queueable.joins_declared_queue with input as document
	not queueable.will_be_queued with input as document
}

test_a_job_without_obstacles_joins_the_declared_queue if {
	plain := job({}, [pod_set({})])
	queueable.obstacles == set() with input as plain
	queueable.joins_declared_queue with input as plain
	queueable.will_be_queued with input as plain
}

test_a_job_in_a_queue_will_be_queued_and_joins_no_other if {
	queued := job({"labels": {"kueue.x-k8s.io/queue-name": "urgent"}}, [pod_set({})])
	queueable.will_be_queued with input as queued
	not queueable.joins_declared_queue with input as queued
}

multikueue := "kueue.x-k8s.io/multikueue"

test_a_job_of_another_controller_joins_no_queue_of_multikueue if {
	far := {"queue": {"localQueue": "research", "multiKueue": true}}
	one_obstacle(object.union(job({"managedBy": "example.com/runner"}, []), {"site": far}))
	queueable.joins_declared_queue with input as object.union(job({"managedBy": multikueue}, []), {"site": far})
	queueable.joins_declared_queue with input as object.union(job({}, []), {"site": far})
}

test_a_job_of_multikueue_joins_no_other_queue if {
	one_obstacle(job({"managedBy": multikueue}, []))
	queueable.joins_declared_queue with input as job({"managedBy": "example.com/runner"}, [])
}

test_a_ray_job_that_keeps_its_cluster_is_refused if {
	one_obstacle(ray_job({}))
	one_obstacle(ray_job({"shutdownAfterJobFinishes": false}))
	queueable.joins_declared_queue with input as ray_job({"shutdownAfterJobFinishes": true})
}

test_a_ray_job_on_a_running_cluster_is_refused if {
	one_obstacle(ray_job({"clusterSelector": {"ray.io/cluster": "shared"}}))
	not queueable.keeps_its_cluster with input as ray_job({"clusterSelector": {"ray.io/cluster": "shared"}})
}

test_a_cluster_that_scales_itself_is_refused_unless_it_is_elastic if {
	scaling := ray_job({"shutdownAfterJobFinishes": true, "rayClusterSpec": {"enableInTreeAutoscaling": true}})
	one_obstacle(scaling)
	elastic := object.union(scaling, {"workload": {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}}})
	queueable.joins_declared_queue with input as elastic
}

test_a_worker_group_named_head_is_refused if {
	groups := [{"groupName": "gpu"}, {"groupName": "head"}]
	named := ray_job({"shutdownAfterJobFinishes": true, "rayClusterSpec": {"workerGroupSpecs": groups}})
	one_obstacle(named)
	queueable.groups_named_head == {1} with input as named
}

test_a_claim_that_pods_name_directly_is_refused if {
	by_name := pod_set({"resourceClaims": [{"name": "a", "resourceClaimTemplateName": "t"}, {"name": "b", "resourceClaimName": "c"}]})
	one_obstacle(job({}, [by_name]))
	[claim.index | some claim in queueable.direct_claims] == [1] with input as job({}, [by_name])
	by_template := pod_set({"resourceClaims": [{"name": "a", "resourceClaimTemplateName": "t"}]})
	queueable.joins_declared_queue with input as job({}, [by_template])
}

test_a_fraction_by_annotation_is_refused if {
	one_obstacle(job({}, [pod_set({"requests": [{"route": "fraction annotation"}]})]))
	queueable.joins_declared_queue with input as job({}, [pod_set({"requests": [{"route": "extended resource"}]})])
}

test_a_job_in_a_queue_of_another_scheduler_is_left_there if {
	one_obstacle(job({"labels": {"kai.scheduler/queue": "team"}}, [pod_set({})]))
	one_obstacle(job({}, [pod_set({"labels": {"kai.scheduler/queue": "team"}})]))
	one_obstacle(job({"annotations": {"scheduling.volcano.sh/queue-name": "team"}}, [pod_set({})]))
	one_obstacle(job({"labels": {"volcano.sh/queue-name": "team"}}, [pod_set({})]))
	queueable.joins_declared_queue with input as job({"labels": {"kai.scheduler/queue": ""}}, [pod_set({})])
}
