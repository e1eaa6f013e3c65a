# METADATA
# title: idleReplicaCount of a ScaledObject is 0 and below its minimum
# description: |
#   idleReplicaCount is the number of replicas while no trigger is active. KEDA refuses a value that is not below
#   minReplicaCount, which is 0 by default. To free the GPUs of an idle service, set idleReplicaCount to 0 and
#   minReplicaCount to 1 or more. A minReplicaCount of 0 alone has the same effect.
#   KEDA supports no idleReplicaCount above 0: the autoscaler that it makes raises the replicas to minReplicaCount again.
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
	not input.object.scaledObject.metadata.ownerReferences
	idle := input.object.scaledObject.spec.idleReplicaCount
	idle > 0
	autoscaling.bounds.minimum > idle

	finding := {
		"path": "/spec/idleReplicaCount",
		"message": $"idleReplicaCount is {idle}, but KEDA supports only 0: its autoscaler raises the replicas to {autoscaling.bounds.minimum} again",
		"remedy": $"set idleReplicaCount to 0, or remove it and set minReplicaCount to {idle}",
	}
}

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
