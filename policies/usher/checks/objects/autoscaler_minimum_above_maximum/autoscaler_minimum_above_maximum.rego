# METADATA
# title: The minimum of an autoscaler is not above its maximum
# description: |
#   The API server refuses a HorizontalPodAutoscaler if its minReplicas is more than its maxReplicas. KEDA refuses a
#   ScaledObject if its minReplicaCount is more than its maxReplicaCount, which is 100 by default.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/
#     description: Kubernetes on the HorizontalPodAutoscaler
#   - ref: https://keda.sh/docs/latest/reference/scaledobject-spec/
#     description: KEDA on ScaledObjects
# schemas:
#   - input: schema.input
# custom:
#   code: USH1463
#   about: objects
#   kinds: [horizontalPodAutoscaler, podAutoscaler, scaledObject]
#   severity: high
#   why: The autoscaler is refused, so the service keeps its current size.
#   closes: [S36]
#   remediation: Lower the minimum, or raise the maximum.
package usher.checks.objects.autoscaler_minimum_above_maximum

import data.usher.lib.autoscaling

deny contains finding if {
	bounds := autoscaling.bounds
	bounds.minimum > bounds.maximum

	finding := {
		"path": $"/spec/{bounds.minimumField}",
		"message": $"the minimum of {bounds.minimum} replicas is more than the maximum of {bounds.maximum}, so the autoscaler is refused",
		"remedy": $"lower {bounds.minimumField}, or raise {bounds.maximumField}",
	}
}
