# METADATA
# title: Let Volcano place a job as a gang
# description: |
#   The pods of a distributed job only work together, so all of them must start at once. Where usher.yaml routes a
#   workload to Volcano, the webhook sets what its kind needs. The queue goes into a field, a label or an annotation.
#   The scheduler goes into every template, the launcher's included, unless the operator writes it there.
#   schedulerName alone does not make a gang. The webhook therefore does not route a workload that cannot form one; it
#   warns the user. Examples are a StatefulSet that starts its pods in order, a Deployment with rolling updates, and a
#   TrainJob, whose runtime decides.
#   Operators that count the pods of the gang keep doing so, because a fixed number is wrong after the job scales. The
#   webhook writes the number only for kinds without a counter (Job, StatefulSet), if the route sets setsMinimum, or
#   if the operator would count pods that wait for the others (a launcher that waits for its workers). It
#   replaces the queue `default` of a Volcano Job, because the API server writes that queue where the manifest names no
#   queue.
#   The webhook skips jobs that name another scheduler in any template. It also skips jobs whose pods Kueue places by
#   topology, because two placements of one pod contradict each other.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/gang_scheduling/
#     description: Volcano on gang scheduling
#   - ref: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/job-scheduling/
#     description: Kubeflow on gang scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USM501
#   order: 30
#   protects_others: true
#   promises: [gang/gang_missing, gang/mixed_schedulers, gang/routed_to_another_scheduler, gang/volcano_without_gang]
package usher.mutations.gang.volcano_routing

import data.usher.lib.routing

intents contains intent if {
	routing.to_volcano
	input.workload.gangPlaces.onTemplates
	some pod_set in input.podSets

	intent := {
		"at": pod_set.path,
		"field": "schedulerName",
		"value": routing.scheduler,
		"reason": "all pods of a gang need the same scheduler",
		"needs": routing.needs_of_volcano,
	}
}

intents contains intent if {
	routing.to_volcano
	some setting, value in _settings
	input.workload.gangPlaces[setting]

	intent := {
		"at": "",
		"field": "gangSetting",
		"value": object.union({"setting": setting}, value),
		"reason": $"usher.yaml routes this {input.workload.kind} of namespace {input.workload.namespace} to queue {input.site.route.queue} as a gang",
		"needs": routing.needs_of_volcano,
	}
}

_settings["queue"] := {"value": input.site.route.queue} if not input.workload.gangNative

# The CRD of a Volcano Job has a default.
_settings["queue"] := {"value": input.site.route.queue, "instead": "default"} if input.workload.gangNative

# Volcano names itself in its own Jobs.
_settings["scheduler"] := {"value": input.site.route.schedulerName} if not _volcanos_own_default

_settings["minimum"] := {"value": _minimum} if {
	not input.workload.gangPlaces.countedByOperator
}

_settings["minimum"] := {"value": _minimum} if {
	input.site.route.setsMinimum
	not input.workload.gangNative
}

# The operator counts pods that wait for the others, so that no pod would ever start.
_settings["minimum"] := {"value": _minimum} if {
	input.workload.gang.first
	not input.workload.gangNative
}

_volcanos_own_default if {
	input.workload.gangNative
	input.site.route.schedulerName == "volcano"
}

# An annotation holds a text, a field a number.
_minimum := $"{_at_once}" if startswith(input.workload.gangPlaces.minimum, "/metadata/annotations/")

_minimum := _at_once if not startswith(input.workload.gangPlaces.minimum, "/metadata/annotations/")

_at_once := object.get(input.workload.gang, "first", input.workload.pods.minimum)

warnings contains {"at": "", "reason": routing.why_not_on_volcano} if {
	input.site.route.scheduler == "volcano"
	not routing.why_no_gang
}

skips contains {"at": "", "reason": "usher.yaml does not route the workload to Volcano"} if {
	not input.site.route.scheduler == "volcano"
}

skips contains {"at": "", "reason": routing.why_no_gang} if input.site.route.scheduler == "volcano"
