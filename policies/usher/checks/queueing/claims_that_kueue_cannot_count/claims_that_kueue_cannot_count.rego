# METADATA
# title: Kueue can count the device claims of queued workloads
# description: |
#   Kueue counts the devices that pods claim from a ResourceClaimTemplate. Its configuration maps their device classes
#   to resources (resources.deviceClassMappings). Kueue cannot count a ResourceClaim that the pods name directly. Since
#   version 0.18 it never admits the workload; older versions give out its devices outside the quota. The same is true
#   of devices of a class that is not mapped. usher reads the mappings from Kueue's ConfigMap if the cluster facts
#   contain it. If the parameter deviceClassesMapped is true, all classes count as mapped. If usher has neither,
#   workloads with claims from templates are unknown. Claims with an unknown device class are also unknown. The check
#   skips objects that a controller made.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/dynamic_resource_allocation/
#     description: Kueue on dynamic resource allocation
# schemas:
#   - input: schema.input
# custom:
#   code: USH416
#   about: labelled pods
#   severity: medium
#   why: The workload waits forever, or takes devices that Kueue does not count.
#   closes: [S20, B11]
#   parameters:
#     deviceClassesMapped:
#       default: false
#       description: Whether Kueue's configuration maps the device classes of this cluster to resources.
#   remediation: |
#     Name a ResourceClaimTemplate instead of a ResourceClaim, and have its device class mapped in Kueue's
#     configuration.
package usher.checks.queueing.claims_that_kueue_cannot_count

import data.usher.lib.kueue
import data.usher.lib.parameters
import data.usher.lib.queueable
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	_queued
	some claim in queueable.direct_claims

	finding := {
		"path": $"{workload.field_path(claim.podSet, "resourceClaims")}/{claim.index}/resourceClaimName",
		"message": $"{workload.pod_set_name(claim.podSet)} names ResourceClaim {text.excerpt(claim.name)} directly; Kueue cannot count it, so it never admits the workload",
		"remedy": "name a ResourceClaimTemplate with resourceClaimTemplateName",
	}
}

deny contains finding if {
	not parameters.queueing.claims_that_kueue_cannot_count.deviceClassesMapped
	some pod_set in _claiming
	some claimed in _claimed_classes(pod_set)
	not claimed.mapped

	finding := {
		"path": workload.field_path(pod_set, "resourceClaims"),
		"message": $"{workload.pod_set_name(pod_set)} claims devices of class {text.excerpt(claimed.name)}, but Kueue's configuration does not map this class, so Kueue cannot count them",
		"remedy": "have the class added to resources.deviceClassMappings of Kueue's configuration",
	}
}

unknown contains {
	"path": workload.field_path(pod_set, "resourceClaims"),
	"reason": $"usher does not know whether Kueue counts the device claims of {workload.pod_set_name(pod_set)}; resources.deviceClassMappings of Kueue's configuration or the parameter deviceClassesMapped would say it",
} if {
	some pod_set in _claiming
	some claim in pod_set.resourceClaims
	not claim.resourceClaimName
	not parameters.queueing.claims_that_kueue_cannot_count.deviceClassesMapped
	count(_claimed_classes(pod_set)) == 0
}

_claimed_classes(pod_set) := [claimed |
	some claimed in object.get(input, ["cluster", "kueue", "claimedClasses"], [])
	claimed.podSet == pod_set.path
]

_claiming := [pod_set |
	_queued
	some pod_set in input.podSets
]

_queued if {
	kueue.in_queue
	not input.workload.owned
}
