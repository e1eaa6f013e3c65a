# METADATA
# title: A ProvisioningRequest asks for at most the maximum number of pods
# description: |
#   The Cluster Autoscaler makes nodes for the pods of a ProvisioningRequest before these pods exist. No quota counts
#   them, so one number in a manifest can order every GPU node of a region. Kueue makes these requests for workloads that
#   it admitted, so the check skips requests of controllers. It counts pods, because their size is in other objects.
# scope: package
# related_resources:
#   - ref: https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/proposals/provisioning-request.md
#     description: The Cluster Autoscaler on ProvisioningRequests
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/admission_check/provisioning_request/
#     description: Kueue on the requests that it makes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1468
#   about: objects
#   kinds: [provisioningRequest]
#   severity: high
#   why: A tenant orders nodes that no quota counts, and the bill follows.
#   closes: [S47]
#   parameters:
#     maximum:
#       default: 64
#       description: |
#         Maximum number of pods that one request of a user may ask for. With eight GPUs each, 64 pods reach the default
#         maximum of gpus-per-workload.
#   remediation: |
#     Ask for fewer pods, or put the job into a queue of Kueue, which makes the request. Or ask an administrator to raise
#     the maximum of the namespace in usher.yaml (parameters, provisioning-request-too-large, maximum).
package usher.checks.objects.provisioning_request_too_large

import data.usher.lib.parameters
import data.usher.lib.priority

deny contains finding if {
	not priority.asked_by_administration
	not input.site.systemNamespace
	pods := sum([pod_set.count | some pod_set in input.object.provisioningRequest.spec.podSets])
	pods > _maximum

	finding := {
		"path": "/spec/podSets",
		"message": $"the request orders nodes for {pods} pods, more than the maximum of {_maximum}, and no quota counts them",
		"remedy": $"ask for at most {_maximum} pods, or have the maximum raised",
	}
}

_maximum := parameters.objects.provisioning_request_too_large.maximum
