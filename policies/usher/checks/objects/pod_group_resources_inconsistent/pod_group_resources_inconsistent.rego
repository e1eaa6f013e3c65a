# METADATA
# title: The resources of a PodGroup are those of its pods
# description: |
#   `minResources` is what has to be free before Volcano lets a group in. It is the sum over `minMember` pods, so devices
#   divide evenly among them, or among all but one, which may be a launcher without any. Where they do not, the number
#   belongs to another size of the group: too low, and the group is let in and waits with its queue's share taken; too
#   high, and it waits outside for nothing. What each pod asks for is not known here, so 8 GPUs for 8 pods pass.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/podgroup/
#     description: Volcano on minResources
# schemas:
#   - input: schema.input
# custom:
#   code: USH1423
#   about: objects
#   kinds: [volcanoPodGroup]
#   severity: low
#   why: The group is let in without room for its pods, or kept out although there is room.
#   closes: [S26]
#   remediation: |
#     Set `minResources` to `minMember` times what one pod asks for, or leave it out and let Volcano add it up.
package usher.checks.objects.pod_group_resources_inconsistent

deny contains finding if {
	spec := input.object.volcanoPodGroup.spec
	some name, amount in spec.minResources
	_is_device(name)
	amount.value % spec.minMember != 0
	amount.value % (spec.minMember - 1) != 0

	finding := {
		"path": $"/spec/minResources/{replace(name, "/", "~1")}",
		"message": $"{amount.text} of {name} do not divide among the {spec.minMember} pods of minMember",
		"remedy": "set it to minMember times what one pod asks for",
	}
}

# Resources with a domain are devices, which come in whole numbers; kubernetes.io keeps some that are none.
_is_device(name) if {
	contains(name, "/")
	not contains(name, "kubernetes.io/")
}
