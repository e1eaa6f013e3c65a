# METADATA
# title: Containers are not privileged
# description: |
#   A privileged container sees every device of its node. It can use all GPUs, whatever it asks for, and it can leave
#   the container. No request, quota or MIG partition limits it. Drivers and node agents need this. Run them in a system
#   namespace that usher.yaml names under `priorities.systemNamespaces`. Recipes for TPUs and for GPUDirect also ask for
#   it, so the preset recommended only warns. Debug containers follow the same rule, because they run on the same node.
#   A HostProcess container of Windows runs directly on its node, so it counts as privileged.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#     description: Kubernetes on what the baseline standard forbids
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/create-hostprocess-pod/
#     description: Kubernetes on HostProcess containers
# schemas:
#   - input: schema.input
# custom:
#   code: USH205
#   about: pods
#   severity: medium
#   of_agents: true
#   why: The container can use every GPU of the node without asking for one.
#   closes: [B6, B20]
#   remediation: |
#     Remove `privileged: true`, or hostProcess. If the container needs a single privilege, give it only that capability. If it needs
#     GPUs, ask for them in its limits.
package usher.checks.isolation.privileged_container

import data.usher.lib.workload

deny contains finding if {
	not input.site.systemNamespace
	some entry in workload.containers
	entry.container.securityContext.privileged

	finding := {
		"path": workload.container_path(entry.container, "securityContext/privileged"),
		"message": $"{workload.container_name(entry.podSet, entry.container)} is privileged, so it can use every device of its node",
		"remedy": "remove privileged: true",
	}
}

deny contains finding if {
	not input.site.systemNamespace
	some pod_set in input.podSets
	pod_set.securityContext.windowsOptions.hostProcess

	finding := {
		"path": $"{workload.field_path(pod_set, "securityContext")}/windowsOptions/hostProcess",
		"message": $"{workload.pod_set_name(pod_set)} runs as a process of its Windows node, so it can use every device there",
		"remedy": "remove hostProcess: true",
	}
}

deny contains finding if {
	not input.site.systemNamespace
	some entry in workload.containers
	entry.container.securityContext.windowsOptions.hostProcess

	finding := {
		"path": workload.container_path(entry.container, "securityContext/windowsOptions/hostProcess"),
		"message": $"{workload.container_name(entry.podSet, entry.container)} runs as a process of its Windows node, so it can use every device there",
		"remedy": "remove hostProcess: true",
	}
}
