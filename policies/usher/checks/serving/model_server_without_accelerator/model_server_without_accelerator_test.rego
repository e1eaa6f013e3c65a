package usher.checks.serving.model_server_without_accelerator_test

import data.examples.checks.serving.model_server_without_accelerator as examples
import data.usher.checks.serving.model_server_without_accelerator as check

test_a_model_server_without_accelerators_is_found if {
	check.deny == {{"path": "/spec/template/spec/containers/0", "message": "container server runs vLLM, which needs an accelerator, but does not ask for one", "remedy": "ask for accelerators in its limits, for example nvidia.com/gpu: 1, or use a build for CPUs"}} with input as examples.bad_deployment
	check.deny == {{"path": "/spec/template/spec/containers/0", "message": "container server runs SGLang, which needs an accelerator, but does not ask for one", "remedy": "ask for accelerators in its limits, for example nvidia.com/gpu: 1, or use a build for CPUs"}} with input as examples.bad_stateful_set
	check.deny == {{"path": "/spec/template/spec/containers/0", "message": "container server runs vLLM, which needs an accelerator, but does not ask for one", "remedy": "ask for accelerators in its limits, for example nvidia.com/gpu: 1, or use a build for CPUs"}} with input as examples.bad_with_devices_hidden
}

test_a_leader_that_starts_the_server_before_workers_with_gpus_is_found if {
	check.deny == {{"path": "/spec/leaderWorkerTemplate/leaderTemplate/spec/containers/0", "message": "container leader of leader runs vLLM, which needs an accelerator, but does not ask for one", "remedy": "ask for accelerators in its limits, for example nvidia.com/gpu: 1, or use a build for CPUs"}} with input as examples.bad_leader_worker_set
}

test_servers_for_cpus_and_routers_are_left_alone if {
	check.deny == set() with input as examples.good_deployment
	check.deny == set() with input as examples.good_devices_by_hand
	check.deny == set() with input as examples.good_flag_for_cpus
	check.deny == set() with input as examples.good_for_cpus
	check.deny == set() with input as examples.good_router
}

test_what_a_controller_made_was_judged_at_its_owner if {
	owned := [{"op": "replace", "path": "/workload/owned", "value": true}]
	check.deny == set() with input as json.patch(examples.bad_deployment, owned)
}
