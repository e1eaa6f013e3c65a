package usher.checks.placement.scheduling_outside_tekton_pod_templates_test

import data.examples.checks.placement.scheduling_outside_tekton_pod_templates as examples
import data.usher.checks.placement.scheduling_outside_tekton_pod_templates as check

found(path, what, field, place) := {
	"path": $"{path}/{field}",
	"message": $"{what} of Tekton has no field {field}",
	"remedy": $"move it to {place}",
}

test_a_task_inside_a_run_has_no_such_fields if {
	check.deny == {
		found("/spec/taskSpec", "a task", "tolerations", "spec.podTemplate"),
		found("/spec/taskSpec", "a task", "nodeSelector", "spec.podTemplate"),
	} with input as examples.bad_taskrun
}

test_nor_has_the_run_itself if {
	check.deny == {found("/spec", "a TaskRun", "affinity", "spec.podTemplate")} with input as examples.bad_taskrun_itself
	check.deny == {found(
		"/spec",
		"a PipelineRun",
		"tolerations",
		"spec.podTemplate",
	)} with input as examples.bad_pipelinerun_of_v1beta1
}

test_nor_has_a_task if {
	check.deny == {found(
		"/spec",
		"a task",
		"tolerations",
		"the podTemplate of the TaskRun or PipelineRun that runs it",
	)} with input as examples.bad_task
	check.deny == {found(
		"/spec",
		"a task",
		"affinity",
		"the podTemplate of the TaskRun or PipelineRun that runs it",
	)} with input as examples.bad_task_of_v1beta1
}

test_nor_have_pipelines_and_their_tasks if {
	place := "the podTemplate of the TaskRun or PipelineRun that runs it"
	check.deny == {
		found("/spec", "a pipeline", "nodeSelector", place),
		found("/spec/tasks/0", "a task of a pipeline", "tolerations", place),
		found("/spec/finally/0/taskSpec", "a task", "tolerations", place),
	} with input as examples.bad_pipeline
	check.deny == {found(
		"/spec/pipelineSpec/tasks/0/taskSpec",
		"a task",
		"tolerations",
		"spec.taskRunTemplate.podTemplate",
	)} with input as examples.bad_pipelinerun
}

test_pod_templates_have_them if {
	check.deny == set() with input as examples.good_taskrun
	check.deny == set() with input as examples.good_pipelinerun
}
