# METADATA
# title: The gang of a RoleBasedGroup counts the pods of its components
# description: |
#   The operator of RoleBasedGroups makes a PodGroup for a group with the annotation
#   rbg.workloads.x-k8s.io/group-gang-scheduling. The group waits for one pod for each replica of a role with
#   components, whatever the sizes of the components are. So the scheduler starts a part of an instance, and that part
#   holds its accelerators while it waits for the rest. Roles with a leader and workers are counted in full.
# scope: package
# related_resources:
#   - ref: https://github.com/sgl-project/rbg/blob/main/doc/features/gang-scheduling.md
#     description: The project on gangs
# schemas:
#   - input: schema.input
# custom:
#   code: USH1527
#   about: accelerator pods
#   severity: medium
#   why: A part of an instance starts, and its GPUs are idle until the rest finds room.
#   closes: [S24]
#   remediation: |
#     Let a role with a leader and workers make these pods (leaderWorkerPattern), or one role for each component.
package usher.checks.serving.role_group_gang_too_small

import data.usher.lib.text

deny contains finding if {
	input.workload.gang.scheduler
	some index, role in input.object.roleBasedGroup.spec.roles
	components := _components(role)
	size := sum([object.get(component, "size", 1) | some component in components])
	replicas := object.get(role, "replicas", 1)
	size > 1
	replicas > 0

	finding := {
		"path": $"/spec/roles/{index}/{_field(role)}",
		"message": $"the gang waits for {replicas} of the {size * replicas} pods of role {text.excerpt(role.name)}, because the operator does not count the sizes of components",
		"remedy": "use leaderWorkerPattern, or a role for each component",
	}
}

_components(role) := role.customComponentsPattern.components

_components(role) := role.components if not role.customComponentsPattern

_field(role) := "customComponentsPattern" if role.customComponentsPattern

_field(role) := "components" if not role.customComponentsPattern
