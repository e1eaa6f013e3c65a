# METADATA
# title: GPUQuotas limit what there is
# description: |
#   A limit of a GPUQuota is a map of units: gpus, slices, memoryGiB, and profiles. with the name of a MIG profile as the
#   driver writes it. Names of resources, as in a ResourceQuota, are no units; the API server refuses them, and this tells
#   it before. A profile that no board has limits nothing: it is told as well, but boards may be newer than gpu-usher.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
#     description: NVIDIA on the profiles of each board
# schemas:
#   - input: schema.input
# custom:
#   code: USH1232
#   about: objects
#   kinds: [gpuQuota]
#   severity: high
#   why: The quota is refused, or limits nothing.
#   closes: [S17, S28]
#   remediation: Name one of the units of docs/quota.md.
package usher.checks.tenancy.gpu_quota_unit_unknown

_units contains {"path": $"/spec/limits/{index}/hard/{escaped}", "name": name, "unit": unit} if {
	some index, limit in input.object.gpuQuota.spec.limits
	some name, unit in limit.hard
	escaped := replace(replace(name, "~", "~0"), "/", "~1")
}

deny contains finding if {
	some entry in _units
	not entry.unit.known

	finding := {
		"path": entry.path,
		"message": $"{entry.name} is no unit of a GPUQuota",
		"remedy": _remedy(entry.unit),
	}
}

deny contains finding if {
	some entry in _units
	entry.unit.boards == []

	finding := {
		"path": entry.path,
		"message": $"no board has the profile of {entry.name}, so this limits nothing",
		"remedy": "name a profile that the nodes offer; `kubectl describe nodes` lists them as nvidia.com/mig-*",
		"assumption": "no board is newer than those that gpu-usher knows",
	}
}

_remedy(unit) := $"write {unit.meant}" if unit.meant

_remedy(unit) := "write gpus, slices, memoryGiB, or profiles. and a MIG profile" if not unit.meant
