# METADATA
# title: A ScaledObject sets maxReplicaCount
# description: |
#   Without maxReplicaCount, KEDA scales a ScaledObject to up to 100 replicas. For a service without accelerators that
#   may be right, but hardly anybody wants 100 GPUs. The object does not show what its target asks for.
# scope: package
# related_resources:
#   - ref: https://keda.sh/docs/latest/reference/scaledobject-spec/#maxreplicacount
#     description: KEDA on maxReplicaCount
# schemas:
#   - input: schema.input
# custom:
#   code: USH1460
#   about: objects
#   kinds: [scaledObject]
#   severity: low
#   why: A service without an intended maximum takes the GPUs of all others.
#   closes: [S36, B25]
#   remediation: Set `maxReplicaCount` to the number of replicas that the service may have.
package usher.checks.objects.scaled_object_without_bound

import data.usher.lib.autoscaling

deny contains finding if {
	spec := input.object.scaledObject.spec
	not spec.maxReplicaCount
	not input.object.scaledObject.metadata.ownerReferences

	finding := {
		"path": "/spec",
		"message": $"maxReplicaCount is missing, so KEDA may scale to {autoscaling.default_maximum} replicas",
		"remedy": "set maxReplicaCount",
		"assumption": "usher assumes that the scaled object asks for accelerators",
	}
}
