# METADATA
# title: Rollouts
# description: How a Deployment or a Rollout of Argo replaces its pods.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.rollouts

# METADATA
# title: Where the object says how it replaces its pods
strategy_path := "/spec/strategy"

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

_keeps_all(strategy) if strategy.blueGreen

_keeps_all(strategy) if strategy.canary.trafficRouting

default _max_unavailable := "25%"

_max_unavailable := input.object.rollout.spec.strategy.canary.maxUnavailable

_max_unavailable := input.object.deployment.spec.strategy.rollingUpdate.maxUnavailable

_unavailable := _max_unavailable if is_number(_max_unavailable)

_unavailable := floor((input.workload.pods.minimum * percent) / 100) if {
	percent := to_number(trim_suffix(_max_unavailable, "%"))
}
