# METADATA
# title: A service has no more pods at least than at most
# description: |
#   KServe refuses an InferenceService with a component of which minReplicas is more than maxReplicas, and Knative a
#   Service whose template has a min-scale above its max-scale. Of both 0 is no maximum at all.
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
#   why: The service is refused.
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
		"message": $"KServe refuses a {name} with a minimum of {component.minReplicas} and a maximum of {component.maxReplicas}",
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
		"message": $"Knative refuses a min-scale of {text.excerpt(minimum)} and a max-scale of {text.excerpt(maximum)}",
		"remedy": "lower autoscaling.knative.dev/min-scale, or raise max-scale",
	}
}

# Of two spellings the first counts.
_scale(annotations, end) := value if {
	value := annotations[$"autoscaling.knative.dev/{end}-scale"]
} else := annotations[$"autoscaling.knative.dev/{end}Scale"]
