# METADATA
# title: A StatefulSet with a gang uses podManagementPolicy Parallel
# description: |
#   A StatefulSet makes its pods one after the other, unless podManagementPolicy is Parallel. Each pod must be ready
#   before the next one is made. Volcano places no pod before there are as many pods as
#   scheduling.volcano.sh/group-min-member says. So the first pod waits for the second pod, which is never made.
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
#   why: The first pod waits forever, because the other pods are made only after it runs.
#   closes: [S24]
#   remediation: |
#     Set `podManagementPolicy: Parallel`. This field cannot be changed later, so delete the StatefulSet and create it
#     again.
package usher.checks.gang.stateful_set_in_order

import data.usher.lib.volcano

deny contains finding if {
	volcano.places_pods
	volcano.min_member > 1
	volcano.makes_pods_in_order

	finding := {
		"path": "/spec/podManagementPolicy",
		"message": $"the StatefulSet makes its pods one after the other, but Volcano waits for {volcano.min_member} pods before it places the first one",
		"remedy": "set podManagementPolicy to Parallel",
	}
}
