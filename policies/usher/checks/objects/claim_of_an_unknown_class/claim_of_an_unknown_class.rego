# METADATA
# title: Device claims name classes that usher knows
# description: |
#   A site may give a DeviceClass any name. usher counts the devices of a class by its name, by usher.yaml or by the
#   selectors of the class, if the class is in the same files or among the facts of the cluster. If these do not say
#   what the devices are, claims of this class are in no quota of usher, and the checks of accelerators skip their pods.
#   Classes for network cards and other devices that usher knows are accepted.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
#     description: Kubernetes on device classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1473
#   about: objects
#   kinds: [resourceClaim, resourceClaimTemplate]
#   severity: medium
#   why: The claim may take GPUs that no quota of usher counts.
#   closes: [B11]
#   remediation: |
#     Name the class in usher.yaml under accelerators.deviceClasses, and say whether its devices are accelerators. Or give
#     usher the facts of the cluster, so that it reads the class.
package usher.checks.objects.claim_of_an_unknown_class

import data.usher.lib.device_claims
import data.usher.lib.isolation
import data.usher.lib.text

deny contains finding if {
	not isolation.may_see_all_devices
	some entry in device_claims.asked
	not "accelerator" in object.keys(entry.asked)

	finding := {
		"path": $"{entry.path}/deviceClassName",
		"message": $"request {entry.name} asks for devices of class {text.excerpt(entry.asked.deviceClassName)}, and usher does not know what they are",
		"remedy": "name the class in usher.yaml under accelerators.deviceClasses",
		"assumption": $"usher assumes that the devices of class {text.excerpt(entry.asked.deviceClassName)} may be accelerators",
	}
}
