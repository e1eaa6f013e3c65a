# METADATA
# title: Workloads under a GPUQuota bound their number of pods
# description: |
#   usher charges a GPUQuota at admission for all pods that a workload may make at once. Some workloads have no bound: a
#   DaemonSet, an autoscaler without a maximum, or a fan-out over a list that is not known yet. usher then charges their
#   pods one by one as they are made, and may refuse some pods while others run. The check gpu_quota_exceeded judges
#   Pods that have no bound themselves.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/
#     description: Kubernetes on quotas, which are charged pod by pod as well
# schemas:
#   - input: schema.input
# custom:
#   code: USH1231
#   about: cluster facts
#   severity: medium
#   why: The author learns only at run time that usher refuses the last pods.
#   closes: [S28]
#   remediation: Set a bound, for example maxReplicas, parallelism or a number of devices.
package usher.checks.tenancy.gpu_quota_unbounded

deny contains finding if {
	quota := input.cluster.gpuQuota
	input.workload.kind != "Pod"
	why := quota.unbounded

	finding := {
		"path": "",
		"message": $"the pods have no bound ({why}), so usher charges {quota.name} pod by pod and may refuse the last pods",
		"remedy": "set a bound, for example maxReplicas, parallelism or a number of devices",
	}
}
