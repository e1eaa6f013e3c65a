# METADATA
# title: A gang does not include pods that wait for it
# description: |
#   Volcano makes the pods of a task with `dependsOn` only when the tasks that it names run. Volcano places no pod of a
#   Job before there are as many pods as `minAvailable` says. By default that is all pods. If `minAvailable` is larger
#   than the number of pods of tasks without `dependsOn`, the gang and the task wait for each other. No pod ever starts.
#   The launcher of an MPIJob with `launcherCreationPolicy: WaitForWorkersReady` waits in the same way. The mpi-operator
#   counts it nevertheless, unless `schedulingPolicy.minAvailable` says otherwise.
# scope: package
# related_resources:
#   - ref: https://github.com/volcano-sh/volcano/blob/master/docs/design/task-launch-order-within-job.md
#     description: Volcano on the order of tasks
#   - ref: https://volcano.sh/en/docs/vcjob/
#     description: Volcano on minAvailable
#   - ref: https://github.com/kubeflow/mpi-operator/blob/master/pkg/controller/podgroup.go
#     description: How the mpi-operator counts the gang
# schemas:
#   - input: schema.input
# custom:
#   code: USH510
#   about: objects
#   kinds: [volcanoJob, volcanoCronJob, volcanoJobTemplate, mpiJob]
#   severity: high
#   why: Two settings of the Job wait for each other, so no pod of it ever starts.
#   closes: [S24]
#   remediation: |
#     Set `minAvailable` to the number of pods that are made at once: of tasks without `dependsOn`, or of the workers. Or
#     remove `dependsOn` or `launcherCreationPolicy` and let the pods wait for each other themselves.
package usher.checks.gang.tasks_that_wait_in_gang

import data.usher.lib.kubeflow
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

deny contains finding if {
	first := input.workload.gang.first
	minimum := input.workload.gang.minimum
	minimum > first

	finding := {
		"path": input.workload.gangPlaces.minimum,
		"message": $"the gang needs {minimum} pods, but the launcher is made only when the {first} workers are ready, so no pod ever starts",
		"remedy": _remedy(first),
	}
}

deny contains finding if {
	first := input.workload.gang.first
	input.workload.pods.minimum > first
	not input.workload.gang.minimum
	kubeflow.scheduling_policy

	finding := {
		"path": "/spec/launcherCreationPolicy",
		"message": $"the launcher is made only when the {first} workers are ready, but without minAvailable the mpi-operator counts it in their gang, so no pod ever starts",
		"remedy": _remedy(first),
		"assumption": "usher assumes that the mpi-operator makes a PodGroup for the job",
	}
}

_remedy(first) := $"set schedulingPolicy.minAvailable to {first}, or remove launcherCreationPolicy"

_waiting := [index |
	some index, task in volcano.job_spec.tasks
	count(task.dependsOn.name) > 0
]

_pods_without_dependencies := sum([object.get(task, "replicas", 0) |
	some index, task in volcano.job_spec.tasks
	not index in _waiting
])
