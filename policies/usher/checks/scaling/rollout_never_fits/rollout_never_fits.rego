# METADATA
# title: The nodes can hold the pods of a rollout
# description: |
#   A Deployment or Rollout that makes new pods before it stops old ones needs room for both. The check computes how
#   many of its pods the nodes hold when they are empty. If that is fewer than the replicas and the first new pod, no
#   rollout ever ends: the new pod waits for accelerators, and the old ones for the new pod. Where nothing limits the
#   number of nodes, somebody may add nodes, so the finding only warns.
#
#   A RayService with the strategy NewCluster and a Service of Knative make all new pods before an old one stops, so they
#   need room for both: the pods with accelerators that always run count twice.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment
#     description: Kubernetes on rolling updates
#   - ref: https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/rayservice.html
#     description: Ray on upgrades without downtime
#   - ref: https://knative.dev/docs/serving/services/traffic-management/
#     description: Knative on the traffic between revisions
# schemas:
#   - input: schema.input
# custom:
#   code: USH1113
#   about: cluster facts
#   severity: medium
#   why: A new version of the service never starts.
#   remediation: |
#     Set strategy.rollingUpdate to maxSurge 0 and maxUnavailable 1, or the type of the strategy to Recreate. Or add
#     nodes. For a RayService, set upgradeStrategy.type to None. If an autoscaler adds nodes, say so in usher.yaml with scalesFromZero or maxNodes of the pool.
package usher.checks.scaling.rollout_never_fits

import data.usher.lib.rollouts

deny contains object.union_n([finding, _assumption(room), _of_kserve]) if {
	rollouts.surge_before_stopping
	not rollouts.keeps_old_pods
	not input.workload.owned
	room := input.cluster.nodes.rollout

	finding := {
		"path": rollouts.strategy_path,
		"message": _message("a rollout", room),
		"remedy": $"set maxSurge 0 and maxUnavailable 1, or the type of {rollouts.strategy_name} to Recreate",
	}
}

deny contains object.union(finding, _assumption(room)) if {
	way := rollouts.whole
	not input.workload.owned
	room := input.cluster.nodes.rollout

	finding := {
		"path": way.path,
		"message": _message("a change makes all pods a second time and", room),
		"remedy": way.remedy,
	}
}

deny contains object.union(finding, _assumption(room)) if {
	way := rollouts.keeps_old_pods
	not input.workload.owned
	room := input.cluster.nodes.rollout

	finding := {
		"path": rollouts.strategy_path,
		"message": $"with {way} a rollout makes all pods a second time before it stops the old ones, but even empty nodes hold only {room.most}, so it never ends",
		"remedy": $"use canary without {way}, with maxSurge 0 and maxUnavailable 1, or keep as many accelerators free",
	}
}

# The configuration of KServe may have a strategy for predictors without their own.
default _of_kserve := {}

_of_kserve := {"assumption": "usher assumes that the configuration of KServe sets no other strategy for its Deployments"} if {
	predictor := input.object.inferenceService.spec.predictor
	not predictor.deploymentStrategy
}

_message(what, room) := $"{what} needs room for {room.wanted} pods at once, but even empty nodes hold only {room.most}, so it never ends"

_assumption(room) := {} if room.sure

_assumption(room) := {"assumption": "usher assumes that the number of nodes does not grow: usher.yaml sets neither maxNodes nor scalesFromZero: false for their pools"} if {
	not room.sure
}
