package usher.lib.volcano_test

import data.usher.lib.volcano

owner(group, kind, number) := {"workload": {
	"group": group,
	"kind": kind,
	"annotations": {"scheduling.volcano.sh/group-min-member": number},
}}

grouped(name) := object.union(
	owner("batch", "Job", "4"),
	{"podSets": [{"annotations": {"scheduling.k8s.io/group-name": name}}]},
)

job := {"spec": {"tasks": [{"replicas": 3, "minAvailable": 2}, {"replicas": 4}, {"name": "none"}]}}

test_the_number_of_members_is_read_on_owners_of_pods if {
	every kind in ["Deployment", "StatefulSet", "ReplicaSet"] {
		volcano.min_member == 4 with input as owner("apps", kind, "4")
	}
	volcano.min_member == 4 with input as owner("batch", "Job", "4")
	not volcano.min_member with input as owner("batch.volcano.sh", "Job", "4")
	not volcano.min_member with input as owner("batch", "CronJob", "4")
	not volcano.min_member with input as owner("jobset.x-k8s.io", "JobSet", "4")
}

test_it_is_not_read_where_the_pods_name_their_group if {
	not volcano.min_member with input as grouped("pretrain")
	volcano.min_member == 4 with input as grouped("")
}

test_what_is_no_whole_number_is_none if {
	every value in ["", "2.5", "four", "-1"] {
		not volcano.min_member with input as owner("batch", "Job", value)
	}
}

test_only_pods_with_accelerators_count_as_placed if {
	site := {"volcanoSchedulers": ["volcano"]}
	asking := {"schedulerName": "volcano", "asksAccelerators": true}
	volcano.places_pods with input as {"site": site, "podSets": [{"schedulerName": "", "asksAccelerators": true}, asking]}
	not volcano.places_pods with input as {
		"site": site,
		"podSets": [object.union(asking, {"asksAccelerators": false})],
	}
	not volcano.places_pods with input as {
		"site": site,
		"podSets": [object.union(asking, {"schedulerName": "default-scheduler"})],
	}
}

test_the_spec_of_a_job_is_found_where_it_stands if {
	volcano.job_spec == job.spec with input as {"object": {"volcanoJob": job}}
	volcano.job_spec_path == "/spec" with input as {"object": {"volcanoJob": job}}
	volcano.job_spec == job.spec with input as {"object": {"volcanoJobTemplate": job}}
	volcano.job_spec_path == "/spec" with input as {"object": {"volcanoJobTemplate": job}}
	cron_job := {"object": {"volcanoCronJob": {"spec": {"jobTemplate": job}}}}
	volcano.job_spec == job.spec with input as cron_job
	volcano.job_spec_path == "/spec/jobTemplate/spec" with input as cron_job
}

test_pods_of_all_tasks_are_summed_up if {
	volcano.replicas == 7 with input as {"object": {"volcanoJob": job}}
}

test_without_a_minimum_of_the_job_those_of_the_tasks_count_or_their_replicas if {
	volcano.minimum == 6 with input as {"object": {"volcanoJob": job}}
	volcano.minimum == 6 with input as {"object": {"volcanoJob": {"spec": object.union(job.spec, {"minAvailable": 0})}}}
	volcano.minimum == 1 with input as {"object": {"volcanoJob": {"spec": object.union(job.spec, {"minAvailable": 1})}}}
}

test_assumptions_are_handed_on if {
	volcano.assumption({"assumption": "so"}) == {"assumption": "so"}
	volcano.assumption({}) == {}
	above := volcano.assumption_of_shortage({}, {"isAbove": true})
	above == {"assumption": volcano.with_hierarchy}
	volcano.assumption_of_shortage({"assumption": "so"}, {"isAbove": false}) == {"assumption": "so"}
	own := volcano.assumption_of_shortage({}, {"isAbove": false, "assumption": "parts"})
	own == {"assumption": "parts"}
}
