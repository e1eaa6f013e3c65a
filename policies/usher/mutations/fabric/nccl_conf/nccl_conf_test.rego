package usher.mutations.fabric.nccl_conf_test

import data.examples.mutations.fabric.nccl_conf as examples
import data.usher.mutations.fabric.nccl_conf as mutation

ranks := "/spec/mpiReplicaSpecs/Worker/template/spec/containers/0"

worker := "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0"

given(at) := {{
	"at": at,
	"field": "mount",
	"value": {
		"volume": {"name": "usher-nccl-conf", "configMap": {
			"name": "nccl-rails",
			"items": [{"key": "nccl.conf", "path": "nccl.conf"}],
			"defaultMode": 420,
			"optional": false,
		}},
		"mountPath": "/etc/nccl.conf",
		"subPath": "nccl.conf",
		"readOnly": true,
	},
	"reason": "fabric rails needs it, and the pod can run only on nodes with this fabric",
	"needs": [{"group": "", "kind": "ConfigMap", "name": "nccl-rails", "namespace": "ml-research"}],
}}

skipped(at, reason) := {{"at": at, "reason": reason}}

test_workers_of_an_mpijob_get_the_file if {
	mutation.intents == given(ranks) with input as examples.before_mpijob
	mutation.skips == set() with input as examples.before_mpijob
}

test_workers_of_a_volcano_job_with_mpi_get_the_file if {
	mutation.intents == given("/spec/tasks/1/template/spec/containers/0") with input as examples.before_volcano_job
}

test_workers_of_a_volcano_job_that_starts_ranks_by_its_own_sshd_get_the_file if {
	mutation.intents == given("/spec/tasks/1/template/spec/containers/0") with input as examples.before_volcano_job_with_keys
}

test_what_is_ours_already_is_asked_for_again if {
	mutation.intents == given(ranks) with input as examples.after_mpijob
}

test_ranks_that_see_variables_need_no_file if {
	mutation.intents == set() with input as examples.untouched_pytorchjob
	mutation.skips == skipped(worker, "its ranks already see the container's variables") with input as examples.untouched_pytorchjob
}

test_a_file_of_the_user_stays if {
	mutation.intents == set() with input as examples.untouched_mpijob_with_its_own
	mutation.skips == skipped(ranks, "the container already mounts something at /etc/nccl.conf or above it") with input as examples.untouched_mpijob_with_its_own
}

test_without_a_file_people_are_told_what_to_do if {
	plain := json.remove(examples.before_mpijob, ["/fabrics/rails/ncclConf"])
	mutation.intents == set() with input as plain
	mutation.skips == skipped(ranks, "fabric rails has no ncclConf, so mpirun must pass the variables of its ranks with -x") with input as plain
}

test_a_template_that_would_not_reach_its_pods_is_left_alone if {
	fixed := json.patch(examples.before_mpijob, [{"op": "replace", "path": "/podSets/1/changeable", "value": false}])
	mutation.intents == set() with input as fixed
	mutation.skips == skipped(ranks, "the runtime sets the mounts of these pods, so a change to this template would not reach them") with input as fixed
}

test_what_does_not_train_is_left_alone if {
	mutation.intents == set() with input as examples.untouched_service
	mutation.skips == skipped("", "the role of the workload is service, and only training and models that span pods get a fabric profile") with input as examples.untouched_service
}
