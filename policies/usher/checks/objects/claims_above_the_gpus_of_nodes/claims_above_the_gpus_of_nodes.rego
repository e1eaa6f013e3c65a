# METADATA
# title: The claims of a pod ask for no more GPUs than a node has
# description: |
#   All devices that the claims of a pod allocate are on the node of the pod. A ResourceClaimTemplate with a count above
#   the GPUs of a node, or several claims that are more together, are never allocated, and the pod stays pending. The
#   check adds up the whole GPUs of the device class gpu.nvidia.com and compares them with the label nvidia.com/gpu.count
#   of the nodes. It says nothing where a node without the label may have GPUs.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
#     description: Kubernetes on claims of devices
# schemas:
#   - input: schema.input
# custom:
#   code: USH1504
#   about: cluster facts
#   severity: medium
#   why: The pods stay pending forever, even on an empty cluster.
#   remediation: Claim at most the GPUs of one node, and run more pods.
package usher.checks.objects.claims_above_the_gpus_of_nodes

import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	some pod_set in input.podSets
	found := input.cluster.nodePools.aboveNodes[pod_set.path]

	finding := {
		"path": $"{pod_set.specPath}/resourceClaims",
		"message": $"{workload.pod_set_name(pod_set)} claims {found.asked} GPUs of one node, and no node has more than {found.most}",
		"remedy": $"claim at most {found.most} GPUs in each pod, and run more pods",
		"assumption": "usher assumes that the label nvidia.com/gpu.count is on all nodes with GPUs, and that no node with more is added",
	}
}
