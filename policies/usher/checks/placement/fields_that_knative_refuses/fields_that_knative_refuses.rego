# METADATA
# title: Knative templates use only the fields that Knative accepts
# description: |
#   Knative Serving refuses most scheduling fields in its templates: tolerations, nodeSelector, affinity,
#   topologySpreadConstraints, schedulerName, priorityClassName and runtimeClassName. Each field needs its own feature
#   flag, and all these flags are off by default. The API server answers "must not set the field(s)". An
#   InferenceService in Knative mode fails later: it is accepted, and never becomes ready. A ConfigMap holds the flags.
#   List the flags that are on in the parameter; the other findings are then certain. While the parameter is empty, the
#   finding only warns.
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
#   why: The object is refused, or it waits forever for a revision that Knative refuses.
#   closes: [S3, S43]
#   parameters:
#     flags:
#       default: []
#       description: Knative Serving feature flags of this cluster that are on, like kubernetes.podspec-tolerations.
#   remediation: |
#     Remove the field; the mutations of gpu-usher add tolerations and node affinity to the pods themselves. Or turn on
#     its flag in the ConfigMap `config-features` of Knative Serving, and list the flag in usher.yaml (parameters,
#     fields-that-knative-refuses, flags). Or run the InferenceService in Standard mode (annotation
#     serving.kserve.io/deploymentMode).
package usher.checks.placement.fields_that_knative_refuses

import data.usher.lib.parameters
import data.usher.lib.serving
import data.usher.lib.workload

deny contains object.union(finding, _assumption) if {
	not input.workload.owned
	serving.on_knative
	not serving.may_be_on_knative
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

_assumption := {"assumption": "usher does not know which feature flags of Knative are on"} if _flags == []

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
