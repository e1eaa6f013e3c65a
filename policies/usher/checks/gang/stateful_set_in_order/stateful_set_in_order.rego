# METADATA
# title: The pods of a StatefulSet that is a gang are made at once
# description: |
#   A StatefulSet makes its pods one after the other, each when the one before it is ready, unless podManagementPolicy is
#   Parallel. Volcano places none of them before as many are there as scheduling.volcano.sh/group-min-member says. The
#   first pod waits for the second, which is never made.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#pod-management-policies
#     description: Kubernetes on the order of a StatefulSet's pods
#   - ref: https://volcano.sh/en/docs/podgroup/
#     description: Volcano on minMember
# schemas:
#   - input: schema.input
# custom:
#   code: USH516
#   about: accelerator pods
#   severity: high
#   why: The first pod waits for ever for others that nobody makes before it runs.
#   closes: [S24]
#   remediation: |
#     Set `podManagementPolicy: Parallel`. The field cannot be changed later, so the StatefulSet has to be made anew.
package usher.checks.gang.stateful_set_in_order

import data.usher.lib.volcano

deny contains finding if {
	volcano.places_pods
	volcano.min_member > 1
	volcano.makes_pods_in_order

	finding := {
		"path": "/spec/podManagementPolicy",
		"message": $"its pods are made one after the other, but Volcano waits for {volcano.min_member} of them before it places the first",
		"remedy": "set podManagementPolicy to Parallel",
	}
}
