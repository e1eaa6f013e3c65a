# METADATA
# title: A TrainJob does not set variables that the Trainer reserves
# description: |
#   The Kubeflow Trainer itself sets the variables by which the nodes find each other. It refuses a TrainJob whose
#   `spec.trainer.env` names one of them: PET_NNODES and similar under a runtime for torch, DMLC_* under one for
#   XGBoost, four of OMPI_MCA_* under one for MPI. Versions that do not check this use their own values instead. If
#   usher does not know the runtime, it assumes a runtime of the framework that the variable belongs to.
# scope: package
# related_resources:
#   - ref: https://www.kubeflow.org/docs/components/trainer/user-guides/pytorch/
#     description: Kubeflow on training with PyTorch
# schemas:
#   - input: schema.input
# custom:
#   code: USH904
#   about: objects
#   kinds: [trainJob]
#   severity: medium
#   why: The Trainer refuses the TrainJob, or runs it with other values than it states.
#   closes: [S29]
#   remediation: |
#     Remove the variable. Set the number of nodes in `spec.trainer.numNodes` and the number of processes per node in
#     `spec.trainer.numProcPerNode`.
package usher.checks.fabric.variable_that_the_trainer_refuses

_frameworks := {
	"PET_NNODES": "torch",
	"PET_NPROC_PER_NODE": "torch",
	"PET_NODE_RANK": "torch",
	"PET_MASTER_ADDR": "torch",
	"PET_MASTER_PORT": "torch",
	"DMLC_TRACKER_URI": "XGBoost",
	"DMLC_TRACKER_PORT": "XGBoost",
	"DMLC_TASK_ID": "XGBoost",
	"DMLC_NUM_WORKER": "XGBoost",
	"OMPI_MCA_orte_default_hostfile": "MPI",
	"OMPI_MCA_plm_rsh_args": "MPI",
	"OMPI_MCA_orte_keep_fqdn_hostnames": "MPI",
	"OMPI_MCA_orte_set_default_slots": "MPI",
}

deny contains object.union(finding, _assumption(framework)) if {
	some index, variable in input.object.trainJob.spec.trainer.env
	framework := _frameworks[variable.name]
	_reserved(variable.name)

	finding := {
		"path": $"/spec/trainer/env/{index}",
		"message": $"the Trainer refuses a TrainJob that sets {variable.name} under a runtime for {framework}, because it sets this variable itself",
		"remedy": $"remove {variable.name}",
	}
}

_reserved(_) if not _runtime_known

_reserved(name) if {
	some pod_set in input.podSets
	some own in pod_set.operatorEnvironment
	startswith(name, trim_suffix(own, "*"))
}

_runtime_known if {
	some pod_set in input.podSets
	pod_set.operatorEnvironment
}

_assumption(_) := {} if _runtime_known

_assumption(framework) := {"assumption": $"usher assumes that the runtime of the TrainJob is for {framework}"} if not _runtime_known
