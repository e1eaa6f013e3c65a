# METADATA
# title: An autoscaler stays below a ceiling
# description: |
#   The maximum of an autoscaler, times the accelerators of one replica, is what its target may take. The object alone
#   does not tell what its target asks for, so this counts replicas; `usher workload show` counts the accelerators of a
#   target that stands in the same file.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/
#     description: Kubernetes on the HorizontalPodAutoscaler
# schemas:
#   - input: schema.input
# custom:
#   code: USH1461
#   about: objects
#   kinds: [horizontalPodAutoscaler, scaledObject]
#   severity: low
#   why: One burst of requests lets a service take the GPUs of all others.
#   closes: [S36, B24, B25]
#   parameters:
#     maximum:
#       default: 100
#       description: Replicas that an autoscaler may make of its target.
#   remediation: |
#     Lower the maximum, or raise the ceiling of the namespace in usher.yaml (parameters, autoscaler-ceiling, maximum).
package usher.checks.objects.autoscaler_ceiling

import data.usher.lib.parameters

deny contains finding if {
	some field, replicas in _maximum
	replicas > _ceiling

	finding := {
		"path": $"/spec/{field}",
		"message": $"it may scale to {replicas} replicas, more than the {_ceiling} that an autoscaler may make",
		"remedy": $"stay at {_ceiling} or below, or have the ceiling raised",
		"assumption": "what it scales asks for accelerators",
	}
}

_ceiling := parameters.objects.autoscaler_ceiling.maximum

_maximum := {"maxReplicas": replicas} if {
	replicas := input.object.horizontalPodAutoscaler.spec.maxReplicas
	not input.object.horizontalPodAutoscaler.metadata.ownerReferences
}

_maximum := {"maxReplicaCount": replicas} if {
	replicas := input.object.scaledObject.spec.maxReplicaCount
	not input.object.scaledObject.metadata.ownerReferences
}
