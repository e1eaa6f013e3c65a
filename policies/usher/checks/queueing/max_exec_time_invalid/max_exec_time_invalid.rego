# METADATA
# title: The maximum execution time is a number of seconds
# description: |
#   With the label kueue.x-k8s.io/max-exec-time-seconds, Kueue ends a job that runs longer than this time. The value is
#   a whole number of at least 1, without a unit or a fraction. Kueue's webhooks refuse all other values. Deployments,
#   StatefulSets and LeaderWorkerSets run forever, and Kueue does not read the label there.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/workload/#maximum-execution-time
#     description: Kueue on the maximum execution time
# schemas:
#   - input: schema.input
# custom:
#   code: USH410
#   about: labelled pods
#   severity: high
#   why: Kueue refuses the workload when it is created.
#   closes: [S20]
#   remediation: |
#     Write the number of seconds, for example "3600" for an hour.
package usher.checks.queueing.max_exec_time_invalid

import data.usher.lib.kueue
import data.usher.lib.text

_seconds := "kueue.x-k8s.io/max-exec-time-seconds"

_endless_kinds := ["Deployment", "StatefulSet", "LeaderWorkerSet"]

deny contains finding if {
	seconds := kueue.labels[_seconds]
	not input.workload.kind in _endless_kinds
	not _is_valid_time(seconds)

	finding := {
		"path": kueue.label_path(_seconds),
		"message": $"{_seconds} {text.excerpt(seconds)} is not a whole number of at least 1, so Kueue refuses this {input.workload.kind}",
		"remedy": "write the number of seconds, without a unit",
	}
}

_is_valid_time(seconds) if kueue.whole_number(seconds) >= 1
