package usher.checks.objects.name_leads_nowhere_test

import data.examples.checks.objects.name_leads_nowhere as examples
import data.usher.checks.objects.name_leads_nowhere as check

found(path, message, remedy) := {"path": path, "message": message, "remedy": remedy}

test_names_of_a_workflow_are_looked_up if {
	check.deny == {
		found(
			"/spec/entrypoint",
			"Workflow names the template mian, and spec has no template of that name",
			"did you mean main?",
		),
		found(
			"/spec/templates/0/dag/tasks/1/dependencies/0",
			"Workflow names the task prepare-data, and spec.templates[0].dag has no task of that name",
			"did you mean prepare?",
		),
		found(
			"/spec/templates/0/dag/tasks/1/template",
			"Workflow runs the template train without its input parameter size, which has no value",
			"add size to arguments.parameters",
		),
	} with input as examples.bad_workflow
}

test_names_of_a_pod_are_looked_up if {
	check.deny == {
		found(
			"/spec/template/spec/containers/0/volumeMounts/0/name",
			"Job names the volume datasets, and spec.template.spec has no volume of that name",
			"did you mean dataset?",
		),
		found(
			"/spec/template/spec/containers/1/name",
			"Job gives two parts of spec.template.spec the container name train",
			"rename one of them",
		),
	} with input as examples.bad_job
}

test_other_objects_pass if {
	check.deny == set() with input as examples.good_workflow
	check.deny == set() with input as examples.good_cluster_queue_of_a_missing_flavor
}
