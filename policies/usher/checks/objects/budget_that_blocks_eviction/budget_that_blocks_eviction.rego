# METADATA
# title: A disruption budget leaves room for an eviction
# description: |
#   With maxUnavailable 0 or minAvailable 100 %, a PodDisruptionBudget allows no eviction of its pods. Then no administrator can
#   drain their node: an upgrade or a repair waits for ever, and autoscalers keep the node. Over pods with GPUs it holds
#   expensive nodes that way. Preemption by the scheduler and by Kueue ignores budgets.
#
#   A manifest does not tell which pods a budget selects. For a single server without GPUs it may be meant, so the check
#   is only a note. A site that gives namespaces to GPU workloads sets it to deny there. A budget that the cluster knows
#   already is also found by its status, if as many pods must be available as there are.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/run-application/configure-pdb/
#     description: Kubernetes on disruption budgets
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
#     description: Kubernetes on evictions by its API
# schemas:
#   - input: schema.input
# custom:
#   code: USH1467
#   about: objects
#   kinds: [disruptionBudget]
#   severity: low
#   why: No administrator can drain the nodes of its pods, so broken GPUs stay in use.
#   closes: [S35]
#   remediation: |
#     Set maxUnavailable to 1, or minAvailable below the number of pods. To protect a training run, use the annotations of
#     the autoscaler (karpenter.sh/do-not-disrupt), which administrators can override.
package usher.checks.objects.budget_that_blocks_eviction

deny contains finding if {
	not input.site.systemNamespace
	some field in ["maxUnavailable", "minAvailable"]
	value := _spec[field]
	_allows_none(field, value)

	finding := {
		"path": $"/spec/{field}",
		"message": $"{field} {value} allows no eviction of the pods, so their nodes cannot be drained",
		"remedy": "set maxUnavailable to 1",
	}
}

deny contains finding if {
	not input.site.systemNamespace
	not _blocks_by_spec
	status := input.object.disruptionBudget.status
	status.expectedPods > 0
	status.desiredHealthy >= status.expectedPods

	finding := {
		"path": "/spec",
		"message": $"{status.desiredHealthy} of {status.expectedPods} pods must be available, so no eviction of them is allowed and their nodes cannot be drained",
		"remedy": "set maxUnavailable to 1",
	}
}

_spec := input.object.disruptionBudget.spec

_blocks_by_spec if {
	some field, value in _spec
	_allows_none(field, value)
}

_allows_none("maxUnavailable", value) if value in [0, "0", "0%"]

_allows_none("minAvailable", "100%")
