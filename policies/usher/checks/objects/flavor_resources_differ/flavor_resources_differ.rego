# METADATA
# title: Every flavor lists the resources that its group covers
# description: |
#   The flavors of a resource group share one list of resources, coveredResources. Each flavor must set a quota for all
#   of them, in the same order, and for no other resource. Otherwise the API server and Kueue's webhooks refuse the
#   ClusterQueue or the Cohort.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#resource-groups
#     description: Kueue on resource groups
# schemas:
#   - input: schema.input
# custom:
#   code: USH1407
#   about: objects
#   kinds: [clusterQueue, cohort]
#   severity: high
#   why: The API server or Kueue refuses the queue.
#   closes: [S21]
#   remediation: List the resources of the flavor in the order of coveredResources.
package usher.checks.objects.flavor_resources_differ

import data.usher.lib.kueue

deny contains finding if {
	some i, group in kueue.resource_groups
	covered := object.get(group, "coveredResources", [])
	some j, flavor in group.flavors
	listed := [object.get(quota, "name", "") | some quota in object.get(flavor, "resources", [])]
	listed != covered

	finding := {
		"path": $"/spec/resourceGroups/{i}/flavors/{j}/resources",
		"message": $"flavor {object.get(flavor, "name", j)} has quotas for [{concat(", ", listed)}], but its group covers [{concat(", ", covered)}], so the object is refused",
		"remedy": "list the same resources in the same order",
	}
}
