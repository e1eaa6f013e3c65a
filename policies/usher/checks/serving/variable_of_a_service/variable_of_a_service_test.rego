package usher.checks.serving.variable_of_a_service_test

import data.examples.checks.serving.variable_of_a_service as examples
import data.usher.checks.serving.variable_of_a_service as check

test_a_variable_that_a_program_reads_as_a_port_is_found if {
	check.deny == {{"path": "/spec/template/spec/containers/0", "message": `the Service "vllm" sets the variable VLLM_PORT of container server to tcp://..., and vLLM reads it as a port and fails`, "remedy": "set enableServiceLinks: false in the pod spec, or rename the Service"}} with input as examples.bad_deployment
	check.deny == {{"path": "/spec/template/spec/containers/0", "message": `the Service "nim-server" sets the variable NIM_SERVER_PORT of container server to tcp://..., and a NIM reads it as a port and fails`, "remedy": "set enableServiceLinks: false in the pod spec, or rename the Service"}} with input as examples.bad_nim
	check.deny == {{"path": "/spec/template/spec/containers/0", "message": `the Service "jupyter" sets the variable JUPYTER_PORT of container server to tcp://..., and Jupyter reads it as a port and fails`, "remedy": "set enableServiceLinks: false in the pod spec, or rename the Service"}} with input as examples.bad_notebook
}

test_without_that_variable_there_is_nothing_to_say if {
	check.deny == set() with input as examples.good_headless
	check.deny == set() with input as examples.good_other_name
	check.deny == set() with input as examples.good_own_variable
	check.deny == set() with input as examples.good_without_links
}

test_what_a_controller_made_was_judged_at_its_owner if {
	owned := [{"op": "replace", "path": "/workload/owned", "value": true}]
	check.deny == set() with input as json.patch(examples.bad_deployment, owned)
}
