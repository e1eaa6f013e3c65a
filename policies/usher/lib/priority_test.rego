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

test_a_class_is_that_of_the_template_or_the_default_one if {
	facts := {"cluster": {"priorities": {
		"classes": {"batch": {"exists": true, "value": 5, "preempts": false}},
		"default": {"name": "", "value": 0, "preempts": true},
	}}}
	named := priority.class_of({"priorityClassName": "batch"}) with input as facts
	given := priority.class_of({"priorityClassName": ""}) with input as facts
	named == {"name": "batch", "value": 5, "preempts": false, "given": false}
	given == {"name": "", "value": 0, "preempts": true, "given": true}
	priority.shown(named) == "batch (5)"
	priority.shown(given) == "no class (0)"
	priority.shown({"name": "all", "value": 3, "given": true}) == "the default class all (3)"
}
