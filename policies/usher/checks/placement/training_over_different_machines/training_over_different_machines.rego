# METADATA
# title: The pods of one training start on machines with the same GPUs
# description: |
#   A NodePool may allow machines with different GPUs or networks, and several NodePools may share a label. Karpenter then
#   takes the cheapest free machine for each pod. A training over different GPUs runs as fast as the slowest, and with a
#   fast network on some machines only, NCCL uses TCP or fails to start. The check compares the machine types of the
#   pools that the pods select. It skips workloads in a queue of Kueue, whose flavor may select the machines.
# scope: package
# related_resources:
#   - ref: https://karpenter.sh/docs/concepts/scheduling/
#     description: Karpenter on the machines that it chooses among
# schemas:
#   - input: schema.input
# custom:
#   code: USH1560
#   about: accelerator pods
#   severity: medium
#   why: All pods wait for the slowest GPU, or for a network that some machines do not have.
#   closes: []
#   remediation: |
#     Let the pods select one machine type by node.kubernetes.io/instance-type, or one NodePool by karpenter.sh/nodepool.
package usher.checks.placement.training_over_different_machines

import data.usher.lib.placement
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	found := input.cluster.nodePools.mixed[pod_set.path]

	finding := {
		"path": placement.selection_path(pod_set),
		"message": $"{workload.pod_set_name(pod_set)} may start on {found.one} and on {found.other}, so one training runs on different machines",
		"remedy": "select one machine type by node.kubernetes.io/instance-type, or one pool by karpenter.sh/nodepool",
	}
}
