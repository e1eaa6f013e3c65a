# METADATA
# title: The GPU operator tolerates the taints of its nodes
# description: |
#   The DaemonSets of NVIDIA's operator tolerate only the taint `nvidia.com/gpu` with effect NoSchedule, unless
#   `daemonsets.tolerations` of its chart adds more. On a node with another taint, for example `gpu=true` or
#   `mig-enabled=true`, no driver, device plugin or MIG manager runs, so the node never offers a GPU. The check judges
#   only nodes that the operator has labelled as GPU nodes and that offer no GPU. If a node offers GPUs, the operator
#   already runs there.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/getting-started.html
#     description: NVIDIA on the options of the operator's chart
# schemas:
#   - input: schema.input
# custom:
#   code: USH1431
#   about: objects
#   kinds: [node]
#   severity: medium
#   why: The node runs no driver, so pods cannot use its GPUs.
#   closes: [S4]
#   parameters:
#     tolerated:
#       default:
#         - nvidia.com/gpu:NoSchedule
#         - karpenter.sh/disrupted:NoSchedule
#         - karpenter.sh/unregistered:NoExecute
#         - node.cilium.io/agent-not-ready:NoSchedule
#         - node.cilium.io/agent-not-ready:NoExecute
#         - node.cloudprovider.kubernetes.io/uninitialized:NoSchedule
#         - ebs.csi.aws.com/agent-not-ready:NoExecute
#         - ToBeDeletedByClusterAutoscaler:NoSchedule
#       description: |
#         Keys and effects of taints that the operator's DaemonSets tolerate, and of taints that disappear by
#         themselves.
#   remediation: |
#     Use the taint `nvidia.com/gpu`, or add the taint to `daemonsets.tolerations` of the operator's chart and to the
#     parameter tolerated.
package usher.checks.objects.taint_that_operators_do_not_tolerate

import data.usher.lib.parameters

deny contains finding if {
	input.object.node.metadata.labels["nvidia.com/gpu.present"] == "true"
	not _offers_accelerators
	some index, taint in input.object.node.spec.taints
	taint.effect in ["NoSchedule", "NoExecute"]
	not startswith(taint.key, "node.kubernetes.io/")
	name := $"{taint.key}:{taint.effect}"
	not name in parameters.objects.taint_that_operators_do_not_tolerate.tolerated

	finding := {
		"path": $"/spec/taints/{index}",
		"message": $"the node has GPUs but offers 0, and the DaemonSets of NVIDIA's operator do not tolerate its taint {name}",
		"remedy": $"tolerate {taint.key} in daemonsets.tolerations of the operator, or taint the node with nvidia.com/gpu instead",
		"assumption": "usher assumes that daemonsets.tolerations of NVIDIA's operator has its default",
	}
}

_offers_accelerators if {
	some amount in input.object.node.status.capacity
	amount.value > 0
}
