# METADATA
# title: Some node pool offers each device that pods ask for
# description: |
#   Pods ask for devices other than accelerators by extended resources: network cards (vpc.amazonaws.com/efa, rdma/ib),
#   FUSE devices, licences. The check compares these with the `allocatable` of the declared pools on which the pods can
#   run, where usher.yaml has them. If no pool lists the resource, no node of these pools takes the pods, unless
#   `allocatable` is incomplete; so the finding only warns. Resources that the fabric of a pool gives count as offered.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources
#     description: Kubernetes on extended resources
# schemas:
#   - input: schema.input
# custom:
#   code: USH341
#   about: accelerator pods
#   severity: medium
#   why: The pods stay pending forever, because no node offers the device.
#   closes: [S7]
#   remediation: |
#     Remove the resource, or select a pool that offers it. If the nodes offer it, add it to allocatable of the pool in
#     usher.yaml.
package usher.checks.placement.device_that_no_pool_offers

import data.usher.lib.fabric
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some device in fabric.devices
	contains(device.name, "/")
	count(device.podSet.fits) > 0
	not device.podSet.poolsFound
	every fit in device.podSet.fits {
		fit.devices
		not device.name in fit.devices
		not _gives(fit, device.name)
	}
	pools := concat(", ", [fit.pool | some fit in device.podSet.fits])

	finding := {
		"path": fabric.device_path(device, "limits"),
		"message": $"{workload.container_name(device.podSet, device.container)} asks for {text.excerpt(device.name)}, and no pool on which {workload.pod_set_name(device.podSet)} can run lists it in allocatable: {pools}",
		"remedy": "leave the resource out or select a pool that offers it; if its nodes do, add it to allocatable in usher.yaml",
		"assumption": "usher assumes that allocatable of a pool in usher.yaml names every device",
	}
}

_gives(fit, name) if input.fabrics[fit.fabric].resources[name]
