# METADATA
# title: Pods request what their autoscaler measures
# description: |
#   An autoscaler that scales by the utilisation of cpu or memory divides what the pods use by what they request. If one
#   container of the pods, also a sidecar, has no request, a HorizontalPodAutoscaler gets no value (missing request for
#   cpu) and never scales. KEDA's webhook refuses a ScaledObject with a trigger like this. A limit is also the request.
#
#   The check compares the autoscaler with its target in the same files, and skips namespaces with a LimitRange, which
#   may add requests. `usher check` alone finds this.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#algorithm-details
#     description: Kubernetes on utilisation
#   - ref: https://keda.sh/docs/latest/scalers/cpu/
#     description: KEDA on its trigger for cpu
# schemas:
#   - input: schema.input
# custom:
#   code: USH1581
#   about: objects
#   kinds: [horizontalPodAutoscaler, scaledObject]
#   severity: medium
#   why: The service never gets a second replica, however many requests wait.
#   remediation: |
#     Add requests to each container of the pods. Servers with GPUs should rather scale by the requests that wait.
package usher.checks.objects.autoscaler_without_requests

import data.usher.lib.text

deny contains finding if {
	some measure in _measures
	container := input.beside.unrequested[measure.resource]

	finding := {
		"path": measure.path,
		"message": $"the autoscaler divides by the {measure.resource} that the pods request, but container {text.excerpt(container)} has no request for it, so it never gets a value",
		"remedy": $"set requests.{measure.resource} for each container of the pods",
	}
}

_measures contains {"path": $"/spec/metrics/{index}/resource", "resource": metric.resource.name} if {
	not input.object.horizontalPodAutoscaler.metadata.ownerReferences
	some index, metric in input.object.horizontalPodAutoscaler.spec.metrics
	metric.resource.target.type == "Utilization"
}

_measures contains {"path": $"/spec/triggers/{index}", "resource": trigger.type} if {
	not input.object.scaledObject.metadata.ownerReferences
	some index, trigger in input.object.scaledObject.spec.triggers
	trigger.type in ["cpu", "memory"]
	object.get(trigger, "metricType", "Utilization") == "Utilization"
}
