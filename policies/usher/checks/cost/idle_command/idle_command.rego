# METADATA
# title: Containers with accelerators do something
# description: |
#   `sleep infinity` and `tail -f /dev/null` keep a container, and its GPUs, until somebody comes in and works by hand,
#   and after that person has left. What is meant for people to work in says so with the label
#   gpu-usher.io/role: interactive, which other checks and quotas can hold it to. Only commands that do nothing else are
#   found: neither one that starts sshd or a program first, nor sleeping for less than an hour.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/
#     description: Kubernetes on commands of containers
# schemas:
#   - input: schema.input
# custom:
#   code: USH1304
#   about: accelerator pods
#   severity: medium
#   why: The GPUs are held by a pod that waits for somebody, at night and over the weekend too.
#   closes: [S44]
#   remediation: |
#     Run the program itself as the command. For work by hand use a notebook or a pod with the label
#     gpu-usher.io/role: interactive, and delete it afterwards.
package usher.checks.cost.idle_command

import data.usher.lib.workload

deny contains finding if {
	not input.site.systemNamespace
	input.workload.role != "interactive"
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	path := container.idleCommand

	finding := {
		"path": path,
		"message": $"{workload.container_name(pod_set, container)} holds accelerators and does nothing but wait",
		"remedy": "run the program itself, or label the workload gpu-usher.io/role: interactive",
	}
}
