# METADATA
# title: Pods do not share the processes or the memory of their node
# description: |
#   With hostPID a pod sees all processes of its node, including those that hold GPUs. As root it can read their
#   environment and files and reach the file system of the node. With hostIPC it reaches shared memory that other pods
#   use, for example that of collective communication and of MPS. A host path of /dev/shm gives it the same memory, which
#   no limit of the pod counts. A larger /dev/shm needs neither: a volume in memory is enough. The check ignores hostNetwork, because training over RDMA often needs it.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#     description: Kubernetes on what the baseline standard forbids
# schemas:
#   - input: schema.input
# custom:
#   code: USH206
#   about: pods
#   kinds: [persistentVolume]
#   severity: medium
#   of_agents: true
#   why: The pod reaches processes or memory of other teams on the same node.
#   closes: [B6]
#   remediation: |
#     Remove the field. If processes of a pod need shared memory, mount an emptyDir volume of medium Memory at /dev/shm.
#     Move node agents to a system namespace that usher.yaml names under priorities.systemNamespaces.
package usher.checks.isolation.host_namespaces

import data.usher.lib.isolation
import data.usher.lib.text
import data.usher.lib.workload

_shares := {"hostPID": "processes", "hostIPC": "memory segments"}

_remedies := {
	"hostPID": "remove hostPID",
	"hostIPC": "remove hostIPC, and mount an emptyDir of medium Memory at /dev/shm",
}

deny contains finding if {
	some pod_set in input.podSets
	some field, what in _shares
	pod_set[field] == true
	not input.site.systemNamespace

	finding := {
		"path": workload.field_path(pod_set, field),
		"message": $"{workload.pod_set_name(pod_set)} sets {field}, so it can reach all {what} of its node",
		"remedy": _remedies[field],
	}
}

deny contains finding if {
	not input.site.systemNamespace
	some entry in isolation.host_paths
	isolation.within_any(entry.place, ["/dev/shm"])
	not isolation.by_driver(entry)

	finding := {
		"path": entry.path,
		"message": $"{isolation.volume_name(entry)} mounts the host path {text.excerpt(entry.written)}, so the pod can reach all memory segments of its node",
		"remedy": "use an emptyDir of medium Memory in place of the hostPath",
	}
}
