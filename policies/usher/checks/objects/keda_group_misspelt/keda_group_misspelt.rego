# METADATA
# title: KEDA's objects are in the group keda.sh
# description: |
#   Annotations of KEDA begin with autoscaling.keda.sh, its API does not: ScaledObjects, ScaledJobs and
#   TriggerAuthentications are in keda.sh/v1alpha1. No cluster serves the other group, so the manifest cannot be applied.
# scope: package
# related_resources:
#   - ref: https://keda.sh/docs/latest/reference/scaledobject-spec/
#     description: KEDA on ScaledObjects
# schemas:
#   - input: schema.input
# custom:
#   code: USH1462
#   about: objects
#   kinds: [misspeltScaledObject, misspeltScaledJob, misspeltTriggerAuthentication]
#   severity: high
#   why: The manifest cannot be applied, so nothing is scaled.
#   closes: [S36]
#   remediation: 'Write `apiVersion: keda.sh/v1alpha1`.'
package usher.checks.objects.keda_group_misspelt

deny contains finding if {
	some key in ["misspeltScaledObject", "misspeltScaledJob", "misspeltTriggerAuthentication"]
	version := input.object[key].apiVersion

	finding := {
		"path": "/apiVersion",
		"message": $"there is no API {version}: KEDA's {input.workload.kind} is in keda.sh/v1alpha1",
		"remedy": "write apiVersion: keda.sh/v1alpha1",
	}
}
