# METADATA
# title: Claim templates in namespaces with queues have no alternatives
# description: |
#   Kueue counts the devices of a claim before it admits a workload. With firstAvailable it cannot know which
#   alternative the scheduler will choose, so it refuses the workload. Its gate KueueDRAIntegrationPrioritizedList
#   changes this if all alternatives count for the same resource in the same number. The check judges namespaces with a
#   queue in usher.yaml.
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
#   remediation: Ask for one device class with `exactly` and a count. A selector can still allow several models.
package usher.checks.objects.claim_with_alternatives_in_queue

import data.usher.lib.device_claims

deny contains finding if {
	input.site.queue
	some entry in device_claims.requests
	number := count(entry.request.firstAvailable)
	number > 0

	finding := {
		"path": $"{entry.path}/firstAvailable",
		"message": $"request {entry.name} has {number} alternatives in firstAvailable, so Kueue cannot count it",
		"remedy": "ask for one device class with exactly and a count",
		"assumption": "usher assumes that Kueue runs without its gate KueueDRAIntegrationPrioritizedList",
	}
}
