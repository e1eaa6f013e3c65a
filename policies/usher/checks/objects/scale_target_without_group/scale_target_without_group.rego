# METADATA
# title: An autoscaler names the API group of its target
# description: |
#   A HorizontalPodAutoscaler looks for its target in the API group that scaleTargetRef.apiVersion names. Without one, or
#   with v1, that is the core group, in which nothing but a ReplicationController can be scaled. KEDA takes apps/v1 for a
#   missing version, which holds neither LeaderWorkerSets nor training jobs. The target is never found.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v2/
#     description: Kubernetes on scaleTargetRef
# schemas:
#   - input: schema.input
# custom:
#   code: USH1465
#   about: objects
#   kinds: [horizontalPodAutoscaler, scaledObject]
#   severity: medium
#   why: The autoscaler never finds what it should scale.
#   remediation: Give `apiVersion` of the target in scaleTargetRef, such as apps/v1 of a Deployment.
package usher.checks.objects.scale_target_without_group

import data.usher.lib.autoscaling

_in_apps := {"Deployment", "ReplicaSet", "StatefulSet"}

# That these cannot be scaled at all is for another check.
_not_scalable := {"DaemonSet", "Pod"}

deny contains finding if {
	target := autoscaling.target
	target.group == ""
	not target.kind in {"ReplicationController", "Pod"}

	finding := {
		"path": target.path,
		"message": $"the API group of the {target.kind} is missing, so the autoscaler never finds it",
		"remedy": $"set apiVersion of the target{_such_as(target.kind)}",
	}
}

deny contains finding if {
	target := autoscaling.target
	object.get(input.object.scaledObject.spec.scaleTargetRef, "apiVersion", "") == ""
	not target.kind in _in_apps
	not target.kind in _not_scalable

	finding := {
		"path": target.path,
		"message": $"without apiVersion KEDA looks for the {target.kind} in apps/v1, where it never finds it",
		"remedy": "set apiVersion of the target",
	}
}

_such_as(kind) := ": apps/v1" if kind in _in_apps

_such_as(kind) := "" if not kind in _in_apps
