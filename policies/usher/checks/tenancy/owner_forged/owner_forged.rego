# METADATA
# title: Only controllers make what a controller owns
# description: |
#   What a controller made was judged at its owner, so quotas of a workload and the label of its queue are not asked of it
#   again. An owner is a few lines that anybody can write. Pods that belong to a ReplicaSet, a StatefulSet, a DaemonSet, a
#   Job or a ReplicationController, and ReplicaSets that belong to a Deployment, are made by Kubernetes' own controllers:
#   whoever else makes one forges the owner, or has copied it with `kubectl get -o yaml`. Operators have kinds of their
#   own, of which nothing is said here. Who the controllers are says usher.yaml under `identities`.
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
#   why: Pods with a forged owner pass by the ceiling and the queue of their namespace.
#   closes: [B31]
#   parameters:
#     makers:
#       default: [administrators]
#       description: Identities of usher.yaml that may make such objects too, beside controllers.
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
		"message": $"the owner is a {owner.kind}, for which only controllers of Kubernetes make objects, and whoever asks is none of them",
		"remedy": "remove metadata.ownerReferences",
	}
}

_may_make_it if "controllers" in input.review.by

_may_make_it if {
	some maker in parameters.tenancy.owner_forged.makers
	maker in input.review.by
}
