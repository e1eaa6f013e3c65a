# METADATA
# title: Workloads fit into the GPUQuota of their namespace
# description: |
#   A GPUQuota, or an entry of `quotas` in usher.yaml, limits the workloads of some namespaces together. It counts GPUs,
#   slices, GiB of device memory and MIG instances. usher charges a workload at admission for all pods that it may make
#   at once. It admits a gang as a whole or refuses it as a whole.
#   In CI too, the check reports a workload that asks for more than a limit can ever give. Only the webhooks charge the
#   quota, so only they know how much is free now. docs/quota.md explains how the quota counts. The check reports
#   unknown if two quotas may hold for one namespace, or if usher does not know an amount that a limit counts.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#quota-for-extended-resources
#     description: Kubernetes on ResourceQuotas, which count each resource name separately and pod by pod
# schemas:
#   - input: schema.input
# custom:
#   code: USH1230
#   about: cluster facts
#   severity: high
#   why: Its pods would take GPUs that other teams were promised, or only some of its pods would start.
#   closes: [S17, S28, S39, S47, B24, B25, B31]
#   remediation: Ask for less, wait until other workloads have finished, or have the quota raised.
package usher.checks.tenancy.gpu_quota_exceeded

deny contains finding if {
	some excess in input.cluster.gpuQuota.excesses
	excess.never
	asks := _asks(excess)

	finding := {
		"path": "",
		"message": $"asks for {asks}; {input.cluster.gpuQuota.name} can never give more than {excess.hard}{_to(excess)}",
		"remedy": $"ask for at most {excess.hard}, or have the quota raised",
	}
}

deny contains finding if {
	some excess in input.cluster.gpuQuota.excesses
	not excess.never
	asks := _asks(excess)
	free := $"{excess.free} of {excess.hard} free{_to(excess)} ({excess.used} used)"

	finding := {
		"path": "",
		"message": $"asks for {asks}; {input.cluster.gpuQuota.name} has {free}",
		"remedy": $"wait until {_who(excess)} have finished, ask for at most {excess.free}, or have the quota raised",
	}
}

deny contains finding if {
	quota := input.cluster.gpuQuota
	input.workload.group == ""
	input.workload.kind == "Pod"
	why := quota.unbounded

	finding := {
		"path": "",
		"message": $"the number of devices of the pod has no bound ({why}), so usher cannot charge {quota.name}",
		"remedy": "ask for a fixed number of devices",
	}
}

unknown contains {"path": "", "reason": reason} if {
	undecided := input.cluster.gpuQuota.undecided
	reason := $"usher does not know which GPU quota holds: {undecided}"
}

unknown contains {"path": unclear.path, "reason": reason} if {
	some unclear in input.cluster.gpuQuota.unclear
	reason := $"usher does not know whether the workload fits into {input.cluster.gpuQuota.name}: {unclear.reason}"
}

_asks(excess) := $"{excess.asks}, {excess.more} more than it already holds" if excess.more

_asks(excess) := $"{excess.asks}, while pods of a deleted workload with this name still hold {excess.ending}" if excess.ending

_asks(excess) := excess.asks if {
	not excess.more
	not excess.ending
}

_who(excess) := "these pods" if excess.ending

_who(excess) := "other workloads" if not excess.ending

_to(excess) := "" if count(excess.classes) == 0

_to(excess) := $" to pods of priority class {concat(" or ", excess.classes)}" if count(excess.classes) > 0
