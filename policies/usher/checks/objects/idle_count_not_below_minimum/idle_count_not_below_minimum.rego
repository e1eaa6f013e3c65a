# METADATA
# title: A ScaledObject idles below its minimum
# description: |
#   idleReplicaCount is how many replicas stay while nothing triggers, so KEDA refuses one that is not below
#   minReplicaCount, which is 0 where it is missing. To give the GPUs back while nobody asks for anything it takes both:
#   an idleReplicaCount of 0 and a minReplicaCount of 1 or more; a minReplicaCount of 0 alone does the same.
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
#   why: KEDA refuses the ScaledObject, so the service keeps its GPUs while nobody uses it.
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
		"message": $"KEDA refuses an idleReplicaCount of {idle} that is not below the minReplicaCount of {minimum}",
		"remedy": $"remove it, or set minReplicaCount to {idle + 1} or more",
	}
}
