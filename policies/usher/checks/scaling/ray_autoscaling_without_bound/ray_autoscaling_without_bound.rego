# METADATA
# title: Ray worker groups with autoscaling set maxReplicas
# description: |
#   With enableInTreeAutoscaling, Ray asks KubeRay for as many workers as its tasks and actors could use. Only
#   maxReplicas of a worker group limits them. Without it the group has no bound. The CRD fills in 2147483647, which is
#   not a bound either.
# scope: package
# related_resources:
#   - ref: https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/configuring-autoscaling.html
#     description: Ray on autoscaling with KubeRay
# schemas:
#   - input: schema.input
# custom:
#   code: USH1104
#   about: accelerator pods
#   severity: medium
#   why: One loop over many tasks makes Ray ask for every GPU of the cluster.
#   closes: [B35, S36]
#   remediation: Set `maxReplicas` of the worker group to the largest number of workers that it may have.
package usher.checks.scaling.ray_autoscaling_without_bound

import data.usher.lib.workload

_kinds := ["RayCluster", "RayJob", "RayService"]

deny contains finding if {
	input.workload.group == "ray.io"
	input.workload.kind in _kinds
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	not pod_set.pods.maximum

	finding := {
		"path": trim_suffix(pod_set.path, "/template"),
		"message": $"worker group {pod_set.name} has no maxReplicas, so Ray's autoscaler may make any number of pods, and each asks for accelerators",
		"remedy": "set maxReplicas of the group",
	}
}
