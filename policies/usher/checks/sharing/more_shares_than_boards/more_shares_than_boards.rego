# METADATA
# title: A container asks HAMi for no more shares than a node has boards
# description: |
#   HAMi offers each board many times, so a node with two boards offers twenty nvidia.com/gpu. But it gives a container
#   each share on another board: nvidia.com/gpu: 3 needs three boards on one node, whatever the shares take of them. On
#   a node with fewer boards the pod does not start. The check reads the boards from the annotation in which HAMi
#   registers them.
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
	boards := input.cluster.hami.boards
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	asked := amounts.effective(container.accelerators["nvidia.com/gpu"]).value
	asked > boards

	finding := {
		"path": mig.path(container, "nvidia.com/gpu"),
		"message": $"{workload.container_name(pod_set, container)} asks HAMi for {asked} shares, each on another GPU, but no node has more than {amounts.number_of(boards, "GPU", "GPUs")}",
		"remedy": "ask for one share with more memory and cores, or for fewer shares",
	}
}
