# METADATA
# title: Containers do not set variables that the operator sets
# description: |
#   The training operator and the plugins of Volcano set variables like MASTER_ADDR, WORLD_SIZE, RANK and TF_CONFIG
#   in every container. They append them to the environment, and the last of two entries with one name wins. So the
#   value in the manifest never reaches the process and misleads readers.
#
#   The check looks only at variables that the operator certainly sets. A PyTorchJob without Master gets no MASTER_ADDR,
#   and a TFJob of one pod gets no TF_CONFIG. Users may set other variables of these families, for example PET_LOG_DIR.
# scope: package
# related_resources:
#   - ref: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/pytorch/
#     description: Kubeflow on PyTorchJobs
#   - ref: https://github.com/volcano-sh/volcano/blob/master/docs/user-guide/how_to_use_pytorch_plugin.md
#     description: Volcano on its plugin for PyTorch
# schemas:
#   - input: schema.input
# custom:
#   code: USH903
#   severity: medium
#   why: The job does not run with the value in the manifest.
#   closes: [S29]
#   aliases: [operator-environment-overridden]
#   remediation: Remove the variable. The operator sets it for every rank.
package usher.checks.fabric.variable_of_the_operator

import data.usher.lib.workload

_always := [
	"COORDINATOR_ADDRESS", "COORDINATOR_PORT", "NUM_PROCESSES", "PROCESS_ID",
	"PET_NNODES", "VC_TASK_INDEX", "VK_TASK_INDEX",
]

_of_a_master := [
	"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK",
	"PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_NODE_RANK",
]

deny contains finding if {
	some pod_set in input.podSets
	some container in pod_set.containers
	container.type == "container"
	some name, path in container.operatorVariables
	_is_set(name, pod_set, container)

	# The Trainer refuses these (variable-that-the-trainer-refuses).
	not startswith(path, "/spec/trainer/env/")

	finding := {
		"path": path,
		"message": $"{workload.container_name(pod_set, container)} sets {name}, but the operator sets it as well, and its value wins",
		"remedy": $"remove {name}",
	}
}

_is_set(name, _, _) if name in _always

_is_set(name, pod_set, _) if {
	name in _of_a_master
	_has_master(pod_set)
}

_is_set("TF_CONFIG", pod_set, container) if {
	workload.makes_several_pods
	_gets_tf_config(pod_set, container)
}

# The training operator names a PyTorchJob's first rank only where there is a Master.
_has_master(pod_set) if not _of_pytorch(pod_set)

_has_master(_) if {
	some pod_set in input.podSets
	_of_pytorch(pod_set)
	endswith(lower(pod_set.name), "master")
}

_of_pytorch(pod_set) if "PET_*" in pod_set.operatorEnvironment

# The training operator knows its container by name; Volcano's plugin takes them all.
_gets_tf_config(_, container) if container.name == "tensorflow"

_gets_tf_config(pod_set, _) if "VC_*" in pod_set.operatorEnvironment
