# METADATA
# title: Rollouts
# description: How a Deployment or a Rollout of Argo replaces its pods.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.rollouts

import data.usher.lib.serving

# METADATA
# title: Where the object says how it replaces its pods
default strategy_path := "/spec/strategy"

strategy_path := "/spec/predictor/deploymentStrategy" if input.object.inferenceService

# METADATA
# title: The field that says it, in words
default strategy_name := "the strategy"

strategy_name := "deploymentStrategy of the predictor" if input.object.inferenceService

# METADATA
# title: A rollout that makes all new pods before it stops an old one
# description: |
#   KubeRay makes a second RayCluster for a change of a RayService, and Knative a second Revision. Undefined for other
#   objects, and for a RayService with another strategy. `path` is where the finding points, `remedy` what helps.
whole := {
	"path": "/spec",
	"remedy": "set upgradeStrategy.type to None, which stops the old cluster first, or keep as many accelerators free",
} if {
	service := input.object.rayService
	object.get(service, ["spec", "upgradeStrategy", "type"], "NewCluster") in ["", "NewCluster"]
}

whole := {"path": "/spec/template", "remedy": "keep as many accelerators free, or use a Deployment with maxSurge 0"} if {
	input.workload.group == "serving.knative.dev"
}

whole := {
	"path": "/spec/predictor",
	"remedy": "keep as many accelerators free, or use the deployment mode Standard with the strategy Recreate",
} if {
	input.object.inferenceService
	serving.kserve_mode == "Knative"
}

# METADATA
# title: Pods that a rollout makes before any old pod stops
# description: Undefined if an old pod stops first, or if the rollout makes no pod beside the old ones.
surge_before_stopping := surge if {
	input.object.deployment
	object.get(input.object.deployment, ["spec", "strategy", "type"], "") != "Recreate"
	surge := input.workload.pods.maximum - input.workload.pods.minimum
	surge > 0
	_unavailable == 0
}

# KServe makes a Deployment of the predictor in the mode Standard.
surge_before_stopping := surge if {
	spec := input.object.inferenceService.spec
	serving.kserve_mode == "Standard"
	not spec.transformer
	not spec.explainer
	object.get(spec, ["predictor", "deploymentStrategy", "type"], "") != "Recreate"
	surge := input.workload.pods.maximum - input.workload.pods.minimum
	surge > 0
	_unavailable == 0
}

# Blue-green, and a canary with traffic routing, stop no old pod before the new ones have all requests.
surge_before_stopping := surge if {
	strategy := input.object.rollout.spec.strategy
	_keeps_all(strategy)
	surge := input.workload.pods.maximum - input.workload.pods.minimum
	surge > 0
}

surge_before_stopping := surge if {
	input.object.rollout
	not _keeps_all(object.get(input.object.rollout, ["spec", "strategy"], {}))
	surge := input.workload.pods.maximum - input.workload.pods.minimum
	surge > 0
	_unavailable == 0
}

# METADATA
# title: Why a rollout of Argo stops no old pod before it has made all new ones
# description: Undefined for other rollouts.
keeps_old_pods := "blueGreen" if input.object.rollout.spec.strategy.blueGreen

keeps_old_pods := "trafficRouting" if input.object.rollout.spec.strategy.canary.trafficRouting

_keeps_all(strategy) if strategy.blueGreen

_keeps_all(strategy) if strategy.canary.trafficRouting

default _max_unavailable := "25%"

_max_unavailable := input.object.rollout.spec.strategy.canary.maxUnavailable

_max_unavailable := input.object.deployment.spec.strategy.rollingUpdate.maxUnavailable

_max_unavailable := input.object.inferenceService.spec.predictor.deploymentStrategy.rollingUpdate.maxUnavailable

_unavailable := _max_unavailable if is_number(_max_unavailable)

_unavailable := floor((input.workload.pods.minimum * percent) / 100) if {
	percent := to_number(trim_suffix(_max_unavailable, "%"))
}
