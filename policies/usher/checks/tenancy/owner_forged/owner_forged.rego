# METADATA
# title: Only controllers make objects that a controller owns
# description: |
#   usher judges the owner of objects that a controller made. It does not apply quotas of a workload and the queue label
#   to them again. But an owner is only a few lines of a manifest, which any user can write. So usher believes an owner
#   only if a controller makes the object, and judges every other object by itself. usher.yaml lists the controllers
#   under `identities`. On UPDATE, an object keeps the owner that it had when a controller changes it; an owner that
#   another user adds does not count.
#   Only Kubernetes' own controllers make Pods of a ReplicaSet, a StatefulSet, a DaemonSet, a Job or a
#   ReplicationController, and ReplicaSets of a Deployment. Another user who makes one has forged the owner, or has
#   copied it from the output of `kubectl get -o yaml`. Of other kinds the check only warns, because the user may be an
#   operator that usher.yaml does not list yet.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/
#     description: Kubernetes on owners
# schemas:
#   - input: schema.input
# custom:
#   code: USH1202
#   about: accelerator pods
#   severity: medium
#   why: Pods with a forged owner bypass the maximum and the queue of their namespace.
#   closes: [B31]
#   parameters:
#     makers:
#       default: [administrators]
#       description: Identities of usher.yaml, other than controllers, that may also make these objects.
#   remediation: Remove metadata.ownerReferences, and let the owner make its pods.
package usher.checks.tenancy.owner_forged

import data.usher.lib.parameters

_owners := {
	"": {"ReplicationController"},
	"apps": {"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"},
	"batch": {"Job"},
}

deny contains object.union(finding, _assumption(owner)) if {
	input.review
	owner := input.workload.claimedOwner
	not input.old.claimedOwner == owner
	not _may_make_it

	finding := {
		"path": "/metadata/ownerReferences",
		"message": $"the owner is a {owner.kind}, but the user who names it is not a controller, so usher judges the object by itself",
		"remedy": _remedy(owner),
	}
}

_of_kubernetes(owner) if owner.kind in _owners[owner.group]

_assumption(owner) := {} if _of_kubernetes(owner)

_assumption(owner) := {"assumption": "usher assumes that the user may be an operator that usher.yaml does not list"} if {
	not _of_kubernetes(owner)
}

_remedy(owner) := "remove metadata.ownerReferences" if _of_kubernetes(owner)

_remedy(owner) := "remove metadata.ownerReferences, or list the operator in usher.yaml under identities.controllers" if {
	not _of_kubernetes(owner)
}

_may_make_it if "controllers" in input.review.by

_may_make_it if {
	some maker in parameters.tenancy.owner_forged.makers
	maker in input.review.by
}
