# METADATA
# title: Limits of a GPUQuota use known units
# description: |
#   A limit of a GPUQuota is a map of units: gpus, slices, memoryGiB, and `profiles.` with the name of a MIG profile as
#   the driver writes it. Names of resources, as in a ResourceQuota, are not units. The API server refuses them, and
#   this check reports them earlier. A profile that no board has limits nothing. The check reports it too, although a
#   board may be newer than gpu-usher.
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
#   why: The API server refuses the quota, or the quota limits nothing.
#   closes: [S17, S28]
#   remediation: Use one of the units of docs/quota.md.
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
		"message": $"{entry.name} is not a unit of a GPUQuota",
		"remedy": _remedy(entry.unit),
	}
}

deny contains finding if {
	some entry in _units
	entry.unit.boards == []

	finding := {
		"path": entry.path,
		"message": $"no known board has the profile of {entry.name}, so this entry limits nothing",
		"remedy": "name a profile that the nodes offer; `kubectl describe nodes` lists them as nvidia.com/mig-*",
		"assumption": "usher assumes that it knows all boards of the cluster",
	}
}

_remedy(unit) := $"write {unit.meant}" if unit.meant

_remedy(unit) := "write gpus, slices, memoryGiB, or profiles.<MIG profile>" if not unit.meant
