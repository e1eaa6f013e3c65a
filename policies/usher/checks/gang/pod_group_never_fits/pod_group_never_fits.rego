# METADATA
# title: A PodGroup fits into its Volcano queue and on the nodes
# description: |
#   Volcano starts a gang only once its queue has room for the minResources of the PodGroup. A queue never gives more of
#   a resource than its `capability` names, even if it is otherwise empty. So a PodGroup that asks for more never
#   starts, even if its pods are made by hand. A queue does not limit resources that its capability does not name. The
#   queues above it also count if the scheduler's plugin capacity has enableHierarchy.
#
#   If a file holds a PodGroup and pods that name it, usher also compares the pods that start first with the queue, and
#   with the nodes. The other pods of the file must not belong to a controller. Another file may hold more pods of the
#   group, so these findings only warn.
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

deny contains finding if {
	some shortage in input.cluster.podGroupObject.shortages
	shortage.verdict == "never"
	shortage.ofPods
	can := together.shown(shortage.resource, shortage.capability)

	finding := {
		"path": "/spec",
		"message": $"the first pods of the group need {together.shown(shortage.resource, shortage.needs)} of {shortage.resource} at once, but Volcano queue {shortage.queue} can never give more than {can}",
		"remedy": $"ask for at most {can} of {shortage.resource}, or choose a queue with more",
		"assumption": shortage.assumption,
	}
}

deny contains finding if {
	gang := input.cluster.podGroupNodes

	finding := {
		"path": "/spec/minMember",
		"message": $"{gang.wanted} pods of the group must start together, but even empty nodes hold only {gang.most} of them at once, so they can never all run",
		"remedy": $"start at most {gang.most} pods together, or make them smaller",
		"assumption": "usher assumes that no other pods name this PodGroup, and that the number of nodes does not grow",
	}
}

deny contains object.union(finding, volcano.assumption_of_shortage({}, shortage)) if {
	some shortage in input.cluster.podGroupObject.shortages
	shortage.verdict == "never"
	not shortage.ofPods
	can := together.shown(shortage.resource, shortage.capability)

	finding := {
		"path": "/spec/minResources",
		"message": $"the group needs {together.shown(shortage.resource, shortage.needs)} of {shortage.resource} at once, but Volcano queue {shortage.queue} can never give more than {can}",
		"remedy": $"ask for at most {can} of {shortage.resource}, or choose a queue with more",
	}
}
