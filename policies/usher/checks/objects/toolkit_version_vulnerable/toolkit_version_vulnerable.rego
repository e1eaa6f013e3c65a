# METADATA
# title: The container toolkit has no known container escapes
# description: |
#   NVIDIA's container toolkit runs as root on every GPU node when a container starts. In older versions a container
#   image can take over the node: CVE-2024-0132, CVE-2025-23359, CVE-2025-23266, which needs only three lines in a
#   Dockerfile, and CVE-2026-24260. The operator installs the version in its ClusterPolicy. The site sets the lowest version in usher.yaml
#   (parameters, toolkit-version-vulnerable, minimum). Raise it with every security bulletin of NVIDIA. If the
#   ClusterPolicy sets no version, the release of the operator decides, and the check finds nothing.
# scope: package
# related_resources:
#   - ref: https://nvidia.custhelp.com/app/answers/detail/a_id/5850
#     description: NVIDIA on the vulnerability that version 1.19.1 fixes
#   - ref: https://nvd.nist.gov/vuln/detail/CVE-2025-23266
#     description: The vulnerability that version 1.17.8 fixes
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
#       default: 1.19.1
#       description: The lowest allowed version of the container toolkit.
#   remediation: |
#     Set spec.toolkit.version to a release with the fixes, or update the operator, which installs a newer release.
package usher.checks.objects.toolkit_version_vulnerable

import data.usher.lib.parameters
import data.usher.lib.text

deny contains finding if {
	_numbers(_version) < _numbers(_minimum)

	finding := {
		"path": "/spec/toolkit/version",
		"message": $"version {text.excerpt(_version)} of the container toolkit is older than {_minimum}, so a container can escape through known vulnerabilities",
		"remedy": $"install {_minimum} or later",
	}
}

unknown contains {"path": "/spec/toolkit/version", "reason": reason} if {
	not _numbers(_version)
	reason := $"{text.excerpt(_version)} is not a release number of the container toolkit"
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
