# METADATA
# title: Training asks for whole CPUs
# description: |
#   A kubelet with the CPU manager policy static gives a container its own cores, near its GPUs. The pod must be
#   Guaranteed, and the container must ask for a whole number of cpus. With 7500m the container shares its cores with
#   all other pods on the node. The check skips containers whose requests and limits differ: they never get their own
#   cores, and another check reports them.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/administer-cluster/cpu-management-policies/
#     description: Kubernetes on the static policy of the CPU manager
# schemas:
#   - input: schema.input
# custom:
#   code: USH107
#   about: accelerator pods
#   severity: low
#   why: The processes that feed the GPUs move from core to core, away from their memory.
#   closes: [S13]
#   remediation: Ask for a whole number of cpus, the same in requests and limits.
package usher.checks.resources.whole_cpus_for_training

import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "training"
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	container.type == "container"
	container.asksAccelerators
	limit := container.resources.cpu.limits
	not limit.whole
	not _requests_less(container.resources.cpu)

	finding := {
		"path": container.path,
		"message": $"{workload.container_name(pod_set, container)} asks for {limit.text} of cpu, so the kubelet gives it no cores of its own",
		"remedy": $"set requests and limits of cpu to {limit.value}",
	}
}

_requests_less(cpu) if cpu.requests.text != cpu.limits.text
