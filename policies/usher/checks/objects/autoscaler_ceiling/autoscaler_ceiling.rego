# METADATA
# title: The maximum of an autoscaler is not above the configured maximum
# description: |
#   The target of an autoscaler may take the maximum of the autoscaler times the accelerators of one replica. The object
#   does not show what its target asks for, so this check counts replicas. `usher workload show` counts the accelerators
#   of a target in the same file.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/
#     description: Kubernetes on the HorizontalPodAutoscaler
# schemas:
#   - input: schema.input
# custom:
#   code: USH1461
#   about: objects
#   kinds: [horizontalPodAutoscaler, podAutoscaler, scaledObject]
#   severity: low
#   why: One burst of requests lets a service take the GPUs of all others.
#   closes: [S36, B24, B25]
#   parameters:
#     maximum:
#       default: 100
#       description: Maximum number of replicas that an autoscaler may make.
#   remediation: |
#     Lower the maximum, or raise the maximum of the namespace in usher.yaml (parameters, autoscaler-ceiling, maximum).
package usher.checks.objects.autoscaler_ceiling

import data.usher.lib.parameters

deny contains finding if {
	some field, replicas in _maximum
	replicas > _ceiling

	finding := {
		"path": $"/spec/{field}",
		"message": $"the autoscaler may scale to {replicas} replicas, more than the maximum of {_ceiling}",
		"remedy": $"set at most {_ceiling}, or have the maximum raised",
		"assumption": "usher assumes that the scaled object asks for accelerators",
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
