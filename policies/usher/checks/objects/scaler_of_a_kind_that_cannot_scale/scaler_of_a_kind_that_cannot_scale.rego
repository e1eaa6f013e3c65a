# METADATA
# title: An autoscaler targets a kind with a scale subresource
# description: |
#   An autoscaler writes the number of replicas through the scale subresource of its target. Many kinds of GPU workloads
#   have no scale subresource: jobs of all kinds, Ray's kinds, InferenceServices and DaemonSets. An autoscaler for one
#   of these reports an error forever and changes nothing. Ray, KServe and Knative have their own autoscalers, and jobs
#   keep their size.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#scale-subresource
#     description: Kubernetes on the scale subresource
# schemas:
#   - input: schema.input
# custom:
#   code: USH1464
#   about: objects
#   kinds: [horizontalPodAutoscaler, podAutoscaler, scaledObject]
#   severity: high
#   why: The autoscaler seems to work, but never scales anything.
#   remediation: |
#     Use the kind's own settings: enableInTreeAutoscaling for Ray clusters, minReplicas and maxReplicas for an
#     InferenceService, the annotations of Knative. Otherwise target a kind that can be scaled, for example a Deployment
#     or a LeaderWorkerSet.
package usher.checks.objects.scaler_of_a_kind_that_cannot_scale

import data.usher.lib.autoscaling

_other := "target a kind that can be scaled, for example a Deployment or a LeaderWorkerSet"

_ray := "use enableInTreeAutoscaling with minReplicas and maxReplicas of the worker groups"

_knative := "use the annotations autoscaling.knative.dev/min-scale and max-scale"

# Each kind with its remedy.
_kinds := {
	"/Pod": _other,
	"apps/DaemonSet": _other,
	"argoproj.io/CronWorkflow": _other,
	"argoproj.io/Workflow": _other,
	"batch.volcano.sh/CronJob": _other,
	"batch.volcano.sh/Job": _other,
	"batch/CronJob": _other,
	"batch/Job": _other,
	"jobset.x-k8s.io/JobSet": _other,
	"kubeflow.org/MPIJob": _other,
	"kubeflow.org/TFJob": _other,
	"kubeflow.org/XGBoostJob": _other,
	"ray.io/RayCluster": _ray,
	"ray.io/RayCronJob": _ray,
	"ray.io/RayJob": _ray,
	"ray.io/RayService": _ray,
	"serving.knative.dev/Configuration": _knative,
	"serving.knative.dev/Revision": _knative,
	"serving.knative.dev/Service": _knative,
	"serving.kserve.io/InferenceService": "use minReplicas and maxReplicas of the InferenceService",
	"sparkoperator.k8s.io/ScheduledSparkApplication": _other,
	"sparkoperator.k8s.io/SparkApplication": "use dynamicAllocation of the SparkApplication",
	"trainer.kubeflow.org/TrainJob": _other,
	"workload.codeflare.dev/AppWrapper": _other,
}

deny contains finding if {
	target := autoscaling.target
	remedy := _kinds[$"{target.group}/{target.kind}"]

	finding := {
		"path": target.path,
		"message": $"a {target.kind} has no scale subresource, so the autoscaler never changes it",
		"remedy": remedy,
	}
}
