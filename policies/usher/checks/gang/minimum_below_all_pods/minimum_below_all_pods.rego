# METADATA
# title: A gang waits for all of its accelerators
# description: |
#   `minAvailable` says how many pods must start together. If it is below the number of pods with accelerators, a
#   training job starts with a part of them. Those pods hold their devices and wait for the rest. Launchers and drivers
#   without accelerators may start later, so they do not count. An elastic job needs only its `minReplicas`. Without
#   `minAvailable` all pods start together, which is right for training.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/vcjob/
#     description: Volcano on minAvailable
#   - ref: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/job-scheduling/
#     description: Kubeflow on gang scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH503
#   about: accelerator pods
#   severity: medium
#   why: The job starts with some of its GPUs, and they stay idle until the others arrive.
#   closes: [S24, S25]
#   remediation: |
#     Remove `minAvailable`, or set it to the number of all pods. If the pods do not wait for each other, set the label
#     gpu-usher.io/role: batch.
package usher.checks.gang.minimum_below_all_pods

import data.usher.lib.kubeflow
import data.usher.lib.volcano
import data.usher.lib.workload

deny contains finding if {
	input.workload.role == "training"
	input.workload.group == "kubeflow.org"
	minimum := input.workload.gang.minimum
	asking := sum([pod_set.pods.minimum | some pod_set in workload.accelerator_pod_sets])
	minimum < min([asking, object.get(_bounds, "minReplicas", asking)])

	finding := {
		"path": input.workload.gangPlaces.minimum,
		"message": $"minAvailable is {minimum}, so the job can start with only a part of its {asking} pods with accelerators",
		"remedy": $"set minAvailable to {input.workload.pods.minimum}, or remove it",
	}
}

deny contains finding if {
	input.workload.role == "training"
	minimum := volcano.named_minimum
	asking := sum([task.replicas | some task in _asking_tasks])
	minimum < asking

	finding := {
		"path": $"{volcano.job_spec_path}/minAvailable",
		"message": $"minAvailable is {minimum}, so the job can start with only a part of its {asking} pods with accelerators",
		"remedy": $"set minAvailable to {volcano.replicas}, or remove it",
	}
}

# If the job has no minAvailable, the minAvailable of its tasks counts.
deny contains finding if {
	input.workload.role == "training"
	some task in _asking_tasks
	not volcano.named_minimum
	task.minimum < task.replicas

	finding := {
		"path": $"{task.path}/minAvailable",
		"message": $"minAvailable of task {task.name} is {task.minimum}, so the job can start with only a part of its {task.replicas} pods",
		"remedy": $"set minAvailable to {task.replicas}, or remove it",
	}
}

# An elastic job starts with its minReplicas, even if there is room for more.
default _bounds := {}

_bounds := kubeflow.job.spec.elasticPolicy

# The pod sets of a CronJob count all its runs, so the replicas come from the tasks.
_asking_tasks := [asking |
	some index, task in volcano.job_spec.tasks
	path := $"{volcano.job_spec_path}/tasks/{index}"
	some name in _asking_names[$"{path}/template"]

	asking := {
		"name": name,
		"path": path,
		"replicas": object.get(task, "replicas", 0),
		"minimum": volcano.task_minimum(task),
	}
]

_asking_names[pod_set.path] contains pod_set.name if some pod_set in workload.accelerator_pod_sets
