package usher.lib.tekton_test

import data.usher.lib.tekton

first := {"steps": [{"resources": {}}]}

second := {"nodeSelector": {}}

pipeline := {"tasks": [{"taskSpec": first}, {}], "finally": [{"taskSpec": second}]}

test_a_task_has_one_spec if {
	specs := tekton.task_specs with input.object as {"tektonTask": {"apiVersion": "tekton.dev/v1", "spec": first}}
	specs == [{"path": "/spec", "spec": first}]
}

test_a_task_run_has_one_or_names_a_task if {
	specs := tekton.task_specs with input.object as {"tektonTaskRun": {"spec": {"taskSpec": first}}}
	specs == [{"path": "/spec/taskSpec", "spec": first}]
	none := tekton.task_specs with input.object as {"tektonTaskRun": {"spec": {"tolerations": []}}}
	none == []
}

test_a_pipeline_has_those_of_its_tasks_and_of_what_comes_last if {
	specs := tekton.task_specs with input.object as {"tektonPipeline": {"spec": pipeline}}
	specs == [
		{"path": "/spec/tasks/0/taskSpec", "spec": first},
		{"path": "/spec/finally/0/taskSpec", "spec": second},
	]
}

test_the_run_of_a_pipeline_has_them_too if {
	tasks := tekton.pipeline_tasks with input.object as {"tektonPipelineRun": {"spec": {"pipelineSpec": pipeline}}}
	[entry.path | some entry in tasks] == [
		"/spec/pipelineSpec/tasks/0",
		"/spec/pipelineSpec/tasks/1",
		"/spec/pipelineSpec/finally/0",
	]
}

test_the_version_is_that_of_the_object if {
	found := tekton.version with input.object as {"tektonPipelineRun": {"apiVersion": "tekton.dev/v1beta1"}}
	found == "v1beta1"
	task := tekton.version with input.object as {"tektonTask": {"apiVersion": "tekton.dev/v1"}}
	task == "v1"
	run := tekton.version with input.object as {"tektonTaskRun": {"apiVersion": "tekton.dev/v1"}}
	run == "v1"
	other := tekton.version with input.object as {"tektonPipeline": {"apiVersion": "tekton.dev/v1"}}
	other == "v1"
}
