# METADATA
# title: A HorizontalPodAutoscaler scales by a resource that is measured
# description: |
#   A metric of the type Resource or ContainerResource is the use of a resource by the pods, which the resource metrics
#   API reports for cpu and memory alone. Nothing reports the use of nvidia.com/gpu there, so the autoscaler never gets
#   a value and never scales. The use of GPUs is a metric of the DCGM exporter, and the load of a model server a metric
#   of the server. An adapter or KEDA brings both to the autoscaler.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/debug/debug-cluster/resource-metrics-pipeline/
#     description: Kubernetes on resource metrics
#   - ref: https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
#     description: Kubernetes on autoscaling
# schemas:
#   - input: schema.input
# custom:
#   code: USH1484
#   about: objects
#   kinds: [horizontalPodAutoscaler]
#   severity: high
#   why: The autoscaler never gets a value for the metric, so it never scales by it.
#   remediation: |
#     Use a metric of the type Pods or External, for example the requests that wait in the model server, or a
#     ScaledObject of KEDA with a query to Prometheus.
package usher.checks.objects.metric_of_no_such_resource

import data.usher.lib.text

_measured := ["cpu", "memory"]

deny contains finding if {
	not input.object.horizontalPodAutoscaler.metadata.ownerReferences
	some index, metric in input.object.horizontalPodAutoscaler.spec.metrics
	some field in ["resource", "containerResource"]
	name := metric[field].name
	not name in _measured

	finding := {
		"path": $"/spec/metrics/{index}/{field}/name",
		"message": $"no metric exists for the resource {text.excerpt(name)}, only for cpu and memory, so the autoscaler never gets a value",
		"remedy": "use a metric of the type Pods or External, for example the requests that wait, or KEDA with a query to Prometheus",
	}
}
