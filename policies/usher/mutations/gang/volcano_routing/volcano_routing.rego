# METADATA
# title: Let Volcano place a job as a gang
# description: |
#   The pods of a distributed job only work together, so either all of them start or none. Where usher.yaml routes a
#   workload to Volcano, it is told so in the way of its kind: the queue in a field, a label or an annotation, the
#   scheduler on every template, the launcher's too, or left to the operator that writes it there. The scheduler's name
#   alone makes no gang, so a kind that cannot form one is not given half of it: the user is warned instead. So it is
#   with a StatefulSet whose pods are made one after the other, a Deployment with rolling updates, and a TrainJob, of
#   which the runtime decides.
#   How many pods start together is left to operators that count them; a number goes wrong as soon as the job is scaled.
#   Where nobody counts (Job, StatefulSet), or setsMinimum of the route asks for it, the number is written down. The queue
#   `default` of a Volcano Job gives way, because the API server writes it where nobody named one.
#   Jobs that name another scheduler anywhere are left alone, and so are those whose pods Kueue places by topology,
#   because two placements of one pod contradict each other.
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
		"reason": "all pods of a gang need one scheduler",
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
		"reason": $"{input.workload.kind}s of namespace {input.workload.namespace} run as gangs in queue {input.site.route.queue}",
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

_volcanos_own_default if {
	input.workload.gangNative
	input.site.route.schedulerName == "volcano"
}

# An annotation holds a text, a field a number.
_minimum := $"{input.workload.pods.minimum}" if startswith(input.workload.gangPlaces.minimum, "/metadata/annotations/")

_minimum := input.workload.pods.minimum if {
	not startswith(input.workload.gangPlaces.minimum, "/metadata/annotations/")
}

warnings contains {"at": "", "reason": routing.why_not_on_volcano} if {
	input.site.route.scheduler == "volcano"
	not routing.why_no_gang
}

skips contains {"at": "", "reason": "usher.yaml routes it to no Volcano queue"} if {
	not input.site.route.scheduler == "volcano"
}

skips contains {"at": "", "reason": routing.why_no_gang} if input.site.route.scheduler == "volcano"
