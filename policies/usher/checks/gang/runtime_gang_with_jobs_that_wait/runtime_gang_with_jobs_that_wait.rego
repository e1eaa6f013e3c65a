# METADATA
# title: A runtime with a PodGroup has no jobs that wait for other jobs
# description: |
#   With a `podGroupPolicy` the Trainer makes one PodGroup for a TrainJob. The PodGroup counts the pods of every
#   replicated job. Jobs with `dependsOn`, for example the nodes behind an initializer, start only after the jobs that
#   they name. But the scheduler waits for all pods before it places the first one. So the initializers never start.
# scope: package
# related_resources:
#   - ref: https://www.kubeflow.org/docs/components/trainer/operator-guides/job-scheduling/volcano/
#     description: Kubeflow on Volcano
#   - ref: https://github.com/kubeflow/trainer/blob/master/pkg/runtime/framework/plugins/volcano/volcano.go
#     description: How the Trainer counts the members
# schemas:
#   - input: schema.input
# custom:
#   code: USH511
#   about: objects
#   kinds: [trainingRuntime, clusterTrainingRuntime]
#   severity: medium
#   why: TrainJobs of this runtime wait for pods that do not exist yet.
#   closes: [S24]
#   remediation: |
#     Remove `podGroupPolicy` and let a queue of Kueue start the pods together. Or move the work of the initializers
#     into the pods that train.
package usher.checks.gang.runtime_gang_with_jobs_that_wait

deny contains finding if {
	count(object.keys(_spec.podGroupPolicy)) > 0
	some index, job in _spec.template.spec.replicatedJobs
	count(job.dependsOn) > 0

	finding := {
		"path": $"/spec/template/spec/replicatedJobs/{index}/dependsOn",
		"message": $"the PodGroup counts the pods of {_name(job)}, but these pods start only after other jobs, so the scheduler never places any pod",
		"remedy": "remove podGroupPolicy, or dependsOn",
	}
}

_spec := input.object.trainingRuntime.spec

_spec := input.object.clusterTrainingRuntime.spec

_name(job) := object.get(job, "name", "a job")
