# METADATA
# title: Containers with accelerators run a program
# description: |
#   `sleep infinity` and `tail -f /dev/null` keep a container and its GPUs until somebody opens a shell in it, and long
#   after that person has left. An interactive workload needs the label gpu-usher.io/role: interactive, so that other
#   checks and quotas can limit it. The check finds only commands that do nothing but wait. It does not find commands
#   that first start sshd or another program, or that sleep for less than an hour.
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
#   why: The pod holds its GPUs while it waits for a person, at night and over the weekend too.
#   closes: [S44]
#   remediation: |
#     Run the program itself as the command. For interactive work use a notebook or a pod with the label
#     gpu-usher.io/role: interactive, and delete it afterwards.
package usher.checks.cost.idle_command

import data.usher.lib.workload

deny contains finding if {
	not input.site.systemNamespace
	input.workload.role != "interactive"
	some pod_set in workload.accelerator_pod_sets
	container := [each | some each in pod_set.containers; each.idleCommand][0]

	finding := {
		"path": container.idleCommand,
		"message": $"{workload.container_name(pod_set, container)} holds accelerators, but its command only waits",
		"remedy": "run the program itself, or label the workload gpu-usher.io/role: interactive",
	}
}
