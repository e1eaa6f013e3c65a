# METADATA
# title: All pods that compute together have the network device
# description: |
#   Pods of one job exchange data all the time. If some of them ask for EFA or RDMA devices and others do not, NCCL
#   finds no transport that all of them have: it falls back to sockets for all, or waits at its start. Often the leader
#   or the master of a job was forgotten. The check looks at the pods that ask for accelerators, and skips pods with
#   device claims, the network of the node, and networks by annotation.
# scope: package
# related_resources:
#   - ref: https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
#     description: AWS on EFA in EKS
# schemas:
#   - input: schema.input
# custom:
#   code: USH918
#   about: accelerator pods
#   severity: medium
#   why: The job runs over a network that is many times slower, or never starts.
#   remediation: |
#     Add the device to the limits of the other pods too.
package usher.checks.fabric.network_device_on_some_pods_only

import data.usher.lib.cooperation
import data.usher.lib.fabric
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	cooperation.computes_together
	fabric.mounts_known
	count(workload.accelerator_pod_sets) > 1
	some pod_set in workload.accelerator_pod_sets
	not fabric.has_network_device_of_its_own(pod_set)
	names := {name |
		some other in workload.accelerator_pod_sets
		some name in fabric.network_devices(other)
	}
	name := min(names)
	some container in pod_set.containers
	fabric.trains(container)

	finding := {
		"path": $"{container.path}/resources",
		"message": $"{workload.container_name(pod_set, container)} asks for no {name}, but other pods of the job do, so they have no fast network in common",
		"remedy": $"add {name} to its limits",
	}
}
