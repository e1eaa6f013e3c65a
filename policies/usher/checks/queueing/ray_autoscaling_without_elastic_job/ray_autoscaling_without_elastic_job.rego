# METADATA
# title: A queued Ray cluster that scales itself is an elastic job
# description: |
#   Kueue counts a Ray cluster once, when it admits it. Pods that Ray's autoscaler adds later would be outside the
#   quota. Kueue's webhooks therefore refuse enableInTreeAutoscaling in a queue, unless the annotation
#   kueue.x-k8s.io/elastic-job is "true". With this annotation, Kueue admits every change of size separately. It needs
#   Kueue's feature ElasticJobsViaWorkloadSlices, which is on by default since version 0.18.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/elastic_workload/
#     description: Kueue on elastic workloads
#   - ref: https://kueue.sigs.k8s.io/docs/tasks/run/rayclusters/
#     description: Kueue on RayClusters
# schemas:
#   - input: schema.input
# custom:
#   code: USH426
#   about: objects
#   kinds: [rayCluster, rayJob, rayService]
#   severity: high
#   why: Kueue refuses the cluster, because it could grow beyond its quota.
#   closes: [B35]
#   remediation: |
#     Set the annotation kueue.x-k8s.io/elastic-job to "true", or turn enableInTreeAutoscaling off.
package usher.checks.queueing.ray_autoscaling_without_elastic_job

import data.usher.lib.kueue
import data.usher.lib.queueable

deny contains finding if {
	kueue.in_queue
	queueable.scales_itself

	finding := {
		"path": $"{kueue.ray_cluster.path}/enableInTreeAutoscaling",
		"message": $"the cluster of the {input.workload.kind} scales itself, so Kueue refuses it in a queue unless it is an elastic job",
		"remedy": $"set the annotation {queueable.elastic_annotation}: \"true\", or turn enableInTreeAutoscaling off",
	}
}
