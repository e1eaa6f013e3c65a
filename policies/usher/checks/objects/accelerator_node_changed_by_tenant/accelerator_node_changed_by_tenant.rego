# METADATA
# title: Only administrators and controllers change accelerator nodes
# description: |
#   The labels nvidia.com/*, amd.com/* and gpu.intel.com/* decide which pods run on a node, how its GPUs are divided and
#   what the operator runs there. A new nvidia.com/mig.config evicts every GPU pod, and nvidia.com/gpu.deploy.* turns
#   off drivers. The taints of an accelerator node keep other pods off. A user with the rights of a node agent can
#   change both.
#   The identities of usher.yaml list administrators and controllers. Add the service accounts of the GPU operator and
#   of node feature discovery there, because they write these labels.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction
#     description: Kubernetes on what kubelets may change of nodes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1432
#   about: objects
#   kinds: [node]
#   severity: medium
#   why: Labels and taints decide who gets the GPUs of the node.
#   closes: [B45]
#   parameters:
#     identities:
#       default: [administrators, controllers]
#       description: Identities of usher.yaml that may change labels and taints of accelerator nodes.
#   remediation: |
#     Let an administrator make the change. If the user is an administrator or an operator of the cluster, add the user
#     to the identities of usher.yaml.
package usher.checks.objects.accelerator_node_changed_by_tenant

import data.usher.lib.parameters

_remedy := "let an administrator make the change, or add the user to the identities of usher.yaml"

deny contains finding if {
	_by_a_tenant
	changed := [key |
		some key in (object.keys(_labels(input.old.object.node)) | object.keys(_labels(input.object.node)))
		object.get(_labels(input.old.object.node), key, null) != object.get(_labels(input.object.node), key, null)
	]
	changed != []

	finding := {
		"path": "/metadata/labels",
		"message": $"a user who is not an administrator or a controller changes labels of the node: {_listed(changed)}",
		"remedy": _remedy,
	}
}

deny contains finding if {
	_by_a_tenant
	_has_accelerators(input.old.object.node)
	new := _taints(input.object.node)
	old := _taints(input.old.object.node)

	# To compare sets takes the square of their size.
	count(new - old) + count(old - new) > 0

	finding := {
		"path": "/spec/taints",
		"message": "a user who is not an administrator or a controller changes taints of an accelerator node",
		"remedy": _remedy,
	}
}

_by_a_tenant if {
	input.review.operation == "UPDATE"
	identities := parameters.objects.accelerator_node_changed_by_tenant.identities
	count([identity | some identity in identities; identity in input.review.by]) == 0
}

_labels(node) := object.get(node, ["metadata", "labels"], {})

# Kubernetes sets its own taints on nodes that are broken or cordoned.
_taints(node) := {taint |
	some taint in object.get(node, ["spec", "taints"], [])
	not startswith(taint.key, "node.kubernetes.io/")
}

_has_accelerators(node) if {
	some amount in node.status.capacity
	amount.value > 0
}

_has_accelerators(node) if node.metadata.labels["nvidia.com/gpu.present"] == "true"

_listed(keys) := concat(", ", sort(keys)) if count(keys) <= 3

_listed(keys) := $"{concat(", ", array.slice(sort(keys), 0, 3))} and {count(keys) - 3} more" if count(keys) in numbers.range(4, 20)

# Sorting takes the square of their number.
_listed(keys) := $"{min(keys)} and {count(keys) - 1} more" if count(keys) > 20
