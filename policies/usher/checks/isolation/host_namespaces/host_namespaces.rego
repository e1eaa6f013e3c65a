# METADATA
# title: Pods keep out of the processes and the memory of their node
# description: |
#   With hostPID a pod sees all processes of its node, those that hold GPUs included, and as root it reads their
#   environment and files and gets at the file system of the node. With hostIPC it reaches shared memory that others
#   use, among it that of collective communication and of MPS. A larger /dev/shm needs neither: a volume in memory gives
#   it. hostNetwork is not looked at, because training over RDMA often needs it.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#     description: Kubernetes on what the baseline standard forbids
# schemas:
#   - input: schema.input
# custom:
#   code: USH206
#   about: pods
#   severity: medium
#   why: It reaches what other teams run on the same node.
#   closes: [B6]
#   remediation: |
#     Remove the field. For shared memory between processes of a pod, mount a volume emptyDir of medium Memory at
#     /dev/shm. Agents of the node belong into system namespaces, which priorities.systemNamespaces of usher.yaml names.
package usher.checks.isolation.host_namespaces

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
		"message": $"{workload.pod_set_name(pod_set)} has {field}, so it shares the {what} of its node with all that runs there",
		"remedy": _remedies[field],
	}
}
