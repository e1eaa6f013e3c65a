# METADATA
# title: Kueue can count the device claims of queued workloads
# description: |
#   Kueue counts devices that pods claim from a ResourceClaimTemplate, by the device classes that its configuration maps
#   to resources (resources.deviceClassMappings). A ResourceClaim that the pods name directly it cannot count: since
#   version 0.18 the workload is never admitted, and before that its devices are given out beside the quota; so it is with
#   devices of a class that is not mapped. The mappings are read from Kueue's ConfigMap where that is among the facts of the
#   cluster, unless the parameter deviceClassesMapped says that all classes are mapped. Where neither says it, workloads
#   with claims from templates are unknown, and so are claims of which nobody knows the device class. What a controller
#   made is left alone.
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
#   why: The workload waits for ever, or takes devices that nobody counted.
#   closes: [S20, B11]
#   parameters:
#     deviceClassesMapped:
#       default: false
#       description: Whether Kueue's configuration maps the device classes of this cluster to resources.
#   remediation: |
#     Name a ResourceClaimTemplate instead of a ResourceClaim, and have its device class mapped in Kueue's configuration.
package usher.checks.queueing.claims_that_kueue_cannot_count

import data.usher.lib.kueue
import data.usher.lib.parameters
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in _claiming
	some index, claim in pod_set.resourceClaims
	name := claim.resourceClaimName

	finding := {
		"path": $"{workload.field_path(pod_set, "resourceClaims")}/{index}/resourceClaimName",
		"message": $"{workload.pod_set_name(pod_set)} names the ResourceClaim {text.excerpt(name)} directly, which Kueue cannot count, so it never admits the workload",
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
		"message": $"{workload.pod_set_name(pod_set)} claims devices of class {text.excerpt(claimed.name)}, which Kueue's configuration maps to no resource, so Kueue cannot count them",
		"remedy": "have the class added to resources.deviceClassMappings of Kueue's configuration",
	}
}

unknown contains {
	"path": workload.field_path(pod_set, "resourceClaims"),
	"reason": $"{workload.pod_set_name(pod_set)}: whether Kueue counts its device claims is not known: resources.deviceClassMappings of Kueue's configuration says it, and the parameter deviceClassesMapped",
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
	kueue.in_queue
	not input.workload.owned
	some pod_set in input.podSets
]
