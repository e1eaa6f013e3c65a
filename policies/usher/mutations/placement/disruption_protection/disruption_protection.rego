# METADATA
# title: Keep autoscalers from moving training
# description: |
#   Karpenter and the Cluster Autoscaler empty nodes that they could do without, and a training run that is moved loses
#   all since its last checkpoint, on all of its pods. The pods of training that ask for accelerators are given the
#   annotations by which both leave them alone. Services may be moved, and what people work in is worth no node, so
#   neither is touched. On spot nodes it helps as well, though not against the cloud that takes them back.
#   Off unless usher.yaml says otherwise, because a node with such a pod is neither saved nor renewed until the run ends.
#   A template that says anything of either autoscaler is left to it. What a controller made is left alone: its owner was
#   given the annotations.
# scope: package
# related_resources:
#   - ref: https://karpenter.sh/docs/concepts/disruption/
#     description: Karpenter on pods that it does not disrupt
#   - ref: https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md
#     description: Cluster Autoscaler on pods that keep it from removing a node
# schemas:
#   - input: schema.input
# custom:
#   code: USM304
#   order: 80
#   about: accelerator pods
#   on_by_default: false
#   promises: [cost/training_not_protected_from_disruption]
package usher.mutations.placement.disruption_protection

import data.usher.lib.workload

_protection := {
	"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
	"karpenter.sh/do-not-disrupt": "true",
}

intents contains {
	"at": pod_set.path,
	"field": "annotation",
	"value": {"key": key, "value": value},
	"reason": "training that an autoscaler moves loses all since its last checkpoint",
} if {
	not _why_not
	some pod_set in workload.accelerator_pod_sets
	not _decides(pod_set)
	some key, value in _protection
}

_why_not := $"a workload for {input.workload.role} may be moved: only training may not" if input.workload.role != "training"

else := "what its controller was made of is protected, and not what it makes" if input.workload.owned

_decides(pod_set) if {
	some key, _ in _protection
	object.get(pod_set.annotations, key, "") != ""
}

skips contains {"at": "", "reason": _why_not}

skips contains {"at": pod_set.path, "reason": "it says itself whether an autoscaler may move it"} if {
	not _why_not
	some pod_set in workload.accelerator_pod_sets
	_decides(pod_set)
}
