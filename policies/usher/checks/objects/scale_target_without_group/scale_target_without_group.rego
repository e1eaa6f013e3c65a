# METADATA
# title: An autoscaler names the API group of its target
# description: |
#   A HorizontalPodAutoscaler looks for its target in the API group of scaleTargetRef.apiVersion. Without it, or with
#   v1, this is the core group, which has only ReplicationControllers to scale. For KEDA a missing version means
#   apps/v1, which has no LeaderWorkerSets or training jobs. The autoscaler never finds the target.
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
#   why: The autoscaler never finds its target.
#   remediation: Set `apiVersion` of the target in scaleTargetRef, for example apps/v1 for a Deployment.
package usher.checks.objects.scale_target_without_group

import data.usher.lib.autoscaling

_in_apps := ["Deployment", "ReplicaSet", "StatefulSet"]

# Another check reports that an autoscaler cannot scale these.
_not_scalable := ["DaemonSet", "Pod"]

deny contains finding if {
	target := autoscaling.target
	target.group == ""
	not target.kind in ["ReplicationController", "Pod"]

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
