# METADATA
# title: A disruption budget does not keep every server with GPUs
# description: |
#   A PodDisruptionBudget with minAvailable 1 allows no eviction of a service with one replica. Servers with GPUs often
#   have only one, because GPUs are expensive. Then no administrator can drain their node, an upgrade of the node or of
#   its driver waits for ever, and an autoscaler keeps the node.
#
#   The check compares minAvailable with the replicas of the Deployments and StatefulSets in the same files whose pods the
#   budget selects. It skips those that an autoscaler scales. A review sees no other objects, so only `usher check` finds
#   this. Budgets that allow no eviction of any number of pods are found by budget-that-blocks-eviction.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/run-application/configure-pdb/
#     description: Kubernetes on disruption budgets
# schemas:
#   - input: schema.input
# custom:
#   code: USH1490
#   about: objects
#   kinds: [disruptionBudget]
#   severity: medium
#   why: Nobody can drain the nodes of the servers, so drivers stay old and broken GPUs stay in use.
#   remediation: |
#     Set maxUnavailable to 1 instead of minAvailable. Or run more replicas than minAvailable.
package usher.checks.objects.budget_of_all_gpu_servers

import data.usher.lib.amounts

deny contains finding if {
	not input.site.systemNamespace
	guarded := input.beside.guarded
	count(guarded.names) > 0
	value := input.object.disruptionBudget.spec.minAvailable
	value != "100%"
	_kept(value, guarded.pods) >= guarded.pods

	finding := {
		"path": "/spec/minAvailable",
		"message": $"minAvailable {value} keeps {_all(guarded.pods)} of {concat(" and ", guarded.names)}, so no eviction is allowed and no node with {_them(guarded.pods)} can be drained",
		"remedy": "set maxUnavailable to 1 instead of minAvailable",
	}
}

_kept(value, _) := value if is_number(value)

# The API server takes a number as text only as a percentage, and rounds it up.
_kept(value, pods) := ceil((pods * to_number(trim_suffix(value, "%"))) / 100) if {
	regex.match(`^[0-9]{1,3}%$`, value)
}

_all(1) := "the only pod"

_all(pods) := $"all {amounts.number_of(pods, "pod", "pods")}" if pods > 1

_them(1) := "it"

_them(pods) := "them" if pods > 1
