# METADATA
# title: Namespaces enforce a level of Pod Security
# description: |
#   With the label pod-security.kubernetes.io/enforce, the API server refuses pods with access to their node: privileged
#   pods, host paths, host namespaces. Without it, or with the level privileged, only usher's rules check pods, and
#   these cover access to accelerators but not all other access.
#   RDMA on nodes with a limited memlock needs the capability IPC_LOCK, which the levels baseline and restricted forbid.
#   Put these workloads into a separate namespace. A parameter excludes namespaces of operators and node agents by name.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-admission/#pod-security-admission-labels-for-namespaces
#     description: Kubernetes on the labels of Pod Security
# schemas:
#   - input: schema.input
# custom:
#   code: USH1207
#   about: objects
#   kinds: [namespace]
#   severity: low
#   strict_only: The API server or another policy engine often enforces Pod Security without this label.
#   why: A privileged pod of any tenant controls its node and all GPUs of the node.
#   closes: [S37]
#   parameters:
#     except:
#       default: [default, "kube-*", "*-system", gpu-operator, gpu-usher, "nvidia-*", "openshift-*"]
#       description: Namespaces that the check skips; * matches any characters.
#   remediation: |
#     Set the label pod-security.kubernetes.io/enforce to restricted, or to baseline. Set `warn` and `audit` first to
#     see which pods would be refused.
package usher.checks.tenancy.pod_security_missing

import data.usher.lib.parameters

_label := "pod-security.kubernetes.io/enforce"

deny contains {
	"path": "/metadata/labels",
	"message": $"the label {_label} is missing, so the API server accepts privileged pods in this namespace",
	"remedy": $"set the label {_label}: restricted, or baseline",
	"assumption": "usher assumes that the API server enforces no level by default",
} if {
	_is_asked
	not input.workload.labels[_label]
}

deny contains {
	"path": "/metadata/labels/pod-security.kubernetes.io~1enforce",
	"message": $"the label {_label} is privileged, so the API server accepts privileged pods in this namespace",
	"remedy": $"set the label {_label}: restricted, or baseline",
} if {
	_is_asked
	input.workload.labels[_label] == "privileged"
}

_is_asked if {
	input.object.namespace
	not _is_excluded
}

_is_excluded if {
	some pattern in parameters.tenancy.pod_security_missing.except
	glob.match(pattern, [], input.object.namespace.metadata.name)
}
