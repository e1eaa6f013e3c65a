# METADATA
# title: A gang waits for all of its accelerators
# description: |
#   `minAvailable` says how many pods have to start together. Below the number of pods with accelerators, a training job
#   starts with a part of them, which hold their devices and wait for the rest. Launchers and drivers without
#   accelerators may come later, so they do not count, and an elastic job needs no more than its `minReplicas`. Without
#   `minAvailable` all pods start together, which is what training wants.
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
#   why: The job starts with some of its GPUs, and keeps them idle until the others come.
#   closes: [S24, S25]
#   remediation: |
#     Leave `minAvailable` out, or set it to the number of all pods. A job whose pods do not wait for each other can say
#     so by the label gpu-usher.io/role: batch.
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
		"message": $"minAvailable {minimum} lets the job start with a part of its {asking} pods with accelerators",
		"remedy": $"set minAvailable to {input.workload.pods.minimum}, or leave it out",
	}
}

deny contains finding if {
	input.workload.role == "training"
	minimum := volcano.named_minimum
	asking := sum([task.replicas | some task in _asking_tasks])
	minimum < asking

	finding := {
		"path": $"{volcano.job_spec_path}/minAvailable",
		"message": $"minAvailable {minimum} lets the job start with a part of its {asking} pods with accelerators",
		"remedy": $"set minAvailable to {volcano.replicas}, or leave it out",
	}
}

# Without one of the job, those of its tasks count.
deny contains finding if {
	input.workload.role == "training"
	some task in _asking_tasks
	not volcano.named_minimum
	task.minimum < task.replicas

	finding := {
		"path": $"{task.path}/minAvailable",
		"message": $"minAvailable {task.minimum} of task {task.name} lets the job start with a part of its {task.replicas} pods",
		"remedy": $"set minAvailable to {task.replicas}, or leave it out",
	}
}

# An elastic job starts with its least, whatever there is room for.
default _bounds := {}

_bounds := kubeflow.job.spec.elasticPolicy

# The pod sets of a CronJob count all its runs, so the replicas are read where they stand.
_asking_tasks := [asking |
	some index, task in volcano.job_spec.tasks
	path := $"{volcano.job_spec_path}/tasks/{index}"
	some pod_set in workload.accelerator_pod_sets
	pod_set.path == $"{path}/template"

	asking := {
		"name": pod_set.name,
		"path": path,
		"replicas": object.get(task, "replicas", 0),
		"minimum": volcano.task_minimum(task),
	}
]
