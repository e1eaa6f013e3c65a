package usher.checks.placement.tekton_resources_of_another_version_test

import data.examples.checks.placement.tekton_resources_of_another_version as examples
import data.usher.checks.placement.tekton_resources_of_another_version as check

found(path, what, version, wrong, right) := {
	"path": $"{path}/{wrong}",
	"message": $"{what} of tekton.dev/{version} has no field {wrong}, so it gets no resources",
	"remedy": $"rename it to {right}",
}

test_v1_has_compute_resources if {
	check.deny == {found("/spec/steps/1", "a step", "v1", "resources", "computeResources")} with input as examples.bad_task
	check.deny == {
		found("/spec/taskSpec/stepTemplate", "a step template", "v1", "resources", "computeResources"),
		found("/spec/taskSpec/sidecars/0", "a sidecar", "v1", "resources", "computeResources"),
	} with input as examples.bad_taskrun
}

test_v1beta1_has_resources if {
	check.deny == {found(
		"/spec/pipelineSpec/tasks/0/taskSpec/steps/0",
		"a step",
		"v1beta1",
		"computeResources",
		"resources",
	)} with input as examples.bad_pipelinerun_of_v1beta1
}

test_the_field_of_the_version_is_good if {
	check.deny == set() with input as examples.good_task
	check.deny == set() with input as examples.good_task_of_v1beta1
}
