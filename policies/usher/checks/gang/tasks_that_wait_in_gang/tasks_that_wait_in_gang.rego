# METADATA
# title: The gang of a Volcano Job does not include tasks that wait for it
# description: |
#   Volcano makes the pods of a task with `dependsOn` only when the tasks that it names run. Volcano places no pod of a
#   Job before there are as many pods as `minAvailable` says. By default that is all pods. If `minAvailable` is larger
#   than the number of pods of tasks without `dependsOn`, the gang and the task wait for each other. No pod ever starts.
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
#   why: Two settings of the Job wait for each other, so no pod of it ever starts.
#   closes: [S24]
#   remediation: |
#     Set `minAvailable` to the number of pods of the tasks without `dependsOn`. Or remove `dependsOn` and let the pods
#     wait for each other themselves.
package usher.checks.gang.tasks_that_wait_in_gang

import data.usher.lib.volcano

deny contains finding if {
	waiting := _waiting[0]
	volcano.minimum > _pods_without_dependencies
	volcano.minimum <= volcano.replicas

	finding := {
		"path": $"{volcano.job_spec_path}/tasks/{waiting}/dependsOn",
		"message": $"the gang needs {volcano.minimum} pods, but Volcano makes only {_pods_without_dependencies} before this task, so no pod ever starts",
		"remedy": $"set minAvailable to {_pods_without_dependencies}, or remove dependsOn",
	}
}

_waiting := [index |
	some index, task in volcano.job_spec.tasks
	count(task.dependsOn.name) > 0
]

_pods_without_dependencies := sum([object.get(task, "replicas", 0) |
	some index, task in volcano.job_spec.tasks
	not index in _waiting
])
