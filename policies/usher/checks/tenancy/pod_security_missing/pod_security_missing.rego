# METADATA
# title: Pod Security holds the pods of a namespace
# description: |
#   The label pod-security.kubernetes.io/enforce makes the API server refuse pods that reach for their node: privileged
#   ones, host paths, host namespaces. Without it, or with the level privileged, that is left to the rules of usher alone,
#   which look at the ways to accelerators and not at all others. RDMA without an unlimited memlock on the nodes needs the
#   capability IPC_LOCK, which the levels baseline and restricted forbid: such workloads want a namespace of their own.
#   Namespaces of operators and node agents are left out by name.
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
#   why: A privileged pod of any tenant owns its node, GPUs and all.
#   closes: [S37]
#   parameters:
#     except:
#       default: [default, "kube-*", "*-system", gpu-operator, gpu-usher, "nvidia-*", "openshift-*"]
#       description: Namespaces, with * for any characters, that are not asked.
#   remediation: |
#     Set the label pod-security.kubernetes.io/enforce to restricted, or to baseline. Set `warn` and `audit` first to see
#     what would be refused.
package usher.checks.tenancy.pod_security_missing

import data.usher.lib.parameters

_label := "pod-security.kubernetes.io/enforce"

deny contains {
	"path": "/metadata/labels",
	"message": $"no label {_label}, so the API server takes privileged pods in this namespace",
	"remedy": $"set the label {_label}: restricted, or baseline",
	"assumption": "the API server enforces no level of its own",
} if {
	_is_asked
	not input.workload.labels[_label]
}

deny contains {
	"path": "/metadata/labels/pod-security.kubernetes.io~1enforce",
	"message": $"{_label} is privileged, so the API server takes privileged pods in this namespace",
	"remedy": $"set the label {_label}: restricted, or baseline",
} if {
	_is_asked
	input.workload.labels[_label] == "privileged"
}

_is_asked if {
	input.object.namespace
	not _is_left_out
}

_is_left_out if {
	some pattern in parameters.tenancy.pod_security_missing.except
	glob.match(pattern, [], input.object.namespace.metadata.name)
}
