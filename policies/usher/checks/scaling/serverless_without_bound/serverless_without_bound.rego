# METADATA
# title: What Knative scales has an upper bound
# description: |
#   Knative makes as many pods as there are requests for, and its default for max-scale is no bound at all: one burst
#   takes every GPU of the cluster. A Knative Service says its bound in the annotation autoscaling.knative.dev/max-scale
#   of its template, where 0 is none; an InferenceService in maxReplicas of each component, for KServe drops the
#   annotation. Which mode an InferenceService without the annotation serving.kserve.io/deploymentMode runs in, the
#   configuration of KServe decides; as it is shipped it is Knative.
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
#   why: One burst of requests takes all GPUs of the cluster, and nobody else gets any.
#   closes: [S36, S43]
#   remediation: |
#     Set the annotation autoscaling.knative.dev/max-scale of the template, or maxReplicas of the component, to as many
#     pods as the service may have.
package usher.checks.scaling.serverless_without_bound

import data.usher.lib.serving
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	serving.on_knative
	some pod_set in workload.accelerator_pod_sets
	not pod_set.pods.maximum

	finding := {
		"path": _path(pod_set),
		"message": $"Knative may make any number of {_pods(pod_set)}, and each asks for accelerators",
		"remedy": _remedy,
		"assumption": _assumption,
	}
}

_path(pod_set) := $"{pod_set.path}" if input.object.inferenceService

_path(pod_set) := $"{pod_set.metadataPath}/annotations" if not input.object.inferenceService

_pods(pod_set) := $"pods of the {pod_set.name}" if pod_set.name != ""

_pods(pod_set) := "its pods" if pod_set.name == ""

_remedy := "set maxReplicas" if {
	input.object.inferenceService
} else := "set the annotation autoscaling.knative.dev/max-scale"

_assumption := "KServe runs it on Knative, and no max-scale is set for the whole cluster" if {
	serving.may_be_on_knative
} else := "Knative's configuration sets no max-scale for the whole cluster"
