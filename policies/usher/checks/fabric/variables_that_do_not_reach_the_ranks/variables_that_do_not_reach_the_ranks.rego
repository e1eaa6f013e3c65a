# METADATA
# title: Variables reach the ranks that need them
# description: |
#   sshd starts the ranks of an MPIJob on the workers, and those of a Volcano Job with the plugin mpi. sshd gives them
#   an empty environment. So variables for NCCL, UCX, libfabric or CUDA in the template of the worker reach only sshd.
#   The job runs without them, perhaps over slow sockets, and no error appears. `mpirun -x` passes variables on: the
#   check ignores those that the command of another container passes on.
#
#   The check ignores variables of NVIDIA_*, because the container runtime reads them. In rare images a start script
#   writes the environment to a file that sshd reads. The check does not see this.
# scope: package
# related_resources:
#   - ref: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/mpi/
#     description: Kubeflow on MPIJobs
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
#     description: NVIDIA on the variables of NCCL and its file
# schemas:
#   - input: schema.input
# custom:
#   code: USH905
#   about: accelerator pods
#   severity: medium
#   why: The fabric settings are in the manifest but have no effect.
#   closes: [S29]
#   remediation: |
#     Pass the variables on in the launcher with `mpirun -x NCCL_IB_HCA ...`. Or write the variables of NCCL into a
#     ConfigMap that the workers mount as /etc/nccl.conf.
package usher.checks.fabric.variables_that_do_not_reach_the_ranks

import data.usher.lib.text
import data.usher.lib.workload

_families := ["NCCL_", "UCX_", "FI_", "CUDA_"]

deny contains finding if {
	# The Trainer also gives the variables of a TrainJob to its launcher.
	input.workload.group != "trainer.kubeflow.org"
	some pod_set in workload.accelerator_pod_sets
	not pod_set.ranksInheritEnvironment
	some container in pod_set.containers
	container.asksAccelerators
	names := [name |
		some name, _ in container.environment
		_is_for_ranks(name)
		not name in _passed_on
	]
	first := container.environment[min(names)]

	finding := {
		"path": first.path,
		"message": $"{workload.container_name(pod_set, container)} sets variables that do not reach its ranks, because sshd starts the ranks without them: {text.names(names, ", ")}",
		"remedy": "pass them on with mpirun -x in the launcher, or mount those of NCCL as /etc/nccl.conf",
	}
}

# The launcher hands its own value to the ranks, so the one of the worker is not missed.
_passed_on contains name if {
	some pod_set in input.podSets
	some container in pod_set.containers
	some name in container.passesOn
}

_is_for_ranks(name) if {
	some family in _families
	startswith(name, family)
}
