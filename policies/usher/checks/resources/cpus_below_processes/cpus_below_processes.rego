# METADATA
# title: Each GPU process has a CPU
# description: |
#   Each process that drives a GPU keeps one CPU busy: it loads data and starts kernels. A limit of cpu below the number
#   of processes makes them wait for each other, and the GPUs idle while they wait. Where the command does not say how
#   many processes start, the check expects one for each GPU. It looks only at limits, because a container without a
#   limit may use idle CPUs of its node, and skips containers with one GPU. It skips PodTemplates: a ProvisioningRequest
#   asks for nodes of their size, and their programs never run.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#how-pods-with-resource-limits-are-run
#     description: Kubernetes on how a limit of cpu slows a container down
# schemas:
#   - input: schema.input
# custom:
#   code: USH114
#   about: accelerator pods
#   severity: medium
#   why: Expensive GPUs wait for cheap CPUs, and no message says why the job is slow.
#   closes: [S13]
#   remediation: Raise the limit of cpu to several CPUs for each GPU, or remove the limit.
package usher.checks.resources.cpus_below_processes

import data.usher.lib.amounts
import data.usher.lib.gpus
import data.usher.lib.workload

deny contains finding if {
	input.workload.kind != "PodTemplate"
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	container.type == "container"
	limit := container.resources.cpu.limits
	number := _wanted(pod_set, container)
	number > 1
	limit.milli < number * 1000

	finding := {
		"path": workload.resource_path(container, "limits", "cpu"),
		"message": $"{workload.container_name(pod_set, container)} {_text(container, number)}, but its cpu limit is {limit.text}, so the {_devices(pod_set, container)} wait for CPUs",
		"remedy": $"set the limit of cpu to {number} at least, or remove it",
	}
}

_wanted(_, container) := container.processes.number

_wanted(pod_set, container) := gpus.of_container(pod_set, container) if not container.processes

_text(container, number) := $"starts {number} processes" if container.processes

_text(container, number) := $"has {amounts.number_of(number, "GPU", "GPUs")}" if not container.processes

_devices(pod_set, container) := "GPUs" if gpus.of_container(pod_set, container)

else := "accelerators"
