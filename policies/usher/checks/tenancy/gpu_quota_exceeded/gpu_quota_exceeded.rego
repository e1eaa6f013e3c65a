# METADATA
# title: Workloads fit into the GPUQuota of their namespace
# description: |
#   A GPUQuota, or an entry of `quotas` in usher.yaml, says how many GPUs, slices, GiB of device memory and MIG instances
#   the workloads of some namespaces hold together. A workload is charged at its worst, all pods that it may make at once,
#   when it is let in; a gang is let in as a whole or not at all. What asks for more than a limit can ever give is told in
#   CI as well; what is left at the moment only the webhooks know, which charge the quota. docs/quota.md tells how it counts.
#   Where two quotas may hold for one namespace, and where nobody knows what a limit looks at, that is told as unknown.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#quota-for-extended-resources
#     description: Kubernetes on its own quotas, which count each resource name for itself and pod by pod
# schemas:
#   - input: schema.input
# custom:
#   code: USH1230
#   about: cluster facts
#   severity: high
#   why: Its pods would take what other teams were promised, or come only in part.
#   closes: [S17, S28, S39, S47, B24, B25, B31]
#   remediation: Ask for less, wait until others have finished, or have the quota raised.
package usher.checks.tenancy.gpu_quota_exceeded

deny contains finding if {
	some excess in input.cluster.gpuQuota.excesses
	excess.never
	asks := _asks(excess)

	finding := {
		"path": "",
		"message": $"asks {asks}; {input.cluster.gpuQuota.name} can never give more than {excess.hard}{_to(excess)}",
		"remedy": $"ask for no more than {excess.hard}, or have the quota raised",
	}
}

deny contains finding if {
	some excess in input.cluster.gpuQuota.excesses
	not excess.never
	asks := _asks(excess)
	free := $"{excess.free} of {excess.hard} free{_to(excess)} ({excess.used} used)"

	finding := {
		"path": "",
		"message": $"asks {asks}; {input.cluster.gpuQuota.name} has {free}",
		"remedy": $"wait until {_who(excess)} have finished, ask for no more than {excess.free}, or have the quota raised",
	}
}

deny contains finding if {
	quota := input.cluster.gpuQuota
	input.workload.group == ""
	input.workload.kind == "Pod"
	why := quota.unbounded

	finding := {
		"path": "",
		"message": $"nothing bounds what the pod asks for ({why}), so {quota.name} cannot be charged for it",
		"remedy": "ask for a number of devices",
	}
}

unknown contains {"path": "", "reason": reason} if {
	undecided := input.cluster.gpuQuota.undecided
	reason := $"which quota of GPUs holds is not known: {undecided}"
}

unknown contains {"path": unclear.path, "reason": reason} if {
	some unclear in input.cluster.gpuQuota.unclear
	reason := $"whether it fits into {input.cluster.gpuQuota.name} is not known: {unclear.reason}"
}

_asks(excess) := $"{excess.asks}, {excess.more} more than it has" if excess.more

_asks(excess) := $"{excess.asks}, while pods of a deleted one of this name still hold {excess.ending}" if excess.ending

_asks(excess) := excess.asks if {
	not excess.more
	not excess.ending
}

_who(excess) := "these pods" if excess.ending

_who(excess) := "others" if not excess.ending

_to(excess) := "" if count(excess.classes) == 0

_to(excess) := $" to pods of priority class {concat(" or ", excess.classes)}" if count(excess.classes) > 0
