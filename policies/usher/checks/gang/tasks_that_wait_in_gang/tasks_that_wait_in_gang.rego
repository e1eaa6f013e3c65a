# METADATA
# title: The gang of a Volcano Job does not wait for tasks that wait for it
# description: |
#   Pods of a task with `dependsOn` are made when the tasks that it names run. Volcano places no pod of a Job before as
#   many are there as `minAvailable` says, which is all of them where it says nothing. If that is more than the tasks
#   have which wait for none, each waits for the other, and no pod ever starts.
# scope: package
# related_resources:
#   - ref: https://github.com/volcano-sh/volcano/blob/master/docs/design/task-launch-order-within-job.md
#     description: Volcano on the order of tasks
#   - ref: https://volcano.sh/en/docs/vcjob/
#     description: Volcano on minAvailable
# schemas:
#   - input: schema.input
# custom:
#   code: USH510
#   about: objects
#   kinds: [volcanoJob, volcanoCronJob, volcanoJobTemplate]
#   severity: high
#   why: Two rules of one Job wait for each other, so none of its pods ever starts.
#   closes: [S24]
#   remediation: |
#     Set `minAvailable` to the number of pods of the tasks without `dependsOn`, or remove `dependsOn` and let the pods
#     wait for each other themselves.
package usher.checks.gang.tasks_that_wait_in_gang

import data.usher.lib.volcano

deny contains finding if {
	waiting := _waiting[0]
	volcano.minimum > _first
	volcano.minimum <= volcano.replicas

	finding := {
		"path": $"{volcano.job_spec_path}/tasks/{waiting}/dependsOn",
		"message": $"the gang is {volcano.minimum} pods, but only {_first} are made before this task, so none is ever placed",
		"remedy": $"set minAvailable to {_first}, or remove dependsOn",
	}
}

_waiting := [index |
	some index, task in volcano.job_spec.tasks
	count(task.dependsOn.name) > 0
]

_first := sum([object.get(task, "replicas", 0) |
	some index, task in volcano.job_spec.tasks
	not index in _waiting
])
