# METADATA
# title: Containers are not privileged
# description: |
#   A privileged container sees every device of its node, so it can use all GPUs whatever it asked for, and it can leave
#   the container altogether. No request, quota or MIG partition holds it. Drivers and node agents need it; they belong
#   into system namespaces, which `priorities.systemNamespaces` of usher.yaml names. Recipes for TPUs and for GPUDirect
#   ask for it as well, so preset recommended only warns. Debug containers are held to the same, because they run on the
#   same node.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#     description: Kubernetes on what the baseline standard forbids
# schemas:
#   - input: schema.input
# custom:
#   code: USH205
#   about: pods
#   severity: medium
#   why: It can use every GPU of the node without asking for one.
#   closes: [B6, B20]
#   remediation: |
#     Remove `privileged: true`. What needs a single privilege can be given that one capability; what needs GPUs asks for
#     them in its limits.
package usher.checks.isolation.privileged_container

import data.usher.lib.workload

deny contains finding if {
	not input.site.systemNamespace
	some entry in workload.containers
	entry.container.securityContext.privileged

	finding := {
		"path": $"{entry.container.path}/securityContext/privileged",
		"message": $"{workload.container_name(entry.podSet, entry.container)} is privileged and sees every device of its node",
		"remedy": "remove privileged: true",
	}
}
