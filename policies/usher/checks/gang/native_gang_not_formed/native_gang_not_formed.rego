# METADATA
# title: PodGroups of Kubernetes form the gang that a job needs
# description: |
#   The scheduler of Kubernetes starts the pods of a PodGroup together only if the group has the policy `gang`, and only
#   where the feature gate GenericWorkload is on, which it is not by default up to 1.37. With the policy `basic` it
#   places the pods one by one. Where the cluster does not serve PodGroups, the API server drops `schedulingGroup` from
#   the pods without an error. `spec.scheduling` of a Job needs the feature gate WorkloadWithJob as well. A route of
#   usher.yaml with `scheduler: native` says that both are on.
#   The check looks at training and at pods that wait for each other.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/workload-api/
#     description: Kubernetes on Workloads and PodGroups
#   - ref: https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/4671-gang-scheduling
#     description: The proposal for gangs in Kubernetes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1525
#   about: cluster facts
#   severity: medium
#   why: The pods start one by one, and some hold their GPUs while they wait for the others.
#   closes: [S24]
#   remediation: |
#     Create the PodGroup again with `schedulingPolicy.gang`; the policy of a group cannot change. Turn on the feature
#     gate, or let Kueue, Volcano or KAI-Scheduler start the pods together.
package usher.checks.gang.native_gang_not_formed

import data.usher.lib.text

deny contains finding if {
	_needs_gang
	some group in _groups
	group.policy == "basic"

	finding := {
		"path": group.path,
		"message": $"PodGroup {text.excerpt(group.name)} has the policy basic, so the scheduler of Kubernetes places its pods one by one",
		"remedy": "create the PodGroup again with schedulingPolicy.gang",
	}
}

deny contains finding if {
	_needs_gang
	input.cluster.podGroups.served == false
	some path, field in _askings

	finding := {
		"path": path,
		"message": $"the cluster does not serve PodGroups of Kubernetes, so the API server drops {field} and the pods start one by one",
		"remedy": "turn on the feature gate GenericWorkload, or let another scheduler or Kueue start the pods together",
	}
}

unknown contains {"path": path, "reason": reason} if {
	_needs_gang
	not "served" in object.keys(input.cluster.podGroups)
	some group in _groups
	group.exists
	group.policy == "gang"
	path := group.path
	reason := "usher does not know whether the cluster has the feature gate GenericWorkload on; without it the pods start one by one"
}

unknown contains {"path": "/spec/scheduling", "reason": reason} if {
	_needs_gang
	_job_asks
	not object.get(input.cluster.podGroups, "served", true) == false
	not input.site.route.scheduler == "native"
	reason := "usher does not know whether the cluster has the feature gate WorkloadWithJob on; without it nothing reads spec.scheduling"
}

_needs_gang if input.workload.role == "training"

_needs_gang if input.workload.gang.waits

_groups := [group | some group in input.cluster.podGroups.named; group.of == "the scheduler of Kubernetes"]

_askings[group.path] := _fields[contains(group.path, "/workloadRef/")] if some group in _groups

_fields := {true: "workloadRef", false: "schedulingGroup"}

_askings["/spec/scheduling"] := "spec.scheduling" if _job_asks

_job_asks if {
	input.object.job.spec.scheduling.schedulingPolicy.gang
	_groups == []
}
