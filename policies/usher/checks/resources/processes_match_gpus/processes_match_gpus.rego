# METADATA
# title: Distributed training starts one process for each GPU
# description: |
#   Distributed training starts one process for each GPU of a pod. With fewer processes, GPUs are paid for and idle.
#   With more processes, some find no GPU and crash, or share one. The check reads the number of processes from
#   --nproc-per-node of torchrun, and from the variables PET_NPROC_PER_NODE and NPROC_PER_NODE, in commands that are
#   plain enough. It also reads nprocPerNode of PyTorchJobs, slotsPerWorker of MPIJobs (1 if it is missing), and
#   numProcPerNode of TrainJobs and of runtimes for MPI. A number that the launcher chooses (auto, gpu) is right. The check compares only
#   devices that one process uses as a whole. It skips MIG, shares, and accelerators with several cores, like Neuron
#   and TPUs.
#
#   nprocPerNode of a PyTorchJob and numProcPerNode of a TrainJob reach the pods as the variable PET_NPROC_PER_NODE, which
#   torchrun alone reads. Where the command of a container with several GPUs starts a Python program itself, the number has
#   no effect.
# scope: package
# related_resources:
#   - ref: https://docs.pytorch.org/docs/stable/elastic/run.html
#     description: PyTorch on torchrun and its processes
#   - ref: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/mpi/
#     description: Kubeflow on MPIJobs
# schemas:
#   - input: schema.input
# custom:
#   code: USH109
#   about: accelerator pods
#   severity: medium
#   why: The pod holds GPUs that no process uses, or the job crashes because it has too few GPUs.
#   closes: [S48]
#   remediation: |
#     Start as many processes as the pod has GPUs. Let the launcher choose the number (auto), or keep both numbers
#     equal.
package usher.checks.resources.processes_match_gpus

import data.usher.lib.amounts
import data.usher.lib.gpus
import data.usher.lib.workload

deny contains finding if {
	some entry in _process_counts
	count_of_gpus := gpus.of_container(entry.podSet, entry.container)
	effect := _effect(entry.number, count_of_gpus)

	finding := {
		"path": entry.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)} starts {amounts.number_of(entry.number, "process", "processes")} but has {amounts.number_of(count_of_gpus, "GPU", "GPUs")}, so {effect}",
		"remedy": $"start one process for each GPU, or ask for {amounts.number_of(entry.number, "GPU", "GPUs")}",
	}
}

deny contains finding if {
	[path, field] := _number_for_torchrun
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	gpus.have_one_user(pod_set)
	some container in pod_set.containers
	container.oneProgram
	container.asksAccelerators
	not container.processes
	count_of_gpus := gpus.of_container(pod_set, container)
	count_of_gpus > 1

	finding := {
		"path": container.oneProgram,
		"message": $"{workload.container_name(pod_set, container)} starts one Python program on {count_of_gpus} GPUs, and {field} ({path}) has no effect, because only torchrun reads it",
		"remedy": "start the program with torchrun",
		"assumption": "usher assumes that the program starts no processes itself",
	}
}

_number_for_torchrun := ["/spec/nprocPerNode", "nprocPerNode"] if {
	number := input.object.pytorchJob.spec.nprocPerNode
	number != "1"
}

_number_for_torchrun := ["/spec/trainer/numProcPerNode", "numProcPerNode"] if {
	number := input.object.trainJob.spec.trainer.numProcPerNode
	not number in [1, "1"]
}

_process_counts := array.concat(_by_container, _by_object)

_by_container := [entry |
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	processes := container.processes

	entry := {"podSet": pod_set, "container": container, "number": processes.number, "path": processes.path}
]

# A number in the container takes precedence.
_by_object := [entry |
	of_object := _number_of_object
	some pod_set in workload.accelerator_pod_sets
	_object_number_applies(pod_set)
	gpus.have_one_user(pod_set)
	some container in pod_set.containers
	container.asksAccelerators
	not container.processes
	not _without_torchrun(container)

	entry := {"podSet": pod_set, "container": container, "number": of_object.number, "path": of_object.path}
]

_without_torchrun(container) if {
	container.oneProgram
	_number_for_torchrun
}

_number_of_object := {"number": number, "path": "/spec/nprocPerNode"} if {
	number := _number(input.object.pytorchJob.spec.nprocPerNode)
}

_number_of_object := {"number": number, "path": "/spec/slotsPerWorker"} if {
	number := object.get(input.object.mpiJob, ["spec", "slotsPerWorker"], 1)
}

_number_of_object := {"number": number, "path": "/spec/trainer/numProcPerNode"} if {
	number := _number(input.object.trainJob.spec.trainer.numProcPerNode)
}

_object_number_applies(_) if not input.object.mpiJob

_object_number_applies(pod_set) if lower(pod_set.name) == "worker"

# `auto` and `gpu` are not numbers.
_number(text) := to_number(text) if trim(text, "0123456789") == ""

# Undefined where they match.
_effect(number, existing) := "the other GPUs idle" if number < existing

_effect(number, existing) := "some processes find no GPU of their own" if number > existing
