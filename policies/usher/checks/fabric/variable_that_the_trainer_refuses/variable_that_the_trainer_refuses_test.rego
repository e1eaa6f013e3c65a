package usher.checks.fabric.variable_that_the_trainer_refuses_test

import data.examples.checks.fabric.variable_that_the_trainer_refuses as examples
import data.usher.checks.fabric.variable_that_the_trainer_refuses as check

found(index, name, framework) := {
	"path": $"/spec/trainer/env/{index}",
	"message": $"the Trainer refuses a TrainJob that sets {name} under a runtime for {framework}, because it sets this variable itself",
	"remedy": $"remove {name}",
}

assumed(index, name, framework) := object.union(
	found(index, name, framework),
	{"assumption": $"usher assumes that the runtime of the TrainJob is for {framework}"},
)

# Of a TrainJob whose runtime is known, the pods are those of the runtime.
under(runtime, example) := json.patch(example, [
	{"op": "add", "path": "/podSets/0/operatorEnvironment", "value": runtime},
])

test_the_rendezvous_of_torch_is_the_trainers if {
	check.deny == {
		assumed(1, "PET_NNODES", "torch"),
		assumed(2, "PET_NPROC_PER_NODE", "torch"),
	} with input as examples.bad_torch
}

test_so_is_the_tracker_of_xgboost if {
	check.deny == {assumed(0, "DMLC_NUM_WORKER", "XGBoost")} with input as examples.bad_xgboost
}

test_so_are_the_hosts_of_mpi if {
	check.deny == {assumed(0, "OMPI_MCA_plm_rsh_args", "MPI")} with input as examples.bad_mpi
}

test_under_a_known_runtime_it_is_certain if {
	torch := under(["PET_NNODES", "PET_MASTER_ADDR"], examples.bad_torch)
	check.deny == {found(1, "PET_NNODES", "torch")} with input as torch
	check.deny == {found(0, "DMLC_NUM_WORKER", "XGBoost")} with input as under(["DMLC_*"], examples.bad_xgboost)
}

test_a_runtime_of_another_framework_keeps_others if {
	check.deny == set() with input as under(["OMPI_MCA_*"], examples.bad_torch)
}

test_other_variables_are_good if {
	check.deny == set() with input as examples.good_torch
	check.deny == set() with input as examples.good_mpi
}
