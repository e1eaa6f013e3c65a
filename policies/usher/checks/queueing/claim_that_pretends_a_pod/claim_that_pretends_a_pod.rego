# METADATA
# title: Only the scheduler makes claims for the extended resources of a pod
# description: |
#   The scheduler makes a ResourceClaim for a pod that asks for an extended resource of a DeviceClass, and marks it with
#   the annotation resource.kubernetes.io/extended-resource-claim. Kubernetes does not count this claim in quotas of
#   device classes, because the quota of the extended resource counts the pod. A user who writes the annotation gets
#   devices that no quota counts, and other pods may use the claim. Only the scheduler needs the annotation, so the check
#   reports it in files too.
# scope: package
# related_resources:
#   - ref: https://github.com/kubernetes/kubernetes/issues/135404
#     description: Kubernetes on claims that pretend to belong to a pod
# schemas:
#   - input: schema.input
# custom:
#   code: USH453
#   about: objects
#   kinds: [resourceClaim]
#   severity: high
#   why: The claim takes devices that no quota counts.
#   closes: [B31]
#   parameters:
#     identities:
#       default: [controllers, schedulers]
#       description: Identities of usher.yaml that make these claims.
#   remediation: Remove the annotation, or ask for the extended resource in the pod.
package usher.checks.queueing.claim_that_pretends_a_pod

import data.usher.lib.kueue
import data.usher.lib.parameters

_annotation := "resource.kubernetes.io/extended-resource-claim"

deny contains finding if {
	input.object.resourceClaim.metadata.annotations[_annotation]
	not input.old.object.resourceClaim.metadata.annotations[_annotation]
	_by_hand

	finding := {
		"path": $"/metadata/annotations/{kueue.escaped(_annotation)}",
		"message": $"the claim has the annotation {_annotation}, which only the scheduler sets, so no quota counts its devices",
		"remedy": "remove the annotation",
	}
}

_by_hand if not input.review

_by_hand if kueue.user_is_not_one_of(parameters.queueing.claim_that_pretends_a_pod.identities)
