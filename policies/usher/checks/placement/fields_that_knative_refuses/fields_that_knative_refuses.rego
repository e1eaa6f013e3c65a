# METADATA
# title: Knative templates have only the fields that it takes
# description: |
#   Knative Serving refuses most scheduling fields of its templates: tolerations, nodeSelector, affinity,
#   topologySpreadConstraints, schedulerName, priorityClassName and runtimeClassName, each until its own feature flag is
#   turned on, and none is by default. The API server answers "must not set the field(s)". An InferenceService in Knative
#   mode meets the same fate, only later: it is accepted, and never becomes ready. Which flags are on stands in a
#   ConfigMap; name them in the parameter, and what is left is certain. Until then the finding only warns.
# scope: package
# related_resources:
#   - ref: https://knative.dev/docs/serving/configuration/feature-flags/
#     description: Knative on feature flags
# schemas:
#   - input: schema.input
# custom:
#   code: USH312
#   about: pods
#   severity: high
#   why: The object is refused, or waits for ever for a revision that Knative will not take.
#   closes: [S3, S43]
#   parameters:
#     flags:
#       default: []
#       description: |
#         Feature flags of Knative Serving that are on in this cluster, such as kubernetes.podspec-tolerations.
#   remediation: |
#     Take the field out; the mutations of gpu-usher give tolerations and node affinity to the pods themselves. Or turn
#     on its flag in the ConfigMap `config-features` of Knative Serving, and name it in usher.yaml (parameters,
#     fields-that-knative-refuses, flags). Or run the InferenceService in Standard mode (annotation
#     serving.kserve.io/deploymentMode).
package usher.checks.placement.fields_that_knative_refuses

import data.usher.lib.parameters
import data.usher.lib.serving
import data.usher.lib.workload

deny contains object.union(finding, _assumption) if {
	not input.workload.owned
	serving.on_knative
	some pod_set in input.podSets
	some field in _written(pod_set)
	flag := $"kubernetes.podspec-{lower(field)}"
	not flag in _flags

	finding := {
		"path": workload.field_path(pod_set, field),
		"message": $"Knative refuses {field} of {workload.pod_set_name(pod_set)} while the feature flag {flag} is off",
		"remedy": $"remove {field}, or turn on {flag} in the ConfigMap config-features",
	}
}

_flags := parameters.placement.fields_that_knative_refuses.flags

_assumption := {"assumption": "whether KServe runs it on Knative is not known"} if serving.may_be_on_knative

else := {"assumption": "which feature flags of Knative are on is not known"} if _flags == []

else := {}

_fields := [
	"affinity",
	"nodeSelector",
	"priorityClassName",
	"runtimeClassName",
	"schedulerName",
	"tolerations",
	"topologySpreadConstraints",
]

_written(pod_set) := [field |
	some field in _fields
	value := pod_set[field]
	not value in [[], {}, "", null]
]
