# METADATA
# title: A GPUQuota is for some namespace
# description: |
#   A GPUQuota whose patterns and labels fit no namespace bounds nobody. Mostly a name or a label is misspelt, and the
#   namespaces that were meant have no bound. Namespaces may be made later, so this only warns, unless usher.yaml says
#   otherwise.
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
#   why: The namespaces that were meant take what they like.
#   closes: [S28]
#   remediation: |
#     Compare namespaces and namespaceSelector with what `kubectl get namespaces --show-labels` says.
package usher.checks.tenancy.gpu_quota_of_no_namespace

deny contains finding if {
	input.cluster.quotaObject.holds == false

	finding := {
		"path": "/spec",
		"message": "the quota holds for no namespace that there is",
		"remedy": "compare its namespaces and namespaceSelector with `kubectl get namespaces --show-labels`",
	}
}

unknown contains {
	"path": "/spec",
	"reason": "whether the quota holds for any namespace is not known: no namespaces are among the facts of the cluster",
} if {
	input.cluster.quotaObject
	not _is_known
}

_is_known if input.cluster.quotaObject.holds in {true, false}
