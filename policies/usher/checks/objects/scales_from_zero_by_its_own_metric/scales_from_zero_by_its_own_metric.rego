# METADATA
# title: A service that scales to zero starts by a metric that exists without it
# description: |
#   A ScaledObject with the minimum 0, KEDA's default, stops the last replica. It starts the first one when a trigger
#   reports work. Metrics of a model server, for example vllm:num_requests_waiting, come from its own pods. Without a
#   pod the query has no result, so the trigger never reports work and the service stays at zero. A metric of a gateway,
#   of a queue or of KEDA's HTTP add-on exists without pods. The check finds ScaledObjects whose triggers all ask
#   Prometheus for metrics of model servers, or are those for CPU and memory, which start no first pod either.
# scope: package
# related_resources:
#   - ref: https://keda.sh/docs/latest/concepts/scaling-deployments/
#     description: KEDA on activation
#   - ref: https://docs.vllm.ai/en/latest/usage/metrics/
#     description: vLLM on its metrics
# schemas:
#   - input: schema.input
# custom:
#   code: USH1486
#   about: objects
#   kinds: [scaledObject]
#   severity: medium
#   why: Once at zero, the service never starts again.
#   remediation: |
#     Set minReplicaCount to 1, or add a trigger on a metric of the gateway or a queue in front of the service.
package usher.checks.objects.scales_from_zero_by_its_own_metric

import data.usher.lib.autoscaling

# The beginnings of the names of metrics, which only a running server reports.
_metrics := [
	"llamacpp:",
	"nv_inference_",
	"nv_trt_llm_",
	"sglang:",
	"te_queue_size",
	"te_request_",
	"tgi_",
	"trtllm_",
	"vllm:",
]

deny contains finding if {
	not input.object.scaledObject.metadata.ownerReferences
	spec := input.object.scaledObject.spec
	_least(spec) == 0
	triggers := object.get(spec, "triggers", [])
	every trigger in triggers {
		_needs_a_pod(trigger)
	}
	metric := min({each | some trigger in triggers; each := _metric(trigger)})

	finding := {
		"path": "/spec/triggers/0",
		"message": $"the ScaledObject may scale to 0, but only the pods of the service report metrics that begin with {metric}, so no trigger ever starts the first one",
		"remedy": "set minReplicaCount to 1, or add a trigger on a metric that exists without the pods, for example of the gateway",
	}
}

deny contains finding if {
	not input.object.scaledObject.metadata.ownerReferences
	spec := input.object.scaledObject.spec
	autoscaling.bounds.minimum == 0
	count(spec.triggers) > 0
	every trigger in spec.triggers {
		trigger.type in ["cpu", "memory"]
	}

	finding := {
		"path": "/spec/triggers/0",
		"message": "the ScaledObject may scale to 0, but has only triggers for cpu and memory: nothing starts the first pod, so KEDA refuses it",
		"remedy": "set minReplicaCount to 1, or add a trigger on a metric that exists without the pods, for example of the gateway",
	}
}

_least(spec) := object.get(spec, "idleReplicaCount", autoscaling.bounds.minimum)

# KEDA's triggers for CPU and memory start no first pod either.
_needs_a_pod(trigger) if trigger.type in ["cpu", "memory"]

_needs_a_pod(trigger) if {
	_metric(trigger)
	not contains(trigger.metadata.query, "vector(")
	not contains(trigger.metadata.query, "absent")
}

_metric(trigger) := min({metric |
	trigger.type == "prometheus"
	some metric in _metrics
	contains(trigger.metadata.query, metric)
})
