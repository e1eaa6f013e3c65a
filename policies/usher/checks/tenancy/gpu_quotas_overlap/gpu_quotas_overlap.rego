# METADATA
# title: At most one GPUQuota holds for a namespace
# description: |
#   At most one GPUQuota may hold for a namespace, as an object or as an entry of `quotas` in usher.yaml. If two match,
#   gpu-usher does not know which one to charge. It enforces neither and reports unknown for every workload in the
#   namespace. This check reports the overlap when a user creates the second quota. It considers only existing
#   namespaces with their current labels.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
#     description: Kubernetes on label selectors
# schemas:
#   - input: schema.input
# custom:
#   code: USH1233
#   about: cluster facts
#   kinds: [gpuQuota]
#   severity: high
#   why: Neither quota counts, so the namespace has no limit.
#   closes: [S28]
#   remediation: Change namespaces or namespaceSelector of one quota so that it no longer matches the namespace.
package usher.checks.tenancy.gpu_quotas_overlap

deny contains finding if {
	some rival in input.cluster.quotaObject.rivals

	finding := {
		"path": "/spec",
		"message": $"{rival.name} also holds for {_listed(rival.namespaces)}, so neither quota counts there",
		"remedy": "change one of the two quotas so that it does not match these namespaces",
	}
}

unknown contains {
	"path": "/spec",
	"reason": "usher does not know whether another quota holds for the same namespaces: the facts of the cluster lack GPUQuotas or namespaces",
} if {
	input.cluster.quotaObject
	not input.cluster.quotaObject.rivals
}

_listed(names) := $"namespace {names[0]}" if count(names) == 1

_listed(names) := $"namespaces {concat(", ", names)}" if count(names) > 1
