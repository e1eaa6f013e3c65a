# METADATA
# title: A webhook about pods or Jobs of all namespaces does not stop the cluster
# description: |
#   A webhook with `failurePolicy: Fail`, the default, refuses what it is asked about while its server is away. If it is
#   asked about pods of every namespace, then no pod starts anywhere: not its own server, not the network of a node. A
#   webhook about `pods/binding` keeps the scheduler from placing pods, and one about Jobs stops those of every team, also
#   of teams that do not use its controller. Selectors and conditions may limit it to the objects that need it. A selector
#   that only leaves out some namespaces or pods does not. usher's own webhooks are judged by `usher preflight`.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/cluster-administration/admission-webhooks-good-practices/
#     description: Kubernetes on good practices for admission webhooks
# schemas:
#   - input: schema.input
# custom:
#   code: USH1489
#   about: objects
#   kinds: [mutatingWebhookConfiguration, validatingWebhookConfiguration]
#   severity: medium
#   why: One server that does not answer stops every rollout, and the repair of nodes.
#   remediation: |
#     Set `failurePolicy: Ignore`. Or limit the webhook with a namespaceSelector on a label that namespaces opt in with, an
#     objectSelector, or matchConditions.
package usher.checks.objects.webhook_of_all_pods_fails_closed

import data.usher.lib.text

deny contains finding if {
	some kind in ["mutatingWebhookConfiguration", "validatingWebhookConfiguration"]
	some index, webhook in input.object[kind].webhooks
	object.get(webhook, "failurePolicy", "Fail") == "Fail"
	resources := [resource | some resource in ["pods", "pods/binding", "jobs"]; _is_asked(webhook, resource)]
	count(resources) > 0
	not _is_limited(webhook)
	not startswith(object.get(webhook, "name", ""), "validate.gpu-usher.io")
	not startswith(object.get(webhook, "name", ""), "mutate.gpu-usher.io")

	finding := {
		"path": $"/webhooks/{index}",
		"message": $"webhook {text.excerpt(object.get(webhook, "name", ""))} fails closed on {concat(" and ", resources)} of every namespace{_but(webhook)}: while its server is away, {_stops[resources[0]]} there",
		"remedy": "set failurePolicy: Ignore, or limit it by a label that namespaces or pods opt in with",
	}
}

_stops := {"pods": "no pod is made", "pods/binding": "no pod gets a node", "jobs": "no Job is made"}

_is_asked(webhook, resource) if {
	some rule in webhook.rules
	count({_groups[resource], "*"} & {group | some group in rule.apiGroups}) > 0
	count({"CREATE", "*"} & {operation | some operation in rule.operations}) > 0
	count({resource, "*/*", _all_of[resource]} & {name | some name in rule.resources}) > 0
}

_groups := {"pods": "", "pods/binding": "", "jobs": "batch"}

_all_of := {"pods": "*", "pods/binding": "pods/*", "jobs": "*"}

_is_limited(webhook) if count(webhook.matchConditions) > 0

_is_limited(webhook) if count(webhook.objectSelector.matchLabels) > 0

_is_limited(webhook) if count(webhook.namespaceSelector.matchLabels) > 0

# Another expression than one that leaves namespaces or objects out.
_is_limited(webhook) if {
	some field in ["namespaceSelector", "objectSelector"]
	some expression in webhook[field].matchExpressions
	not expression.operator in ["NotIn", "DoesNotExist"]
}

_but(webhook) := $" but {concat(", ", names)}" if {
	names := [name |
		some expression in webhook.namespaceSelector.matchExpressions
		expression.key == "kubernetes.io/metadata.name"
		some name in expression.values
	]
	count(names) > 0
} else := ""
