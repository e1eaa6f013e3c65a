# METADATA
# title: Drivers and operands have fixed versions
# description: |
#   A node that restarts pulls the current image of the tag `latest`. Its driver or toolkit may then differ from that of
#   its neighbours, untested, in the middle of a job that uses both nodes. Change versions of components below every
#   workload on purpose, node pool by node pool.
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
#   why: Nodes of one pool get different drivers without a warning.
#   closes: [S49]
#   remediation: Set the version, or the digest of the image.
package usher.checks.objects.operand_version_floating

deny contains _finding($"/spec/{name}/version", $"spec.{name}") if {
	some name, operand in input.object.clusterPolicy.spec
	operand.version == "latest"
	object.get(operand, "enabled", true)
}

deny contains _finding("/spec/version", "the driver") if input.object.nvidiaDriver.spec.version == "latest"

_finding(path, component) := {
	"path": path,
	"message": $"the version of {component} is latest, so nodes get different versions depending on when they start",
	"remedy": "set a version, or the digest of the image",
}
