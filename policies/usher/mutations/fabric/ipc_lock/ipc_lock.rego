# METADATA
# title: Let training containers lock memory for RDMA
# description: |
#   RDMA keeps the memory that it works on from being moved, for which a container needs the capability IPC_LOCK where
#   the limit of its node is low. Training containers of a workload of several pods get it where their fabric profile
#   says so (ipcLock), something gives the pod a network device, and the namespace is one of isolation.ipcLock. The
#   Pod Security standards baseline and restricted both forbid it, so that the API server would turn the pods away:
#   nothing is given where the namespace is known to enforce one of them. A container that drops it keeps doing so.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#     description: Kubernetes on what the baseline standard forbids
#   - ref: https://github.com/Mellanox/k8s-rdma-shared-dev-plugin
#     description: The device plugin for shared RDMA devices
# schemas:
#   - input: schema.input
# custom:
#   code: USM707
#   order: 76
#   about: accelerator pods
package usher.mutations.fabric.ipc_lock

import data.usher.lib.fabric

intents contains intent if {
	some entry in fabric.training_containers
	not _why_not(entry)

	intent := {
		"at": entry.container.path,
		"field": "capability",
		"value": {"name": "IPC_LOCK"},
		"reason": $"RDMA on fabric {entry.fabric} keeps memory in its place",
		"needs": [{
			"group": "",
			"kind": "Namespace",
			"name": input.workload.namespace,
			"labels": {"pod-security.kubernetes.io/enforce": ["", "privileged"]},
		}],
	}
}

_why_not(entry) := $"fabric {entry.fabric} does not lock memory" if not entry.profile.ipcLock

else := "usher.yaml does not list its namespace under isolation.ipcLock" if not input.site.ipcLockAllowed

else := "it has no network device, and without one RDMA locks no memory" if {
	not fabric.has_network_device(entry.podSet)
	count(entry.profile.resources) == 0
	count(entry.profile.networks) == 0
}

skips contains skip if some skip in fabric.skips

skips contains {"at": entry.container.path, "reason": _why_not(entry)} if some entry in fabric.training_containers
