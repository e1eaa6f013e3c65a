# METADATA
# title: Allow training containers to lock memory for RDMA
# description: |
#   RDMA needs memory that stays in place. A container needs the capability IPC_LOCK for this where its node has a low
#   memlock limit. The webhook adds the capability to training containers of a workload with several pods when three
#   conditions hold: their fabric profile sets ipcLock, the pod gets a network device, and usher.yaml lists the
#   namespace under isolation.ipcLock.
#   The Pod Security levels baseline and restricted both forbid IPC_LOCK, so the API server would refuse the pods. The
#   webhook therefore adds nothing where it knows that the namespace enforces one of them. A container that drops the
#   capability keeps dropping it, and one that runs as another user than root would get no effect of it.
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
import data.usher.lib.rdma
import data.usher.lib.workload

intents contains intent if {
	some entry in fabric.training_containers
	not _why_not(entry)

	intent := {
		"at": entry.container.path,
		"field": "capability",
		"value": {"name": "IPC_LOCK"},
		"reason": $"RDMA on fabric {entry.fabric} needs locked memory",
		"needs": [{
			"group": "",
			"kind": "Namespace",
			"name": input.workload.namespace,
			"labels": {"pod-security.kubernetes.io/enforce": ["", "privileged"]},
		}],
	}
}

_why_not(entry) := $"fabric {entry.fabric} does not set ipcLock" if not entry.profile.ipcLock

else := "usher.yaml does not list this namespace under isolation.ipcLock" if not input.site.ipcLockAllowed

else := $"the container sets {rdma.switched_off(entry)}, so it needs no locked memory" if rdma.switched_off(entry)

else := $"the container runs as user {user}, who gets no effect of a capability" if {
	user := workload.user_without_capabilities(entry.podSet, entry.container)
}

else := "the pod has no network device, so it cannot use RDMA" if {
	not fabric.has_network_device(entry.podSet)
	not _gets_device(entry)
	count(entry.profile.networks) == 0
}

_gets_device(entry) if {
	count(entry.profile.resources) > 0
	count(fabric.without_network_device) == 0
	not fabric.shares_gpus(entry.podSet)
}

skips contains skip if some skip in fabric.skips

skips contains {"at": entry.container.path, "reason": _why_not(entry)} if some entry in fabric.training_containers
