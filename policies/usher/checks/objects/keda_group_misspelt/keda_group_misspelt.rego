# METADATA
# title: KEDA's objects use the API group keda.sh
# description: |
#   Annotations of KEDA start with autoscaling.keda.sh, but its API group is different. ScaledObjects, ScaledJobs and
#   TriggerAuthentications are in keda.sh/v1alpha1. No cluster serves the other group, so kubectl cannot apply the
#   manifest.
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
#   why: kubectl cannot apply the manifest, so nothing is scaled.
#   closes: [S36]
#   remediation: 'Write `apiVersion: keda.sh/v1alpha1`.'
package usher.checks.objects.keda_group_misspelt

deny contains finding if {
	some key in ["misspeltScaledObject", "misspeltScaledJob", "misspeltTriggerAuthentication"]
	version := input.object[key].apiVersion

	finding := {
		"path": "/apiVersion",
		"message": $"the API {version} does not exist; KEDA's {input.workload.kind} is in keda.sh/v1alpha1",
		"remedy": "write apiVersion: keda.sh/v1alpha1",
	}
}
