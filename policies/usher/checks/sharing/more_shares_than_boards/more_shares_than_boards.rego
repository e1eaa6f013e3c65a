# METADATA
# title: Shares of a container fit the boards of a node
# description: |
#   HAMi and Volcano offer each board many times, so a node with two boards offers twenty shares. But a container gets
#   each share on another board: nvidia.com/gpu: 3 needs three boards on one node, whatever the shares take of them. And
#   a share has no more memory than a board. Else the pod does not start. The check reads the boards from the
#   annotations in which HAMi and Volcano register them.
# scope: package
# related_resources:
#   - ref: https://github.com/Project-HAMi/HAMi/issues/444
#     description: HAMi on several shares of one board
# schemas:
#   - input: schema.input
# custom:
#   code: USH818
#   about: cluster facts
#   severity: medium
#   why: The pod waits for ever, although the node offers enough by its numbers.
#   closes: [B43]
#   remediation: |
#     Ask for one share with more memory and cores (nvidia.com/gpumem, nvidia.com/gpucores), or for at most as many shares
#     as a node has boards.
package usher.checks.sharing.more_shares_than_boards

import data.usher.lib.amounts
import data.usher.lib.mig
import data.usher.lib.workload

deny contains finding if {
	some each in input.cluster.hami.boards
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	asked := amounts.effective(container.accelerators[each.resource]).value
	asked > each.number

	finding := {
		"path": mig.path(container, each.resource),
		"message": $"{workload.container_name(pod_set, container)} asks {each.scheduler} for {asked} shares, each on another GPU, but no node has more than {amounts.number_of(each.number, "GPU", "GPUs")}",
		"remedy": "ask for one share with more memory and cores, or for fewer shares",
	}
}

deny contains finding if {
	some each in input.cluster.hami.boards
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	asked := amounts.effective(container.accelerators[each.memoryResource]).value
	asked > each.memory

	finding := {
		"path": mig.path(container, each.memoryResource),
		"message": $"{workload.container_name(pod_set, container)} asks {each.scheduler} for {asked} MiB of a GPU, but no GPU has more than {each.memory}",
		"remedy": $"ask for at most {each.memory} of {each.memoryResource}, or for shares of several GPUs",
	}
}
