package usher.checks.fabric.variable_of_the_operator_test

import data.examples.checks.fabric.variable_of_the_operator as examples
import data.usher.checks.fabric.variable_of_the_operator as check

found(path, container, name) := {
	"path": path,
	"message": $"{container} sets {name}, but the operator sets it as well, and its value wins",
	"remedy": $"remove {name}",
}

test_the_rendezvous_of_a_pytorchjob_is_its_operators if {
	worker := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env"
	check.deny == {
		found($"{worker}/0", "container pytorch of Worker", "MASTER_ADDR"),
		found($"{worker}/1", "container pytorch of Worker", "WORLD_SIZE"),
		found($"{worker}/2", "container pytorch of Worker", "PET_NNODES"),
	} with input as examples.bad_pytorchjob
}

test_without_a_master_only_the_number_of_nodes_is_the_operators if {
	check.deny == {found(
		"/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env/2",
		"container pytorch of Worker",
		"PET_NNODES",
	)} with input as examples.bad_elastic_pytorchjob
}

test_a_volcano_job_has_its_plugins if {
	check.deny == {
		found("/spec/tasks/0/template/spec/containers/0/env/0", "container rank of master", "RANK"),
		found("/spec/tasks/1/template/spec/containers/0/env/0", "container rank of worker", "TF_CONFIG"),
		found("/spec/tasks/1/template/spec/containers/0/env/1", "container rank of worker", "VC_TASK_INDEX"),
	} with input as examples.bad_volcano_job
}

test_other_operators_have_variables_of_their_own if {
	check.deny == {found(
		"/spec/jaxReplicaSpecs/Worker/template/spec/containers/0/env/0",
		"container jax of Worker",
		"PROCESS_ID",
	)} with input as examples.bad_jaxjob
	check.deny == {found(
		"/spec/tfReplicaSpecs/Worker/template/spec/containers/0/env/0",
		"container tensorflow of Worker",
		"TF_CONFIG",
	)} with input as examples.bad_tfjob
}

test_variables_that_the_operator_does_not_set_are_good if {
	check.deny == set() with input as examples.good_pytorchjob
}

test_a_tfjob_of_one_pod_may_set_tf_config if {
	check.deny == set() with input as examples.good_tfjob_of_one_pod
}

test_a_jobset_has_to_set_them_itself if {
	check.deny == set() with input as examples.good_jobset
}

test_the_master_of_another_job_does_not_count if {
	beside := json.patch(examples.bad_elastic_pytorchjob, [
		{"op": "add", "path": "/podSets/-", "value": {"name": "master", "operatorEnvironment": ["TF_CONFIG"], "containers": []}},
	])
	count(check.deny) == 1 with input as beside
	own := json.patch(beside, [{"op": "replace", "path": "/podSets/1/operatorEnvironment", "value": ["PET_*"]}])
	count(check.deny) == 3 with input as own
}

test_another_check_reports_what_the_trainer_refuses if {
	path := "/spec/trainer/env/0"
	known := json.patch(examples.good_trainjob, [{
		"op": "add",
		"path": "/podSets/0/containers/0/operatorVariables",
		"value": {"PET_NNODES": path},
	}])
	check.deny == set() with input as known
	check.deny == set() with input as examples.good_trainjob
}
