# METADATA
# title: A TrainJob sets no variable that the Trainer keeps for itself
# description: |
#   The Kubeflow Trainer works out the rendezvous of every node, and turns a TrainJob away whose `spec.trainer.env` names
#   one of those variables: PET_NNODES and its like under a runtime for torch, DMLC_* under one for XGBoost, four of
#   OMPI_MCA_* under one for MPI. Versions that do not look at them set their own values instead. Where the runtime is not
#   known here, it is taken for one of the framework to which the variable belongs.
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
#   why: The TrainJob is refused, or runs with other values than it states.
#   closes: [S29]
#   remediation: |
#     Remove the variable. The number of nodes and of processes on each belong into `spec.trainer.numNodes` and
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
	_keeps(variable.name)

	finding := {
		"path": $"/spec/trainer/env/{index}",
		"message": $"the Trainer keeps {variable.name} for itself under a runtime for {framework}, and refuses the TrainJob that sets it",
		"remedy": $"remove {variable.name}",
	}
}

_keeps(_) if not _runtime_known

_keeps(name) if {
	some pod_set in input.podSets
	some own in pod_set.operatorEnvironment
	startswith(name, trim_suffix(own, "*"))
}

_runtime_known if {
	some pod_set in input.podSets
	pod_set.operatorEnvironment
}

_assumption(_) := {} if _runtime_known

_assumption(framework) := {"assumption": $"its runtime is one for {framework}"} if not _runtime_known
