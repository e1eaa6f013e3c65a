# METADATA
# title: A ScaledObject has an upper bound
# description: |
#   Where a ScaledObject gives no maxReplicaCount KEDA scales up to a hundred replicas. For a service without accelerators
#   that may well do; a hundred GPUs nobody has meant. The object alone does not tell what its target asks for.
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
#   why: A service that grows without anybody having said how far takes the GPUs of all others.
#   closes: [S36, B25]
#   remediation: Set `maxReplicaCount` to as many replicas as the service may have.
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
		"assumption": "what it scales asks for accelerators",
	}
}
