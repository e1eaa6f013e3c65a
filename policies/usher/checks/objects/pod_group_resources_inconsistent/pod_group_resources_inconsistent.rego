# METADATA
# title: minResources of a PodGroup fits its minMember
# description: |
#   Volcano admits a group when `minResources` is free. It is the sum over `minMember` pods, so devices divide evenly
#   among these pods, or among all but one, which may be a launcher without devices. If they do not, the number belongs
#   to another size of the group. If it is too low, Volcano admits the group, which then waits and holds the share of
#   its queue. If it is too high, Volcano keeps the group out without a reason. This check does not know what each pod
#   asks for, so it accepts 8 GPUs for 8 pods.
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
#   why: Volcano admits the group without room for its pods, or keeps it out although there is room.
#   closes: [S26]
#   remediation: |
#     Set `minResources` to `minMember` times the resources of one pod, or remove it and let Volcano compute it.
package usher.checks.objects.pod_group_resources_inconsistent

deny contains finding if {
	spec := input.object.volcanoPodGroup.spec
	some name, amount in spec.minResources
	_is_device(name)
	amount.value % spec.minMember != 0
	amount.value % (spec.minMember - 1) != 0

	finding := {
		"path": $"/spec/minResources/{replace(name, "/", "~1")}",
		"message": $"minResources has {amount.text} of {name}, which minMember {spec.minMember} does not divide evenly",
		"remedy": "set it to minMember times the amount of one pod",
	}
}

# Resources with a domain are devices in whole numbers, except some with the domain kubernetes.io.
_is_device(name) if {
	contains(name, "/")
	not contains(name, "kubernetes.io/")
}
