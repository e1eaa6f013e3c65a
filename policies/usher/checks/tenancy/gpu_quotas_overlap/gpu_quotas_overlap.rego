# METADATA
# title: No namespace has two GPUQuotas
# description: |
#   For a namespace at most one GPUQuota holds, be it an object or an entry of `quotas` in usher.yaml. Where two fit, nobody
#   could say which is charged: gpu-usher enforces neither, and tells of every workload there that it is unknown. This tells
#   it when the second quota is made. Only namespaces that there are count; labels are those that they have now.
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
#   why: Neither quota counts, and nothing bounds the namespace.
#   closes: [S28]
#   remediation: Have one of the quotas leave the namespace out, by namespaces or by namespaceSelector.
package usher.checks.tenancy.gpu_quotas_overlap

deny contains finding if {
	some rival in input.cluster.quotaObject.rivals

	finding := {
		"path": "/spec",
		"message": $"{rival.name} holds for {_listed(rival.namespaces)} as well, so neither counts there",
		"remedy": "have one of the two leave these namespaces out",
	}
}

unknown contains {
	"path": "/spec",
	"reason": "whether another quota holds for the same namespaces is not known: GPUQuotas and namespaces are not both among the facts of the cluster",
} if {
	input.cluster.quotaObject
	not input.cluster.quotaObject.rivals
}

_listed(names) := $"namespace {names[0]}" if count(names) == 1

_listed(names) := $"namespaces {concat(", ", names)}" if count(names) > 1
