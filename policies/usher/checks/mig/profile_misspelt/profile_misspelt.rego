# METADATA
# title: MIG resource names match the names that the device plugin uses
# description: |
#   The device plugin offers a MIG profile as `nvidia.com/mig-` and the name of the profile, with a dot for every `+`:
#   `nvidia.com/mig-1g.10gb.me`. It writes the name in lower case. It offers whole GPU instances only, never parts of
#   one, for example `1c.3g.20gb`.
#
#   No node offers any other name. The API server also refuses a name with a `+`. In pod templates inside other kinds it
#   refuses the name only when the pods are made. The check accepts every name that usher.yaml itself uses.
# scope: package
# related_resources:
#   - ref: https://github.com/NVIDIA/k8s-device-plugin#configuration-option-details
#     description: NVIDIA's device plugin on MIG strategies and their resources
#   - ref: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/mig-device-names.html
#     description: NVIDIA on the names of profiles
# schemas:
#   - input: schema.input
# custom:
#   code: USH709
#   about: accelerator pods
#   severity: high
#   why: No node offers this name, so the pod waits forever or is refused.
#   closes: [S17]
#   remediation: |
#     Write the profile as the nodes do. `kubectl describe nodes` lists it among the allocatable resources, for example
#     nvidia.com/mig-1g.10gb or nvidia.com/mig-1g.10gb.me.
package usher.checks.mig.profile_misspelt

import data.usher.lib.mig
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	some name, meant in pod_set.mig.misspelt
	some container in pod_set.containers
	container.accelerators[name]

	finding := {
		"path": mig.path(container, name),
		"message": $"{workload.container_name(pod_set, container)} asks for {text.excerpt(name)}, but this is not the name of a MIG profile",
		"remedy": _remedy(meant),
	}
}

_remedy(meant) := $"write {meant}" if meant != ""

_remedy("") := "write nvidia.com/mig- and a profile that the nodes offer, for example nvidia.com/mig-1g.10gb"
