# METADATA
# title: Pods that claim devices do not wait for the first node of a pool
# description: |
#   The devices of a node are known only from its ResourceSlices, which a driver publishes once the node runs. The
#   autoscaler copies them from a node of the pool. Without a node it does not know the devices of the next node. So it
#   adds no node for a pod with a claim, and the pod waits forever. Autoscalers differ: GKE knows the devices of pools
#   with the label cloud.google.com/gke-nvidia-gpu-dra-driver, and Cluster API reads them from an annotation. So the
#   finding only warns. The check needs the nodes, and the pool in usher.yaml or as an object of its autoscaler.
# scope: package
# related_resources:
#   - ref: https://github.com/kubernetes/autoscaler/issues/10277
#     description: Why a group without nodes does not grow for claims
# schemas:
#   - input: schema.input
# custom:
#   code: USH339
#   about: cluster facts
#   severity: high
#   why: The pods stay pending forever, because the autoscaler adds no first node for them.
#   closes: [S3]
#   remediation: |
#     Keep one node in the pool, or let the pods ask for the resource of the device plugin, for example nvidia.com/gpu.
package usher.checks.placement.claims_of_a_pool_at_zero

import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	place := input.cluster.nodePools.atZero[pod_set.path]

	finding := {
		"path": $"{pod_set.specPath}/resourceClaims",
		"message": $"{workload.pod_set_name(pod_set)} claims devices, and only {text.excerpt(place)} could hold it, which has no node here: an autoscaler learns the devices of a pool from the ResourceSlices of its nodes, so it cannot go from 0 to 1 for this claim",
		"remedy": "keep one node in the pool, or ask for the resource of the device plugin, for example nvidia.com/gpu",
		"assumption": "usher assumes that the autoscaler does not know the devices of the pool in another way",
	}
}
