# METADATA
# title: A cron trigger of KEDA has a time in which it can reach its number
# description: |
#   A trigger of the type cron asks for desiredReplicas between start and end. KEDA refuses a trigger without a time
#   zone, start, end or number, and one that starts and ends at the same time. More replicas than maxReplicaCount never
#   start, so a schedule that warms GPUs up for the morning has less of them than it says.
# scope: package
# related_resources:
#   - ref: https://keda.sh/docs/latest/scalers/cron/
#     description: KEDA on the trigger cron
# schemas:
#   - input: schema.input
# custom:
#   code: USH1487
#   about: objects
#   kinds: [scaledObject]
#   severity: medium
#   why: The schedule has no effect, or less than it says.
#   remediation: |
#     Give the trigger a time zone, a start, another end, and a number that is not above maxReplicaCount.
package usher.checks.objects.cron_trigger_without_effect

import data.usher.lib.autoscaling

_fields := ["timezone", "start", "end", "desiredReplicas"]

deny contains finding if {
	not input.object.scaledObject.metadata.ownerReferences
	some index, trigger in input.object.scaledObject.spec.triggers
	trigger.type == "cron"
	some problem in _problems(trigger)

	finding := {
		"path": $"/spec/triggers/{index}/metadata",
		"message": $"the cron trigger {problem.text}",
		"remedy": problem.remedy,
	}
}

_problems(trigger) := array.concat(_missing(trigger), array.concat(_no_time(trigger), _too_many(trigger)))

_missing(trigger) := [{"text": $"lacks {name}, so KEDA refuses it", "remedy": $"add {name}"} |
	some name in _fields
	object.get(trigger, ["metadata", name], "") == ""
]

_no_time(trigger) := [{"text": "starts and ends at the same time, so KEDA refuses it", "remedy": "set another end"} |
	trigger.metadata.start != ""
	trigger.metadata.start == trigger.metadata.end
]

_too_many(trigger) := [{
	"text": $"asks for {wanted} replicas, but {autoscaling.bounds.maximumField} is {autoscaling.bounds.maximum}",
	"remedy": $"set {autoscaling.bounds.maximumField} to {wanted} or more, or ask for fewer",
} |
	regex.match(`^[0-9]{1,9}$`, trigger.metadata.desiredReplicas)
	wanted := to_number(trigger.metadata.desiredReplicas)
	wanted > autoscaling.bounds.maximum
]
