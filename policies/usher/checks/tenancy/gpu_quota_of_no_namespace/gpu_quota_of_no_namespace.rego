# METADATA
# title: A GPUQuota holds for at least one namespace
# description: |
#   A GPUQuota has no effect if its patterns and labels match no namespace. The usual cause is a misspelt name or label,
#   so the intended namespaces have no limit. Somebody may create the namespaces later, so the check only warns unless
#   usher.yaml says otherwise.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
#     description: Kubernetes on label selectors
# schemas:
#   - input: schema.input
# custom:
#   code: USH1234
#   about: cluster facts
#   kinds: [gpuQuota]
#   severity: medium
#   why: The intended namespaces have no limit.
#   closes: [S28]
#   remediation: Compare namespaces and namespaceSelector with the output of `kubectl get namespaces --show-labels`.
package usher.checks.tenancy.gpu_quota_of_no_namespace

deny contains finding if {
	input.cluster.quotaObject.holds == false

	finding := {
		"path": "/spec",
		"message": "the quota matches no existing namespace",
		"remedy": "compare its namespaces and namespaceSelector with `kubectl get namespaces --show-labels`",
	}
}

unknown contains {
	"path": "/spec",
	"reason": "usher does not know whether the quota matches a namespace: the facts of the cluster contain no namespaces",
} if {
	input.cluster.quotaObject
	not _is_known
}

_is_known if input.cluster.quotaObject.holds in [true, false]
