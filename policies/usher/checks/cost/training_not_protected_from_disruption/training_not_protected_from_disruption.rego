# METADATA
# title: Training pods are protected from node autoscalers
# description: |
#   Karpenter and the Cluster Autoscaler remove nodes that the cluster does not need, and restart their pods on other
#   nodes. A service hardly notices this. A training run loses all work since its last checkpoint, on all of its pods.
#   An annotation on the pod template prevents it: karpenter.sh/do-not-disrupt with true or a duration, or
#   cluster-autoscaler.kubernetes.io/safe-to-evict with false. Use the one for the autoscaler of the cluster. The
#   annotation does not help when the cloud takes a node back. The check skips objects that a controller made, because
#   usher judges their owner.
# scope: package
# related_resources:
#   - ref: https://karpenter.sh/docs/concepts/disruption/
#     description: Karpenter on pods that it does not disrupt
#   - ref: https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md
#     description: Cluster Autoscaler on pods that keep it from removing a node
# schemas:
#   - input: schema.input
# custom:
#   code: USH1307
#   about: accelerator pods
#   severity: low
#   strict_only: It matters only in clusters whose autoscaler removes nodes.
#   why: Hours of training are lost because an autoscaler removes a node.
#   closes: [S35]
#   remediation: |
#     On the pod templates, set the annotation karpenter.sh/do-not-disrupt to "true" for Karpenter, or
#     cluster-autoscaler.kubernetes.io/safe-to-evict to "false" for the Cluster Autoscaler.
package usher.checks.cost.training_not_protected_from_disruption

import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "training"
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	not _protected(pod_set.annotations)

	finding := {
		"path": $"{pod_set.metadataPath}/annotations",
		"message": $"an autoscaler may stop {_pods(pod_set)} during the training to remove a node",
		"remedy": `set the annotation karpenter.sh/do-not-disrupt: "true" or cluster-autoscaler.kubernetes.io/safe-to-evict: "false"`,
		"assumption": "usher assumes that an autoscaler removes nodes of this cluster",
	}
}

_protected(annotations) if not object.get(annotations, "karpenter.sh/do-not-disrupt", "") in ["", "false"]

_protected(annotations) if annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false"

_pods(pod_set) := "the pod" if pod_set.name == ""

_pods(pod_set) := $"the pods of {pod_set.name}" if pod_set.name != ""
