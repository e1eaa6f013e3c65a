# METADATA
# title: Autoscaling
# description: What the two kinds of autoscalers say, and of whom.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.autoscaling

# METADATA
# title: What the autoscaler scales
# description: |
#   API group and kind, the group empty where none is given. KEDA takes a Deployment for a missing kind, and apps/v1 for
#   a missing version. Autoscalers that an operator made are left to what they were made of.
target := {"group": _group(reference), "kind": reference.kind, "path": "/spec/scaleTargetRef"} if {
	not input.object.horizontalPodAutoscaler.metadata.ownerReferences
	reference := input.object.horizontalPodAutoscaler.spec.scaleTargetRef
}

target := {"group": group, "kind": kind, "path": "/spec/scaleTargetRef"} if {
	not input.object.scaledObject.metadata.ownerReferences
	reference := input.object.scaledObject.spec.scaleTargetRef
	kind := _given(object.get(reference, "kind", ""), "Deployment")
	group := _group({"apiVersion": _given(object.get(reference, "apiVersion", ""), "apps/v1")})
}

# METADATA
# title: Bounds of the autoscaler
# description: With the fields' names; `maximum` is KEDA's default where a ScaledObject gives none.
bounds := {"minimum": minimum, "maximum": maximum, "minimumField": "minReplicas", "maximumField": "maxReplicas"} if {
	not input.object.horizontalPodAutoscaler.metadata.ownerReferences
	spec := input.object.horizontalPodAutoscaler.spec
	minimum := object.get(spec, "minReplicas", 1)
	maximum := spec.maxReplicas
}

bounds := {
	"minimum": minimum,
	"maximum": maximum,
	"minimumField": "minReplicaCount",
	"maximumField": "maxReplicaCount",
} if {
	not input.object.scaledObject.metadata.ownerReferences
	spec := input.object.scaledObject.spec
	minimum := object.get(spec, "minReplicaCount", 0)
	maximum := object.get(spec, "maxReplicaCount", default_maximum)
}

# METADATA
# title: KEDA's maximum where none is given
default_maximum := 100

_group(reference) := group if {
	parts := split(object.get(reference, "apiVersion", ""), "/")
	count(parts) == 2
	group := parts[0]
} else := ""

_given(text, _) := text if text != ""

_given(text, otherwise) := otherwise if text == ""
