# METADATA
# title: A pod group does not have the name of another Workload
# description: |
#   Kueue keeps a pod group in a Workload with the name of the group. Kueue before 0.18.6 takes any Workload of this
#   name: pods that name the Workload of a Job run with its quota, and when they end, Kueue gives the quota of the Job
#   back while it still runs. Kueue names the Workload of an object by its kind, its name and five hexadecimal digits,
#   for example job-train-1a2b3. The check denies a Pod whose group has a name of this form. It warns if all five are
#   decimal digits, as in job-train-20251, because people write these names too. Kueue itself names the groups of
#   StatefulSets and LeaderWorkerSets in this form, so the check skips their pods. It also skips other pods that a
#   controller made.
# scope: package
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/kueue/pull/14617
#     description: Kueue on pod groups with the name of another Workload
# schemas:
#   - input: schema.input
# custom:
#   code: USH452
#   about: labelled pods
#   severity: high
#   why: The pods run with the quota of another job, and its quota counts as free while it runs.
#   closes: [B31]
#   remediation: Choose a name for the group that no Workload of Kueue has.
package usher.checks.queueing.pod_group_of_another_workload

import data.usher.lib.kueue
import data.usher.lib.text

_group := "kueue.x-k8s.io/pod-group-name"

_kinds := "appwrapper|deployment|jaxjob|job|jobset|mpijob|paddlejob|pod|pytorchjob|raycluster|rayjob|rayservice|sparkapplication|tfjob|trainjob|xgboostjob"

deny contains object.union(finding, _assumption(name)) if {
	input.workload.kind == "Pod"
	input.workload.group == ""
	not input.workload.owned
	some place in ["label", "annotation"]
	name := {"label": input.workload.labels, "annotation": input.workload.annotations}[place][_group]
	regex.match($"^({_kinds})-.+-[0-9a-f]\{5}$", name)

	finding := {
		"path": $"/metadata/{place}s/{kueue.escaped(_group)}",
		"message": $"the pod group {text.excerpt(name)} has the name that Kueue gives the Workload of another object, and Kueue before 0.18.6 runs the pod with its quota",
		"remedy": "choose another name for the group",
	}
}

_assumption(name) := {"assumption": "usher assumes that the name may be a coincidence"} if regex.match("-[0-9]{5}$", name)

_assumption(name) := {} if not regex.match("-[0-9]{5}$", name)
