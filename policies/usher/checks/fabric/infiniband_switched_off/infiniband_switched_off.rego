# METADATA
# title: Ranks use the fabric of their nodes
# description: |
#   NCCL_IB_DISABLE=1 and NCCL_NET=Socket make NCCL send all data through the ordinary network of the pod. On nodes with
#   InfiniBand or RoCE the fabric then stays idle. Training across nodes is many times slower, and no error appears.
#   These variables are for debugging and are often forgotten.
#
#   The check looks only at workloads of several pods whose pools all have a fabric in usher.yaml. The profile of that
#   fabric must set NCCL_IB_* variables or forbid NCCL_IB_DISABLE. Or the container itself asks for a device like rdma/ib.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-ib-disable
#     description: NVIDIA on NCCL_IB_DISABLE
# schemas:
#   - input: schema.input
# custom:
#   code: USH902
#   about: accelerator pods
#   severity: medium
#   why: GPUs on an expensive fabric wait for an ordinary network.
#   closes: [S29]
#   remediation: Remove the variable. The fabric profile of the pool sets the variables that NCCL needs.
package usher.checks.fabric.infiniband_switched_off

import data.usher.lib.fabric
import data.usher.lib.text
import data.usher.lib.workload

_switches := {"NCCL_IB_DISABLE": "1", "NCCL_NET": "socket"}

deny contains finding if {
	workload.makes_several_pods
	some entry in fabric.rank_containers
	some name, off in _switches
	variable := entry.container.environment[name]
	lower(variable.value) == off
	_on_infiniband(entry.podSet)

	finding := {
		"path": variable.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)}: {name} {text.excerpt(variable.value)} stops the ranks from using the fabric {entry.podSet.fits[0].fabric} of their nodes",
		"remedy": $"remove {name}",
	}
}

deny contains finding if {
	workload.makes_several_pods
	some entry in fabric.rank_containers
	some name, off in _switches
	variable := entry.container.environment[name]
	lower(variable.value) == off
	not _on_infiniband(entry.podSet)
	devices := [device | some device, _ in entry.container.resources; _is_rdma(device)]
	count(devices) > 0

	finding := {
		"path": variable.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)}: {name} {text.excerpt(variable.value)} stops the ranks from using {devices[0]}, which it asks for",
		"remedy": $"remove {name}",
	}
}

_is_rdma(device) if regex.match(`^(rdma/|mellanox\.com/|nvidia\.com/(hca|mlnxnics))`, device)

_on_infiniband(pod_set) if {
	count(pod_set.fits) > 0
	every fit in pod_set.fits {
		_is_infiniband(fit)
	}
}

# A profile for another network sets no NCCL_IB_* variables, or switches InfiniBand off itself.
_is_infiniband(fit) if {
	variables := input.fabrics[fit.fabric].env
	object.get(variables, "NCCL_IB_DISABLE", "0") == "0"
	some name, _ in variables
	startswith(name, "NCCL_IB_")
}

_is_infiniband(fit) if "NCCL_IB_DISABLE" in input.fabrics[fit.fabric].forbidden
