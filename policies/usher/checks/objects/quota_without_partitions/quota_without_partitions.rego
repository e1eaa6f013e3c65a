# METADATA
# title: A quota that caps GPUs caps their slices and shares too
# description: |
#   A quota counts each resource by its own name: requests.nvidia.com/gpu says nothing of nvidia.com/mig-1g.10gb or
#   nvidia.com/gpu.shared, of which a namespace may then take all that there are. Which of them the nodes offer is for the
#   site to say; without a list nothing is found. A quota of several objects of one namespace is not known here: each has
#   to name what it does not leave to another.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#resource-quota-for-extended-resources
#     description: Kubernetes on quotas of extended resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH1452
#   about: objects
#   kinds: [resourceQuota]
#   severity: low
#   why: A team at the end of its GPUs goes on with everybody's slices.
#   closes: [S28]
#   parameters:
#     offered:
#       default: []
#       description: Accelerator resources of the cluster, such as nvidia.com/gpu and nvidia.com/mig-1g.10gb.
#   remediation: Add a key `requests.` and the name for each of them; 0 where the namespace shall have none.
package usher.checks.objects.quota_without_partitions

import data.usher.lib.parameters

deny contains finding if {
	count(_missing) > 0
	some name in _offered
	_hard[$"requests.{name}"]

	finding := {
		"path": "/spec/hard",
		"message": $"it caps some accelerators of this cluster, and leaves these without a cap: {concat(", ", _missing)}",
		"remedy": "add requests.<name> for each of them, 0 where there shall be none",
	}
}

_missing := [name |
	some name in _offered
	not _hard[$"requests.{name}"]
]

_hard := input.object.resourceQuota.spec.hard

_offered := parameters.objects.quota_without_partitions.offered
