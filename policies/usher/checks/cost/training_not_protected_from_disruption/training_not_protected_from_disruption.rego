# METADATA
# title: Training is not moved to save nodes
# description: |
#   Karpenter and the Cluster Autoscaler empty nodes that they could do without, and start the pods anew elsewhere. A
#   service hardly notices; a training run loses all since its last checkpoint, on all of its pods. An annotation on the
#   pod template keeps them away: karpenter.sh/do-not-disrupt with true or a duration,
#   cluster-autoscaler.kubernetes.io/safe-to-evict with false, whichever of the two the cluster runs. It does not help
#   against nodes that the cloud takes back. What a controller made is left alone: its owner was judged.
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
#   why: Hours of training are lost so that an autoscaler can save a node.
#   closes: [S35]
#   remediation: |
#     Set the annotation karpenter.sh/do-not-disrupt to "true" on the pod templates, or
#     cluster-autoscaler.kubernetes.io/safe-to-evict to "false", as the autoscaler of the cluster has it.
package usher.checks.cost.training_not_protected_from_disruption

import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "training"
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	not _protected(pod_set.annotations)

	finding := {
		"path": $"{pod_set.metadataPath}/annotations",
		"message": $"an autoscaler may end {_pods(pod_set)} to save a node, in the middle of the training",
		"remedy": `set the annotation karpenter.sh/do-not-disrupt: "true" or cluster-autoscaler.kubernetes.io/safe-to-evict: "false"`,
		"assumption": "an autoscaler empties nodes of this cluster",
	}
}

_protected(annotations) if not object.get(annotations, "karpenter.sh/do-not-disrupt", "") in {"", "false"}

_protected(annotations) if annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false"

_pods(pod_set) := "the pod" if pod_set.name == ""

_pods(pod_set) := $"the pods of {pod_set.name}" if pod_set.name != ""
