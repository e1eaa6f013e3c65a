# METADATA
# title: A ClusterQueue is written in the fields of its version
# description: |
#   Kueue renamed fields between v1beta1 and v1beta2: spec.cohort became cohortName, and spec.admissionChecks went into
#   admissionChecksStrategy. A field of the other version is unknown to the API server: it refuses it under strict
#   validation, as kubectl asks for, and drops it without a word for other clients. The queue then borrows from nobody,
#   or admits without its checks.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/reference/kueue.v1beta2/#kueue-x-k8s-io-v1beta2-ClusterQueueSpec
#     description: Kueue on the fields of v1beta2
#   - ref: https://kueue.sigs.k8s.io/docs/reference/kueue.v1beta1/#kueue-x-k8s-io-v1beta1-ClusterQueueSpec
#     description: Kueue on the fields of v1beta1
# schemas:
#   - input: schema.input
# custom:
#   code: USH1412
#   about: objects
#   kinds: [clusterQueue]
#   severity: high
#   why: The queue loses its cohort or its admission checks without a word.
#   closes: [S21]
#   remediation: |
#     Use the field of the version that apiVersion names.
package usher.checks.objects.cluster_queue_field_of_another_version

_renamed := {
	"kueue.x-k8s.io/v1beta1": {"cohortName": "cohort"},
	"kueue.x-k8s.io/v1beta2": {
		"cohort": "cohortName",
		"admissionChecks": "admissionChecksStrategy.admissionChecks",
	},
}

deny contains finding if {
	queue := input.object.clusterQueue
	some field, name in _renamed[queue.apiVersion]
	queue.spec[field]

	finding := {
		"path": $"/spec/{field}",
		"message": $"{queue.apiVersion} has no field {field}, so it is refused or dropped without a word",
		"remedy": $"write {name} instead",
	}
}
