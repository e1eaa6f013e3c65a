# METADATA
# title: Autoscaling
# description: Targets and bounds of autoscalers.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.autoscaling

# METADATA
# title: Target of the autoscaler
# description: |
#   API group and kind. The group is empty if the manifest names no group. KEDA uses Deployment for a missing kind, and
#   apps/v1 for a missing version. Undefined for autoscalers that an operator made, because their owner is judged.
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

target := {"group": _group(reference), "kind": reference.kind, "path": "/spec/scaleTargetRef"} if {
	not input.object.podAutoscaler.metadata.ownerReferences
	reference := input.object.podAutoscaler.spec.scaleTargetRef
}

# METADATA
# title: Bounds of the autoscaler
# description: With the names of the fields. `maximum` is KEDA's default if a ScaledObject has no maximum.
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

bounds := {"minimum": minimum, "maximum": maximum, "minimumField": "minReplicas", "maximumField": "maxReplicas"} if {
	not input.object.podAutoscaler.metadata.ownerReferences
	spec := input.object.podAutoscaler.spec
	minimum := object.get(spec, "minReplicas", 1)
	maximum := spec.maxReplicas
}

# METADATA
# title: KEDA's default maximum
default_maximum := 100

_group(reference) := group if {
	parts := split(object.get(reference, "apiVersion", ""), "/")
	count(parts) == 2
	group := parts[0]
} else := ""

_given(text, _) := text if text != ""

_given(text, otherwise) := otherwise if text == ""
