# METADATA
# title: The container toolkit is no version with known escapes
# description: |
#   NVIDIA's container toolkit runs as root on every GPU node whenever a container starts, and older versions let a
#   container image take over the node: CVE-2024-0132 and CVE-2025-23359, and CVE-2025-23266, which three lines of a
#   Dockerfile are enough for. The operator installs the version that its ClusterPolicy names. The version that a site
#   wants at least, usher.yaml says (parameters, toolkit-version-vulnerable, minimum); raise it with every bulletin that
#   NVIDIA publishes. Where the policy names none, the operator's own release decides, and nothing is found.
# scope: package
# related_resources:
#   - ref: https://nvd.nist.gov/vuln/detail/CVE-2025-23266
#     description: The vulnerability that version 1.17.8 mends
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/release-notes.html
#     description: NVIDIA on the releases of its container toolkit
# schemas:
#   - input: schema.input
# custom:
#   code: USH1443
#   about: objects
#   kinds: [clusterPolicy]
#   severity: medium
#   why: Any container image can take over the GPU nodes.
#   closes: [S49]
#   parameters:
#     minimum:
#       default: 1.17.8
#       description: The lowest version of the container toolkit that may be installed.
#   remediation: |
#     Set spec.toolkit.version to a release that has the fixes, or update the operator, which brings one.
package usher.checks.objects.toolkit_version_vulnerable

import data.usher.lib.parameters
import data.usher.lib.text

deny contains finding if {
	_numbers(_version) < _numbers(_minimum)

	finding := {
		"path": "/spec/toolkit/version",
		"message": $"version {text.excerpt(_version)} of the container toolkit is older than {_minimum}, so that a container can break out in known ways",
		"remedy": $"install {_minimum} or later",
	}
}

unknown contains {"path": "/spec/toolkit/version", "reason": reason} if {
	not _numbers(_version)
	reason := $"{text.excerpt(_version)} does not tell which release of the container toolkit it is"
}

_version := version if {
	toolkit := input.object.clusterPolicy.spec.toolkit
	object.get(toolkit, "enabled", true)
	version := toolkit.version
	version != ""
}

_minimum := parameters.objects.toolkit_version_vulnerable.minimum

# Of v1.17.8-ubuntu20.04: [1, 17, 8].
_numbers(version) := numbers if {
	parts := split(split(trim_prefix(version, "v"), "-")[0], ".")
	numbers := [number |
		some part in parts
		number := to_number(part)
	]
	count(numbers) == 3
	count(parts) == 3
}
