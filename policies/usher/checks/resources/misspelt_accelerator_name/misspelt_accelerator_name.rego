# METADATA
# title: Accelerator resources are spelt as nodes offer them
# description: |
#   No node offers `nvida.com/gpu`, `nvidia.com/gpus` or `gpu`, so the pods stay pending. Kubernetes refuses a name without
#   a domain. The check has names that differ from one that usher knows by case, a plural, a missing domain, or letters
#   that are swapped, missing or doubled. All other unknown names only warn (USH104), because a site may offer them. A name
#   that usher.yaml declares under `accelerators` passes, and so does one that a device class of the cluster serves.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources
#     description: Kubernetes on extended resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH115
#   about: pods
#   severity: high
#   why: The pods wait for a resource that no node offers, or the API server refuses them.
#   closes: [B13]
#   remediation: Correct the name. If nodes do offer it, declare it in usher.yaml under accelerators.
package usher.checks.resources.misspelt_accelerator_name

import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	some container in pod_set.containers
	some name, meant in container.meantResources

	finding := {
		"path": container.lookalikes[name],
		"message": $"{workload.container_name(pod_set, container)} asks for {text.excerpt(name)}, which no node offers",
		"remedy": $"did you mean {meant}?",
	}
}
