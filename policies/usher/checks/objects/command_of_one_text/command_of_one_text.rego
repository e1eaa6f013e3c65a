# METADATA
# title: The command of a container has one word in each entry
# description: |
#   Kubernetes runs no shell: the first entry of `command` is the name of a program, and every further entry is one
#   argument. With the whole command line as one entry, the container runtime looks for a program whose name has spaces,
#   and the container never starts ("executable file not found").
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/
#     description: Kubernetes on the command and the arguments of a container
#   - ref: https://github.com/vllm-project/vllm/issues/4462
#     description: A manifest of a model server with its command in one entry
# schemas:
#   - input: schema.input
# custom:
#   code: USH1502
#   about: accelerator pods
#   severity: high
#   why: The container never starts, while its pod holds accelerators.
#   remediation: |
#     Write each word as an entry of its own. Or start a shell: command: [sh, -c, "..."].
package usher.checks.objects.command_of_one_text

import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	path := container.oneText

	finding := {
		"path": path,
		"message": $"the command of {workload.container_name(pod_set, container)} is one text with spaces, and no program has that name, so the container never starts",
		"remedy": "write each word as an entry of its own, or start a shell: [sh, -c, \"...\"]",
	}
}
