# METADATA
# title: A ClusterQueue uses the fields of its API version
# description: |
#   Kueue renamed fields between v1beta1 and v1beta2. spec.cohort became cohortName, and spec.admissionChecks moved into
#   admissionChecksStrategy. The API server does not know a field of the other version. It refuses the field under
#   strict validation, which kubectl requests, and drops it without an error for other clients. The queue then cannot
#   borrow, or it admits workloads without its checks.
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
#   why: The queue loses its cohort or its admission checks without an error.
#   closes: [S21]
#   remediation: Use the field of the version in apiVersion.
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
		"message": $"{queue.apiVersion} has no field {field}, so the API server refuses it or drops it without an error",
		"remedy": $"write {name} instead",
	}
}
