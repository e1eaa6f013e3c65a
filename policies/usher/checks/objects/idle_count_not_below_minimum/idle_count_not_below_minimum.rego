# METADATA
# title: idleReplicaCount of a ScaledObject is below its minimum
# description: |
#   idleReplicaCount is the number of replicas while no trigger is active. KEDA refuses a value that is not below
#   minReplicaCount, which is 0 by default. To free the GPUs of an idle service, set idleReplicaCount to 0 and
#   minReplicaCount to 1 or more. A minReplicaCount of 0 alone has the same effect.
# scope: package
# related_resources:
#   - ref: https://keda.sh/docs/latest/reference/scaledobject-spec/#idlereplicacount
#     description: KEDA on idleReplicaCount
# schemas:
#   - input: schema.input
# custom:
#   code: USH1466
#   about: objects
#   kinds: [scaledObject]
#   severity: high
#   why: KEDA refuses the ScaledObject, so the service keeps its GPUs while it is idle.
#   closes: [S36]
#   remediation: Remove `idleReplicaCount`, or set `minReplicaCount` above it.
package usher.checks.objects.idle_count_not_below_minimum

import data.usher.lib.autoscaling

deny contains finding if {
	idle := input.object.scaledObject.spec.idleReplicaCount
	minimum := autoscaling.bounds.minimum
	idle >= minimum

	finding := {
		"path": "/spec/idleReplicaCount",
		"message": $"idleReplicaCount {idle} is not below minReplicaCount {minimum}, so KEDA refuses the ScaledObject",
		"remedy": $"remove it, or set minReplicaCount to {idle + 1} or more",
	}
}
