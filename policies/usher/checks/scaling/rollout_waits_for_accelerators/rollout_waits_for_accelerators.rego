# METADATA
# title: A rollout does not need accelerators beside those that it replaces
# description: |
#   A Deployment rolls out by making new pods beside the old ones, a quarter of them unless maxSurge says otherwise, and
#   at least one. Of few replicas the default of maxUnavailable, a quarter rounded down, is none: no old pod may go
#   before a new one is ready, and the new ones wait for accelerators that nobody has. On a full cluster, or at the limit
#   of a quota, such a rollout never ends.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment
#     description: Kubernetes on rolling updates
# schemas:
#   - input: schema.input
# custom:
#   code: USH1105
#   about: accelerator pods
#   severity: low
#   why: On a full cluster a new version of the service waits for GPUs for ever.
#   remediation: |
#     Set strategy.rollingUpdate to maxSurge 0 and maxUnavailable 1, or the type of the strategy to Recreate; or keep that
#     many accelerators free.
package usher.checks.scaling.rollout_waits_for_accelerators

import data.usher.lib.workload

deny contains finding if {
	input.object.deployment
	surge := input.workload.pods.maximum - input.workload.pods.minimum
	surge > 0
	_unavailable == 0
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets

	finding := {
		"path": "/spec/strategy",
		"message": $"a rollout needs accelerators for {_pods(surge)} before any of the old ones goes, and stands still where none are free",
		"remedy": "keep them free, or let an old pod go first: maxSurge 0 and maxUnavailable 1",
	}
}

_pods(number) := "1 more pod" if number == 1

_pods(number) := $"{number} more pods" if number != 1

default _max_unavailable := "25%"

_max_unavailable := input.object.deployment.spec.strategy.rollingUpdate.maxUnavailable

_unavailable := _max_unavailable if is_number(_max_unavailable)

_unavailable := floor((input.workload.pods.minimum * percent) / 100) if {
	percent := to_number(trim_suffix(_max_unavailable, "%"))
}
