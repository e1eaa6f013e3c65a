# METADATA
# title: The queue label is on a kind that Kueue reads
# description: |
#   Kueue reads kueue.x-k8s.io/queue-name only on kinds for which it has an integration. On a ReplicaSet, a DaemonSet, a
#   RayCronJob or a Volcano job the label is legal but has no effect: the pods start at once, and Kueue does not count
#   them. Some kinds pass the label on from another place: a CronJob from the template of its Jobs, an Argo Workflow
#   from its podMetadata, a Knative Service from the template of its revisions. Tekton's runs, KServe's services and
#   notebooks pass on their own labels, so they need no other label. The check skips objects that a controller made, and
#   objects that only describe workloads. Your own controllers may bring other kinds to Kueue. usher reads these kinds
#   from Kueue's ConfigMap if the facts of the cluster contain it, unless the parameter externalFrameworks names others.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/
#     description: Kueue on the kinds that it queues
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/run_cronjobs/
#     description: Kueue on CronJobs
# schemas:
#   - input: schema.input
# custom:
#   code: USH404
#   about: labelled pods
#   severity: medium
#   why: The workload looks queued, but runs outside every quota.
#   closes: [B34, S20]
#   parameters:
#     externalFrameworks:
#       default: []
#       description: Kinds that another controller brings to Kueue, as Kueue's configuration names them (Kind.version.group).
#   remediation: |
#     Put the label where Kueue reads it, or use a kind that Kueue queues.
package usher.checks.queueing.kind_that_kueue_ignores

import data.usher.lib.kueue
import data.usher.lib.parameters
import data.usher.lib.text

deny contains finding if {
	queue := input.workload.labels[kueue.queue_label]
	queue != ""
	not input.workload.owned
	not input.workload.isTemplate
	not kueue.in_queue
	not _pods_are_queued
	not _external

	finding := {
		"path": $"/metadata/labels/{kueue.escaped(kueue.queue_label)}",
		"message": $"Kueue does not read {kueue.queue_label} {text.excerpt(queue)} on {input.workload.kind}s, so it does not queue this one",
		"remedy": _remedy,
	}
}

_pods_are_queued if {
	some pod_set in input.podSets
	object.get(pod_set.labels, kueue.queue_label, "") != ""
}

_external if {
	some framework in _external_frameworks
	startswith(framework, $"{input.workload.kind}.")
	endswith(framework, $".{input.workload.group}")
}

_external_frameworks := declared if {
	declared := parameters.queueing.kind_that_kueue_ignores.externalFrameworks
	declared != []
} else := object.get(input, ["cluster", "kueue", "externalFrameworks"], [])

_remedy := $"move it to {kueue.label_field}" if {
	input.workload.queueLabelPath
} else := "use a kind that Kueue queues, or use only Volcano for queueing" if {
	input.workload.gangNative
} else := "use a kind that Kueue queues, or label its pod templates to queue the pods one by one"
