# METADATA
# title: One object configures NVIDIA's operator
# description: |
#   NVIDIA's GPU Operator manages GPUs in one of two ways: a ClusterPolicy configures the device plugin, a GPUCluster
#   (version 26.7 and later) configures the DRA driver. A cluster may have one of them, not both. With both, two drivers
#   offer the same GPUs, and pods of each get GPUs that pods of the other already have. usher looks for a GPUCluster in
#   the files of the run.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-dra.html
#     description: NVIDIA on the two ways to manage GPUs
# schemas:
#   - input: schema.input
# custom:
#   code: USH819
#   about: objects
#   kinds: [clusterPolicy]
#   severity: medium
#   why: Two pods get one GPU.
#   closes: [S16]
#   remediation: Keep the ClusterPolicy for nvidia.com/gpu, or the GPUCluster for claims.
package usher.checks.sharing.cluster_policy_beside_gpu_cluster

deny contains finding if {
	input.object.clusterPolicy
	"GPUCluster" in input.beside.placed

	finding := {
		"path": "",
		"message": "these files have a GPUCluster too, so the device plugin and the DRA driver would offer the same GPUs",
		"remedy": "keep one of ClusterPolicy and GPUCluster",
		"assumption": "usher assumes that both are for one cluster",
	}
}
