# METADATA
# title: Accelerators have names that usher knows
# description: |
#   Quotas, tolerations and node affinity only work for resources that are known to be accelerators. A resource whose
#   name looks like one, but which is in no vocabulary, would be counted nowhere: it may be a device plugin that usher
#   has not met, a renamed resource, a misspelt name that no node will ever offer, or a placeholder that nobody filled
#   in. What such a name is, usher.yaml says, under `accelerators`.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources
#     description: Kubernetes on extended resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH104
#   about: pods
#   why: Accelerators that nobody knows are counted by nobody.
#   closes: [B13]
#   severity: medium
#   remediation: |
#     Correct the name, or tell usher what it is: in usher.yaml under accelerators.resources (or names), or under
#     accelerators.ignored where it is no accelerator.
package usher.checks.resources.unknown_accelerator_name

import data.usher.lib.text
import data.usher.lib.workload

deny contains {
	"path": path,
	"message": $"{workload.container_name(pod_set, container)}: {text.excerpt(name)} looks like an accelerator, but usher does not know it",
	"remedy": "correct the name, or say in usher.yaml under accelerators what it is",
	"assumption": "the name alone tells; what the resource is, nobody has said",
} if {
	some pod_set in input.podSets
	some container in pod_set.containers
	some name, path in container.lookalikes
}
