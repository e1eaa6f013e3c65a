# METADATA
# title: A rollout does not need extra accelerators
# description: |
#   A Deployment rolls out by making new pods beside the old ones. maxSurge sets how many: a quarter by default, and at
#   least one. maxUnavailable sets how many old pods may stop first: by default a quarter rounded down, which is 0 for
#   few replicas. Then no old pod stops before a new pod is ready, and the new pods wait for accelerators that are not
#   free. On a full cluster, or at the limit of a quota, this rollout never ends.
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
#   strict_only: A rollout stalls only while no accelerator is free, which a manifest does not say.
#   why: On a full cluster a new version of the service waits for GPUs forever.
#   remediation: |
#     Set strategy.rollingUpdate to maxSurge 0 and maxUnavailable 1, or set the type of the strategy to Recreate. Or
#     keep this many accelerators free.
package usher.checks.scaling.rollout_waits_for_accelerators

import data.usher.lib.rollouts
import data.usher.lib.workload

deny contains finding if {
	surge := rollouts.surge_before_stopping
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	not input.cluster.nodes.rollout

	finding := {
		"path": rollouts.strategy_path,
		"message": $"a rollout starts {_pods(surge)} before it stops an old one, and hangs while no accelerators are free for the start",
		"remedy": "set maxSurge 0 and maxUnavailable 1 to stop an old pod first, or keep accelerators free",
	}
}

_pods(number) := "1 new pod" if number == 1

_pods(number) := $"{number} new pods" if number != 1
