# METADATA
# title: A quota that limits GPUs also limits their slices and shares
# description: |
#   A quota counts each resource by its own name. requests.nvidia.com/gpu does not limit nvidia.com/mig-1g.10gb or
#   nvidia.com/gpu.shared, so a namespace may take all of these. The site lists the resources that its nodes offer;
#   without a list the check finds nothing. The check does not know other quotas of the namespace, so each quota must
#   name every resource that another quota does not limit.
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
#   why: A team without GPUs left in its quota takes the slices of everybody.
#   closes: [S28]
#   parameters:
#     offered:
#       default: []
#       description: Accelerator resources of the cluster, for example nvidia.com/gpu and nvidia.com/mig-1g.10gb.
#   remediation: |
#     Add a key with `requests.` and the name for each of them. Set 0 for resources that the namespace must not use.
package usher.checks.objects.quota_without_partitions

import data.usher.lib.parameters

deny contains finding if {
	count(_missing) > 0
	some name in _offered
	_hard[$"requests.{name}"]

	finding := {
		"path": "/spec/hard",
		"message": $"the quota limits some accelerators of this cluster, but not these: {concat(", ", _missing)}",
		"remedy": "add requests.<name> for each of them, with 0 for resources that the namespace must not use",
	}
}

_missing := [name |
	some name in _offered
	not _hard[$"requests.{name}"]
]

_hard := input.object.resourceQuota.spec.hard

_offered := parameters.objects.quota_without_partitions.offered
