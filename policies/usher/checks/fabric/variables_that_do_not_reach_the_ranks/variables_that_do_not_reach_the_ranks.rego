# METADATA
# title: Variables stand where the ranks see them
# description: |
#   The ranks of an MPIJob, and of a Volcano Job with the plugin mpi, are started on the workers by sshd, which begins with
#   an empty environment. What the worker's template sets for NCCL, UCX, libfabric or CUDA reaches sshd alone: the job runs
#   without it, on slow sockets perhaps, and nothing says so. mpirun hands on what -x names. Variables of NVIDIA_* are left
#   alone, because the container runtime reads them. An image whose start script writes its environment where sshd looks
#   for one is rare enough.
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
#   why: The settings of the fabric are there and do nothing.
#   closes: [S29]
#   remediation: |
#     Hand the variables on in the launcher with `mpirun -x NCCL_IB_HCA ...`, or write those of NCCL into a ConfigMap that
#     the workers mount as /etc/nccl.conf.
package usher.checks.fabric.variables_that_do_not_reach_the_ranks

import data.usher.lib.workload

_families := ["NCCL_", "UCX_", "FI_", "CUDA_"]

deny contains finding if {
	# Those of a TrainJob go to its launcher as well.
	input.workload.group != "trainer.kubeflow.org"
	some pod_set in workload.accelerator_pod_sets
	not pod_set.ranksInheritEnvironment
	some container in pod_set.containers
	container.asksAccelerators
	names := sort([name |
		some name, _ in container.environment
		_is_for_ranks(name)
	])
	first := container.environment[names[0]]

	finding := {
		"path": first.path,
		"message": $"{workload.container_name(pod_set, container)} sets what never reaches its ranks, because sshd starts them without it: {concat(", ", names)}",
		"remedy": "hand them on with mpirun -x in the launcher, or mount those of NCCL as /etc/nccl.conf",
	}
}

_is_for_ranks(name) if {
	some family in _families
	startswith(name, family)
}
