# METADATA
# title: Drivers and their operands have fixed versions
# description: |
#   A node that restarts pulls what the tag `latest` means on that day: another driver or toolkit than its neighbours
#   have, tried by nobody, in the middle of a job that spans both. Versions of what runs below every workload are
#   changed on purpose, node pool by node pool.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/platform-support.html
#     description: NVIDIA on which versions belong together
# schemas:
#   - input: schema.input
# custom:
#   code: USH1445
#   about: objects
#   kinds: [clusterPolicy, nvidiaDriver]
#   severity: medium
#   why: Nodes of one pool get different drivers, and nobody knows which.
#   closes: [S49]
#   remediation: Name the version, or the digest of the image.
package usher.checks.objects.operand_version_floating

deny contains _finding($"/spec/{name}/version", $"spec.{name}") if {
	some name, operand in input.object.clusterPolicy.spec
	operand.version == "latest"
	object.get(operand, "enabled", true)
}

deny contains _finding("/spec/version", "the driver") if input.object.nvidiaDriver.spec.version == "latest"

_finding(path, what) := {
	"path": path,
	"message": $"the version of {what} is whatever latest means on the day when a node starts",
	"remedy": "name a version, or the digest of the image",
}
