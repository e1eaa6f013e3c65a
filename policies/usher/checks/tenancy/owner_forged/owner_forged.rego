# METADATA
# title: Only controllers make objects that a controller owns
# description: |
#   usher judges the owner of objects that a controller made. It does not apply quotas of a workload and the queue label
#   to them again. But an owner is only a few lines of a manifest, which any user can write.
#   Only Kubernetes' own controllers make Pods of a ReplicaSet, a StatefulSet, a DaemonSet, a Job or a
#   ReplicationController, and ReplicaSets of a Deployment. Another user who makes one has forged the owner, or has
#   copied it from the output of `kubectl get -o yaml`. The check does not judge the kinds of operators. usher.yaml
#   lists the controllers under `identities`.
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

deny contains finding if {
	input.review.operation == "CREATE"
	owner := input.workload.owner
	owner.kind in _owners[owner.group]
	not _may_make_it

	finding := {
		"path": "/metadata/ownerReferences",
		"message": $"the owner is a {owner.kind}, but only controllers of Kubernetes make objects that a {owner.kind} owns, and the user is not a controller",
		"remedy": "remove metadata.ownerReferences",
	}
}

_may_make_it if "controllers" in input.review.by

_may_make_it if {
	some maker in parameters.tenancy.owner_forged.makers
	maker in input.review.by
}
