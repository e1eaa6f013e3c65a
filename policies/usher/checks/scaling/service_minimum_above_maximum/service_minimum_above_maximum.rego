# METADATA
# title: The minimum of a service is not above its maximum
# description: |
#   KServe refuses an InferenceService if minReplicas of a component is more than its maxReplicas. Knative refuses a
#   Service if min-scale of its template is more than its max-scale. For both, a maximum of 0 means no maximum.
# scope: package
# related_resources:
#   - ref: https://knative.dev/docs/serving/autoscaling/scale-bounds/
#     description: Knative on the bounds of scaling
# schemas:
#   - input: schema.input
# custom:
#   code: USH1109
#   about: accelerator pods
#   severity: high
#   why: KServe or Knative refuses the service.
#   closes: [S36]
#   remediation: Lower the minimum, or raise the maximum.
package usher.checks.scaling.service_minimum_above_maximum

import data.usher.lib.text

deny contains finding if {
	some name in ["predictor", "transformer", "explainer"]
	component := input.object.inferenceService.spec[name]
	component.maxReplicas > 0
	component.minReplicas > component.maxReplicas

	finding := {
		"path": $"/spec/{name}/minReplicas",
		"message": $"minReplicas {component.minReplicas} of the {name} is more than its maxReplicas {component.maxReplicas}, so KServe refuses the service",
		"remedy": "lower minReplicas, or raise maxReplicas",
	}
}

deny contains finding if {
	input.workload.group == "serving.knative.dev"
	some pod_set in input.podSets
	minimum := _scale(pod_set.annotations, "min")
	maximum := _scale(pod_set.annotations, "max")
	to_number(maximum) > 0
	to_number(minimum) > to_number(maximum)

	finding := {
		"path": $"{pod_set.metadataPath}/annotations",
		"message": $"min-scale {text.excerpt(minimum)} is more than max-scale {text.excerpt(maximum)}, so Knative refuses the service",
		"remedy": "lower autoscaling.knative.dev/min-scale, or raise max-scale",
	}
}

# Knative uses the first of the two spellings.
_scale(annotations, end) := value if {
	value := annotations[$"autoscaling.knative.dev/{end}-scale"]
} else := annotations[$"autoscaling.knative.dev/{end}Scale"]
