# METADATA
# title: Workloads under a GPUQuota have a bound
# description: |
#   A GPUQuota is charged for all pods that a workload may make at once, when the workload is let in. Where nothing bounds
#   them (a DaemonSet, an autoscaler without a ceiling, a fan-out over a list that is not known yet) there is no such
#   number: its pods are charged one by one as they are made, and some of them may be refused while others run. Pods that
#   are not bounded themselves are the matter of gpu_quota_exceeded.
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
#   why: Nobody is told before that its last pods will be refused.
#   closes: [S28]
#   remediation: Give it a bound, such as maxReplicas, parallelism or a number of devices.
package usher.checks.tenancy.gpu_quota_unbounded

deny contains finding if {
	quota := input.cluster.gpuQuota
	input.workload.kind != "Pod"
	why := quota.unbounded

	finding := {
		"path": "",
		"message": $"nothing bounds what its pods ask for ({why}), so {quota.name} is charged pod by pod, and may refuse the last of them",
		"remedy": "give it a bound, such as maxReplicas, parallelism or a number of devices",
	}
}
