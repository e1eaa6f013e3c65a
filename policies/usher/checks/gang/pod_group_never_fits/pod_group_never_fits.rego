# METADATA
# title: The Volcano queue of a PodGroup can hold its minResources
# description: |
#   Volcano starts a gang only once its queue has room for the minResources of the PodGroup. A queue never gives more of
#   a resource than its `capability` names, even if it is otherwise empty. So a PodGroup that asks for more never
#   starts, even if its pods are made by hand. A queue does not limit resources that its capability does not name. The
#   queues above it also count if the scheduler's plugin capacity has enableHierarchy.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/podgroup/
#     description: Volcano on minResources
# schemas:
#   - input: schema.input
# custom:
#   code: USH549
#   about: cluster facts
#   kinds: [volcanoPodGroup]
#   severity: high
#   why: No pod of the group ever starts, even if the cluster is empty.
#   closes: [S25, S26]
#   remediation: Lower minResources, choose a queue with more, or have the capability raised.
package usher.checks.gang.pod_group_never_fits

import data.usher.lib.together
import data.usher.lib.volcano

deny contains object.union(finding, volcano.assumption_of_shortage({}, shortage)) if {
	some shortage in input.cluster.podGroupObject.shortages
	shortage.verdict == "never"
	can := together.shown(shortage.resource, shortage.capability)

	finding := {
		"path": "/spec/minResources",
		"message": $"the group needs {together.shown(shortage.resource, shortage.needs)} of {shortage.resource} at once, but Volcano queue {shortage.queue} can never give more than {can}",
		"remedy": $"ask for at most {can} of {shortage.resource}, or choose a queue with more",
	}
}
