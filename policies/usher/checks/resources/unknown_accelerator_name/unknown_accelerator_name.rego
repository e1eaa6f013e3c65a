# METADATA
# title: Accelerator resources have names that usher knows
# description: |
#   Quotas, tolerations and node affinity work only for resources that usher knows as accelerators. If a resource name
#   looks like an accelerator but is in no vocabulary, usher does not count it. It may belong to a device plugin that
#   usher does not know, or be a renamed resource. It may also be a misspelt name that no node offers, or a placeholder
#   that was never filled in. Declare in usher.yaml, under `accelerators`, what the name is.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources
#     description: Kubernetes on extended resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH104
#   about: pods
#   why: usher does not count accelerators that it does not know.
#   closes: [B13]
#   severity: medium
#   remediation: |
#     Correct the name. Or declare it in usher.yaml under accelerators.resources (or names), or under
#     accelerators.ignored if it is not an accelerator.
package usher.checks.resources.unknown_accelerator_name

import data.usher.lib.text
import data.usher.lib.workload

deny contains {
	"path": path,
	"message": $"{workload.container_name(pod_set, container)}: {text.excerpt(name)} looks like an accelerator, but usher does not know it",
	"remedy": "correct the name, or declare it in usher.yaml under accelerators",
	"assumption": "usher judges by the name alone, because usher.yaml does not declare the resource",
} if {
	some pod_set in input.podSets
	some container in pod_set.containers
	some name, path in container.lookalikes
	not container.meantResources[name]
}
