# METADATA
# title: A Deployment with a gang uses the strategy Recreate
# description: |
#   Volcano makes one gang for every ReplicaSet. During a rolling update a Deployment has two of them. The new
#   ReplicaSet has only the few surge pods, and they wait until their gang is complete. The old ReplicaSet keeps its
#   pods until then. So the rollout needs room for both gangs, else it hangs. Volcano reads the size of the gang from
#   the annotation scheduling.volcano.sh/group-min-member.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#strategy
#     description: Kubernetes on the strategies of a Deployment
#   - ref: https://volcano.sh/en/docs/podgroup/
#     description: Volcano on PodGroups
# schemas:
#   - input: schema.input
# custom:
#   code: USH508
#   about: accelerator pods
#   severity: low
#   why: An update of the Deployment can hang until somebody deletes its old pods.
#   closes: [S24]
#   remediation: |
#     Set `strategy.type: Recreate`. Or use a kind that is made for groups of pods: a LeaderWorkerSet or a Volcano Job.
package usher.checks.gang.deployment_as_gang

import data.usher.lib.volcano

deny contains finding if {
	input.workload.kind == "Deployment"
	volcano.places_pods
	volcano.min_member > 1
	object.get(input.workload.pods, "maximum", -1) != input.workload.pods.minimum

	finding := {
		"path": "/metadata/annotations/scheduling.volcano.sh~1group-min-member",
		"message": $"a rolling update makes a second gang of {volcano.min_member} pods beside the first, and hangs if there is no room for both",
		"remedy": "set strategy.type to Recreate",
	}
}
