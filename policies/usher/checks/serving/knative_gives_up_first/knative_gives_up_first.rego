# METADATA
# title: Knative waits as long as the startup probe
# description: |
#   Knative gives a revision up when its pods are not ready within the progress deadline, and stops them. The deadline
#   is 600 seconds, unless the annotation serving.knative.dev/progress-deadline or Knative's configuration sets another.
#   A startup probe that waits longer for a large model has no effect, because Knative stops the pod before, and so has
#   a readiness probe whose first answer comes later.
# scope: package
# related_resources:
#   - ref: https://knative.dev/docs/serving/configuration/deployment/#configuring-progress-deadlines
#     description: Knative on progress deadlines
# schemas:
#   - input: schema.input
# custom:
#   code: USH1044
#   about: accelerator pods
#   severity: medium
#   why: Knative stops the pod while it still loads its model, so the revision never becomes ready.
#   remediation: |
#     Set the annotation serving.knative.dev/progress-deadline to more than the startup probe waits, on the template of
#     a Knative Service or on the InferenceService.
package usher.checks.serving.knative_gives_up_first

import data.usher.lib.serving
import data.usher.lib.workload

_annotation := "serving.knative.dev/progress-deadline"

_default := 600

deny contains object.union(finding, _assumption(entry.podSet)) if {
	serving.on_knative
	some entry in serving.model_servers
	seconds := serving.seconds_until_failure(entry.container.startupProbe)
	deadline := _deadline(entry.podSet)
	seconds > deadline

	finding := {
		"path": $"{entry.container.path}/startupProbe",
		"message": $"the startup probe gives {workload.container_name(entry.podSet, entry.container)} {seconds} seconds to load, but Knative gives the revision up after {deadline} seconds",
		"remedy": $"set the annotation {_annotation} to more than {seconds}s",
	}
}

deny contains object.union(finding, _assumption(entry.podSet)) if {
	serving.on_knative
	some entry in serving.model_servers
	seconds := entry.container.readinessProbe.initialDelaySeconds
	deadline := _deadline(entry.podSet)
	seconds >= deadline

	finding := {
		"path": $"{entry.container.path}/readinessProbe/initialDelaySeconds",
		"message": $"the first readiness probe of {workload.container_name(entry.podSet, entry.container)} comes after {seconds} seconds, but Knative gives the revision up after {deadline} seconds",
		"remedy": $"set initialDelaySeconds to 0, and the annotation {_annotation} to more than the model takes to load",
	}
}

_given(pod_set) := object.get(pod_set.annotations, _annotation, object.get(input.workload.annotations, _annotation, ""))

_deadline(pod_set) := _default if _given(pod_set) == ""

_deadline(pod_set) := to_number(trim_suffix(given, "s")) if {
	given := _given(pod_set)
	regex.match(`^[0-9]{1,6}s$`, given)
}

_deadline(pod_set) := to_number(trim_suffix(given, "m")) * 60 if {
	given := _given(pod_set)
	regex.match(`^[0-9]{1,6}m$`, given)
}

_assumption(pod_set) := {"assumption": "usher assumes that Knative has its default progress deadline of 600 seconds, and that Knative runs the pods"} if _given(pod_set) == ""

_assumption(pod_set) := {} if {
	_given(pod_set) != ""
	not serving.may_be_on_knative
}

_assumption(pod_set) := {"assumption": "usher assumes that Knative runs the pods, as it does by KServe's default"} if {
	_given(pod_set) != ""
	serving.may_be_on_knative
}
