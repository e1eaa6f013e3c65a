# METADATA
# title: Only controllers boost the priority of a workload
# description: |
#   Where the feature PriorityBoost is on, Kueue adds the annotation kueue.x-k8s.io/priority-boost of a Workload to its
#   priority. The annotation is for controllers. A user who may write Workloads can use it to overtake every queue and
#   evict the jobs of others. The check finds a user who sets or changes the annotation. It ignores later writes by
#   Kueue that keep the value. List the controllers that may set it in the parameter identities.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations/
#     description: Kueue on its labels and annotations
# schemas:
#   - input: schema.input
# custom:
#   code: USH420
#   about: objects
#   kinds: [kueueWorkload]
#   severity: medium
#   why: One annotation puts a job before all others and evicts running jobs.
#   closes: [S22]
#   parameters:
#     identities:
#       default: []
#       description: Identities of usher.yaml that may boost priorities, in addition to administrators and controllers.
#   remediation: |
#     Remove the annotation, and give the job a priority class.
package usher.checks.queueing.workload_priority_boost

import data.usher.lib.kueue
import data.usher.lib.parameters
import data.usher.lib.text

_boost := "kueue.x-k8s.io/priority-boost"

deny contains finding if {
	boost := input.object.kueueWorkload.metadata.annotations[_boost]
	not _has_it_already(boost)
	identities := parameters.queueing.workload_priority_boost.identities
	kueue.user_is_not_one_of(array.concat(["administrators", "controllers"], identities))

	finding := {
		"path": $"/metadata/annotations/{kueue.escaped(_boost)}",
		"message": $"{_boost} {text.excerpt(boost)} is set by hand and changes the priority of the Workload regardless of its class",
		"remedy": $"remove {_boost}, and give the job a priority class",
	}
}

_has_it_already(boost) if input.old.object.kueueWorkload.metadata.annotations[_boost] == boost
