# METADATA
# title: A webhook that fails closed has more than one server
# description: |
#   A webhook with `failurePolicy: Fail`, the default, refuses what it is asked about while its server is away. With one
#   replica that is every time its pod moves: at each drain of its node, each eviction and each update. Where it is asked
#   about pods or about what makes them, nothing that it selects starts in that time, and if its own node was the last one
#   with room, nothing starts at all.
#
#   The check finds the server in the same files: the Service of the webhook, and the one Deployment or StatefulSet that
#   its selector leads to. It skips servers that an autoscaler scales. A review sees no other objects, so only `usher check`
#   finds this.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/cluster-administration/admission-webhooks-good-practices/
#     description: Kubernetes on good practices for admission webhooks
#   - ref: https://github.com/volcano-sh/volcano/issues/3734
#     description: A report about pods that fail while a webhook is away
# schemas:
#   - input: schema.input
# custom:
#   code: USH1499
#   about: objects
#   kinds: [mutatingWebhookConfiguration, validatingWebhookConfiguration]
#   severity: low
#   why: A drain of one node stops the start of GPU pods in the whole cluster.
#   remediation: |
#     Run at least two replicas on different nodes, with a PodDisruptionBudget of maxUnavailable 1. Or set
#     `failurePolicy: Ignore`.
package usher.checks.objects.webhook_with_one_server

import data.usher.lib.text

deny contains finding if {
	some kind in ["mutatingWebhookConfiguration", "validatingWebhookConfiguration"]
	some index, webhook in input.object[kind].webhooks
	object.get(webhook, "failurePolicy", "Fail") == "Fail"
	server := input.beside.servers[format_int(index, 10)]
	resources := sort({resource | some rule in webhook.rules; _creates(rule); some resource in _asked(rule)})
	count(resources) > 0

	finding := {
		"path": $"/webhooks/{index}",
		"message": $"webhook {text.excerpt(object.get(webhook, "name", ""))} fails closed on {concat(" and ", resources)}, and {server} runs its only server: while that pod moves, nothing that it selects is made",
		"remedy": $"run at least 2 replicas of {server} with a disruption budget, or set failurePolicy: Ignore",
	}
}

_creates(rule) if {
	some operation in rule.operations
	operation in ["CREATE", "*"]
}

_asked(rule) := {resource |
	some group, resources in _makers
	some resource in resources
	_names(rule.apiGroups, {group, "*"})
	_names(rule.resources, {resource, "*", "*/*"})
}

_names(given, wanted) if {
	some name in given
	name in wanted
}

_makers := {
	"": {"pods"},
	"apps": {"deployments", "statefulsets", "replicasets", "daemonsets"},
	"batch": {"jobs"},
}
