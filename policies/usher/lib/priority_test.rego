package usher.lib.priority_test

import data.usher.lib.priority

labelled(class) := {"kueue.x-k8s.io/priority-class": class}

test_the_class_is_read_where_kueue_reads_it if {
	job := {"workload": {"queueLabelPath": "/metadata", "labels": labelled("research")}}
	priority.workload_class == "research" with input as job
	priority.workload_class_path == "/metadata/labels/kueue.x-k8s.io~1priority-class" with input as job
	cron_job := {"workload": {
		"queueLabelPath": "/spec/jobTemplate/metadata",
		"labels": labelled("ignored"),
		"queueLabels": labelled("research"),
	}}
	priority.workload_class == "research" with input as cron_job
	priority.workload_class_path == "/spec/jobTemplate/metadata/labels/kueue.x-k8s.io~1priority-class" with input as cron_job
}

test_elsewhere_and_empty_it_is_none if {
	not priority.workload_class with input as {"workload": {"labels": labelled("research")}}
	not priority.workload_class with input as {"workload": {
		"queueLabelPath": "/spec/jobTemplate/metadata",
		"labels": labelled("research"),
		"queueLabels": {},
	}}
	not priority.workload_class with input as {"workload": {"queueLabelPath": "/metadata", "labels": labelled("")}}
	not priority.workload_class with input as {"workload": {
		"queueLabelPath": "/spec/jobTemplate/metadata",
		"labels": {},
		"queueLabels": labelled(""),
	}}
}

test_administrators_and_controllers_are_the_administration if {
	priority.asked_by_administration with input as {"review": {"by": ["administrators"]}}
	priority.asked_by_administration with input as {"review": {"by": ["controllers", "schedulers"]}}
	not priority.asked_by_administration with input as {"review": {"by": ["schedulers"]}}
	not priority.asked_by_administration with input as {"review": {"by": []}}
	not priority.asked_by_administration with input as {"podSets": []}
}
