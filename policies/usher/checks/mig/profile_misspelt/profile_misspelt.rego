# METADATA
# title: MIG resources are named as the device plugin names them
# description: |
#   The device plugin offers a MIG profile as `nvidia.com/mig-` with the name of the profile, in which a dot stands for
#   every `+`: `nvidia.com/mig-1g.10gb.me`. It does so in lower case, and for whole GPU instances only, never for parts
#   of one such as `1c.3g.20gb`. Any other name is offered by no node; and one with a `+` is refused by the API server,
#   of pod templates inside other kinds only when their pods are made. What usher.yaml names itself is left alone.
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
#   why: No node ever offers such a name, so the pod waits for ever or is refused.
#   closes: [S17]
#   remediation: |
#     Write the profile as the nodes do: `kubectl describe nodes` lists it among the allocatable resources, such as
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
		"message": $"{workload.container_name(pod_set, container)} asks for {text.excerpt(name)}, which is the name of no MIG profile",
		"remedy": _remedy(meant),
	}
}

_remedy(meant) := $"write {meant}" if meant != ""

_remedy("") := "write nvidia.com/mig- and a profile that the nodes offer, such as nvidia.com/mig-1g.10gb"
