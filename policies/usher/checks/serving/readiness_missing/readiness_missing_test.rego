package usher.checks.serving.readiness_missing_test

import data.examples.checks.serving.readiness_missing as examples
import data.usher.checks.serving.readiness_missing as check

missing(path, name) := {
	"path": path,
	"message": $"{name} has neither a readiness probe nor a startup probe, so it gets requests before its model is loaded",
	"remedy": "add a readinessProbe that succeeds once the model is loaded",
}

test_a_server_without_probes_is_found if {
	check.deny == {missing("/spec/template/spec/containers/1", "container vllm")} with input as examples.bad_deployment
	check.deny == {missing("/spec/template/spec/containers/0", "container triton")} with input as examples.bad_statefulset
}

test_a_server_behind_a_service_needs_no_declared_port if {
	missing_here := {missing("/spec/template/spec/containers/0", "container server")}
	check.deny == missing_here with input as examples.bad_behind_a_service
	check.deny == set() with input as json.remove(examples.bad_behind_a_service, ["/beside/hasService"])
	check.deny == set() with input as examples.good_behind_another_service
	check.deny == set() with input as examples.good_behind_a_headless_service
	check.deny == set() with input as examples.good_service_of_another_namespace
}

test_a_service_may_mean_a_sidecar_with_a_port if {
	check.deny == set() with input as examples.good_sidecar_with_a_port
}

test_a_port_for_one_person_is_no_server if {
	check.deny == set() with input as examples.good_notebook
}

test_of_a_group_the_leader_answers if {
	check.deny == {missing(
		"/spec/leaderWorkerTemplate/leaderTemplate/spec/containers/0",
		"container vllm of leader",
	)} with input as examples.bad_leaderworkerset
}

test_without_a_template_for_leaders_that_of_the_workers_is_theirs if {
	without := json.patch(examples.bad_leaderworkerset, [{"op": "remove", "path": "/podSets/0"}])
	check.deny == {missing(
		"/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0",
		"container vllm of worker",
	)} with input as without
}

test_a_liveness_probe_does_not_say_when_a_server_is_ready if {
	check.deny == {missing("/spec/containers/0", "container tgi")} with input as examples.bad_pod_for_inference
}

test_either_probe_is_good if {
	check.deny == set() with input as examples.good_deployment
	check.deny == set() with input as examples.good_leaderworkerset
}

test_a_container_without_ports_may_be_no_server if {
	check.deny == set() with input as examples.good_queue_worker
}

test_an_empty_list_of_ports_does_not_count if {
	without := json.patch(examples.bad_statefulset, [{
		"op": "replace",
		"path": "/object/statefulSet/spec/template/spec/containers/0/ports",
		"value": [],
	}])
	check.deny == set() with input as without
}

test_kinds_that_get_probes_from_their_operators_are_left_alone if {
	check.deny == set() with input as examples.good_inference_service
	check.deny == set() with input as examples.good_rayservice
}

test_a_workload_with_another_role_is_left_alone if {
	check.deny == set() with input as json.patch(examples.bad_deployment, [{
		"op": "replace",
		"path": "/workload/role",
		"value": "batch",
	}])
}
