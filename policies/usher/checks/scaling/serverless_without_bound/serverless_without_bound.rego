# METADATA
# title: Knative services with accelerators set an upper bound
# description: |
#   Knative makes as many pods as the requests need, and by default max-scale has no bound. One burst of requests then
#   takes every GPU of the cluster. A Knative Service sets the bound in the annotation autoscaling.knative.dev/max-scale
#   of its template; 0 means no bound. An InferenceService sets it in maxReplicas of each component, because KServe
#   drops the annotation. Without the annotation serving.kserve.io/deploymentMode, the configuration of KServe decides
#   the mode of an InferenceService, which the check therefore skips.
# scope: package
# related_resources:
#   - ref: https://knative.dev/docs/serving/autoscaling/scale-bounds/
#     description: Knative on the bounds of scaling
# schemas:
#   - input: schema.input
# custom:
#   code: USH1101
#   about: accelerator pods
#   severity: medium
#   why: One burst of requests takes all GPUs of the cluster from other users.
#   closes: [S36, S43]
#   remediation: |
#     Set the annotation autoscaling.knative.dev/max-scale of the template, or maxReplicas of the component, to the
#     largest number of pods that the service may have.
package usher.checks.scaling.serverless_without_bound

import data.usher.lib.serving
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	serving.on_knative
	not serving.may_be_on_knative
	some pod_set in workload.accelerator_pod_sets
	not pod_set.pods.maximum

	finding := {
		"path": _path(pod_set),
		"message": $"Knative may make any number of {_pods(pod_set)}, and each asks for accelerators",
		"remedy": _remedy,
		"assumption": "Knative's configuration sets no max-scale for the whole cluster",
	}
}

_path(pod_set) := $"{pod_set.path}" if input.object.inferenceService

_path(pod_set) := $"{pod_set.metadataPath}/annotations" if not input.object.inferenceService

_pods(pod_set) := $"pods of the {pod_set.name}" if pod_set.name != ""

_pods(pod_set) := "its pods" if pod_set.name == ""

_remedy := "set maxReplicas" if {
	input.object.inferenceService
} else := "set the annotation autoscaling.knative.dev/max-scale"
