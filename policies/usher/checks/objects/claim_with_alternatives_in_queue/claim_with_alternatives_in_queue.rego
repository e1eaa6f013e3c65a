# METADATA
# title: Templates of claims in namespaces with queues have no alternatives
# description: |
#   Kueue counts the devices of a claim before it admits a workload. Of firstAvailable it cannot tell which alternative
#   the scheduler will choose, so it refuses the workload, unless its gate KueueDRAIntegrationPrioritizedList is on and
#   all alternatives count for the same resource in the same number. Looked at are the namespaces that have a queue in
#   usher.yaml.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/dynamic_resource_allocation/
#     description: Kueue on the device claims that it counts
# schemas:
#   - input: schema.input
# custom:
#   code: USH1419
#   about: objects
#   kinds: [resourceClaimTemplate]
#   severity: medium
#   why: Kueue never admits a workload that uses the template.
#   closes: [B11, S21]
#   remediation: Ask for one device class by `exactly`, with a count; a selector can leave the choice of the model open.
package usher.checks.objects.claim_with_alternatives_in_queue

import data.usher.lib.device_claims

deny contains finding if {
	input.site.queue
	some entry in device_claims.requests
	number := count(entry.request.firstAvailable)
	number > 0

	finding := {
		"path": $"{entry.path}/firstAvailable",
		"message": $"request {entry.name} leaves the choice of {number} alternatives open, so Kueue cannot count it",
		"remedy": "ask for one device class by exactly, with a count",
		"assumption": "Kueue runs without its gate KueueDRAIntegrationPrioritizedList",
	}
}
