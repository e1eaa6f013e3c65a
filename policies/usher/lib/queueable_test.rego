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

pod_set(fields) := object.union({"path": "/spec/template", "labels": {}, "annotations": {}, "requests": [], "schedulerName": ""}, fields)

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
	fraction := {"requests": [{"route": "fraction annotation"}]}
	one_obstacle(job({}, [pod_set(object.union(fraction, {"schedulerName": "kai-scheduler"}))]))
	one_obstacle(routing(job({}, [pod_set(fraction)]), ["kai"]))
	every ignoring in ["", "default-scheduler"] {
		queueable.joins_declared_queue with input as job({}, [pod_set(object.union(fraction, {"schedulerName": ignoring}))])
	}
	queueable.joins_declared_queue with input as job({}, [pod_set({"requests": [{"route": "extended resource"}]})])
}

of_other_schedulers := {
	"kai": [
		job({"labels": {"kai.scheduler/queue": "team"}}, [pod_set({})]),
		job({}, [pod_set({"labels": {"kai.scheduler/queue": "team"}})]),
	],
	"volcano": [
		job({"annotations": {"scheduling.volcano.sh/queue-name": "team"}}, [pod_set({})]),
		job({"labels": {"volcano.sh/queue-name": "team"}}, [pod_set({})]),
	],
}

routing(document, schedulers) := object.union(document, {"site": {"gangSchedulers": schedulers}})

test_a_job_in_a_queue_of_another_scheduler_is_left_there_where_usher_yaml_routes_to_it if {
	every scheduler, documents in of_other_schedulers {
		every document in documents {
			one_obstacle(routing(document, [scheduler]))
		}
	}
	empty := job({"labels": {"kai.scheduler/queue": ""}}, [pod_set({})])
	queueable.joins_declared_queue with input as routing(empty, ["kai", "volcano"])
}

test_the_queue_of_another_scheduler_gets_no_job_around_the_queue_of_usher_yaml if {
	every scheduler, documents in of_other_schedulers {
		every document in documents {
			queueable.joins_declared_queue with input as document
			queueable.joins_declared_queue with input as routing(document, [other | some other, _ in of_other_schedulers; other != scheduler])
		}
	}
}

placing(document) := object.union(document, {"site": {"queue": {"localQueue": "research", "placesPods": true}}})

in_queue := {"labels": {"kueue.x-k8s.io/queue-name": "urgent"}}

test_a_queue_places_the_pods_that_join_it_where_usher_yaml_says_so if {
	queueable.places_pods with input as placing(job({}, [pod_set({})]))
	not queueable.places_pods with input as job({}, [pod_set({})])
	not queueable.places_pods with input as placing({"podSets": [], "object": {}, "workload": object.remove(workload({}), ["queueLabelPath"])})
}

test_pods_in_a_queue_are_placed_whatever_usher_yaml_says if {
	queueable.places_pods with input as job(in_queue, [pod_set({})])
}

test_what_kueue_refuses_is_not_placed_by_it if {
	not queueable.places_pods with input as placing(ray_job({}))
	by_name := pod_set({"resourceClaims": [{"name": "b", "resourceClaimName": "c"}]})
	not queueable.places_pods with input as placing(job({}, [by_name]))
	not queueable.places_pods with input as job(in_queue, [by_name])
	share := pod_set({"requests": [{"route": "fraction annotation"}], "schedulerName": "kai-scheduler"})
	not queueable.places_pods with input as placing(job({}, [share]))
}

test_a_share_of_a_gpu_in_a_queue_is_placed_by_its_flavors if {
	share := pod_set({"requests": [{"route": "fraction annotation"}]})
	queueable.places_pods with input as job(in_queue, [share])
}

leaving_out := {"site": {"parameters": {"queueing/integration_not_enabled": {"frameworks": ["pod"]}}}}

test_a_kind_that_usher_yaml_leaves_out_is_not_placed if {
	not queueable.places_pods with input as object.union(placing(job({}, [pod_set({})])), leaving_out)
	not queueable.places_pods with input as object.union(job(in_queue, [pod_set({})]), leaving_out)
	enabled := {"site": {"parameters": {"queueing/integration_not_enabled": {"frameworks": ["batch/job"]}}}}
	queueable.places_pods with input as object.union(job(in_queue, [pod_set({})]), enabled)
}

test_mutations_do_not_see_the_cluster_so_a_label_counts_as_placed if {
	left_out := {"cluster": {"kueue": {"frameworks": ["pod"]}}}
	queueable.places_pods with input as object.union(job(in_queue, [pod_set({})]), left_out)
}

test_the_owner_of_what_a_controller_made_is_taken_to_be_in_the_queue if {
	queueable.places_pods with input as placing(job({"owned": true}, [pod_set({})]))
	not queueable.places_pods with input as job({"owned": true}, [pod_set({})])
	without_label := object.remove(workload({"owned": true}), ["queueLabelPath"])
	not queueable.places_pods with input as placing({"podSets": [], "object": {}, "workload": without_label})
}

test_pods_of_another_scheduler_stay_in_its_queue if {
	one_obstacle(job({"labels": {"kai.scheduler/queue": "team"}}, [pod_set({"schedulerName": "kai-scheduler"})]))
	one_obstacle(job({"labels": {"volcano.sh/queue-name": "team"}}, [pod_set({"schedulerName": "volcano"})]))
	queueable.joins_declared_queue with input as job({"labels": {"kai.scheduler/queue": "team"}}, [pod_set({"schedulerName": "volcano"})])
}
