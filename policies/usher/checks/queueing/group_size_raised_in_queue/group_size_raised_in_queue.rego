# METADATA
# title: The groups of a queued LeaderWorkerSet keep their size
# description: |
#   Kueue reserves quota for a group when it admits it. Kueue before 0.18.5 accepts a larger size of groups that it has
#   admitted, and the additional pods run without quota. Later versions refuse every change of the size. usher refuses a
#   larger size for all versions. Administrators, controllers and the identities of the parameter may change it.
# scope: package
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/kueue/pull/13807
#     description: Kueue on the size of groups that it manages
# schemas:
#   - input: schema.input
# custom:
#   code: USH450
#   about: pods
#   severity: high
#   why: The additional pods take GPUs that no quota counts.
#   closes: [B32]
#   parameters:
#     identities:
#       default: []
#       description: Identities of usher.yaml that may change the size, in addition to administrators and controllers.
#   remediation: Change spec.replicas, which Kueue counts, or delete the LeaderWorkerSet and create it with the new size.
package usher.checks.queueing.group_size_raised_in_queue

import data.usher.lib.kueue
import data.usher.lib.parameters

deny contains finding if {
	before := input.old.object.leaderWorkerSet.spec.leaderWorkerTemplate.size
	after := input.object.leaderWorkerSet.spec.leaderWorkerTemplate.size
	after > before
	input.old.labels[kueue.queue_label] != ""
	not input.workload.owned
	identities := parameters.queueing.group_size_raised_in_queue.identities
	kueue.user_is_not_one_of(array.concat(["administrators", "controllers"], identities))

	finding := {
		"path": "/spec/leaderWorkerTemplate/size",
		"message": $"the groups of a LeaderWorkerSet in a queue grow from {before} to {after} pods, and Kueue before 0.18.5 does not count the new pods",
		"remedy": "change spec.replicas, or create the LeaderWorkerSet again with the new size",
	}
}
