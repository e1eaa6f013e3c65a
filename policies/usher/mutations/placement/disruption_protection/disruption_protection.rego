# METADATA
# title: Keep autoscalers from moving training
# description: |
#   Karpenter and the Cluster Autoscaler remove nodes that the cluster does not need. A training run that they move
#   loses all work since its last checkpoint, on all of its pods. The webhook adds the annotations that protect a pod
#   from both to training pods that ask for accelerators. In a gang it protects all other pods too: a run also ends when
#   its launcher or its head moves. It does not protect services, which may move, or interactive workloads, which do not
#   justify a node. On spot nodes the annotations stop the autoscalers, but not the cloud.
#   This mutation is off by default in usher, because an autoscaler can neither remove nor replace the node until the
#   run ends. The webhook skips templates that already set either annotation. It also skips objects that a controller
#   made, because their owner got the annotations.
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
	"reason": "training loses all work since its last checkpoint when an autoscaler moves it",
} if {
	not _why_not
	some pod_set in _protected
	not _decides(pod_set)
	some key, value in _protection
}

# A launcher or a head ends the run as a worker does. The steps of a workflow or a pipeline run after each other.
_protected := input.podSets if {
	input.workload.gang.wanted
	not input.workload.group in ["argoproj.io", "pipelines.kubeflow.org", "tekton.dev"]
} else := workload.accelerator_pod_sets

_why_not := $"the role of the workload is {input.workload.role}, and the webhook protects only training" if input.workload.role != "training"

else := "a controller made this object, and the webhook protects the owner" if input.workload.owned

_decides(pod_set) if {
	some key, _ in _protection
	object.get(pod_set.annotations, key, "") != ""
}

skips contains {"at": "", "reason": _why_not}

skips contains {"at": pod_set.path, "reason": "the template already sets an annotation for autoscalers"} if {
	not _why_not
	some pod_set in _protected
	_decides(pod_set)
}
