# METADATA
# title: Replicas on several nodes do not share a disk of one node
# description: |
#   Only one node at a time mounts a disk with the access mode ReadWriteOnce, and only one pod with ReadWriteOncePod.
#   Replicas of a Deployment share the disk that their template names. The first replica holds it. The others start only
#   on the same node, and wait for ever on every other node that has free accelerators.
#
#   The check knows the access modes of PersistentVolumeClaims in the same files. It skips pods that select one node by
#   its name, and pods that want to be near each other. A review sees no other objects, so only `usher check` and `usher
#   audit` find this.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes
#     description: Kubernetes on access modes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1112
#   about: accelerator pods
#   severity: medium
#   why: All replicas beside the first wait in ContainerCreating, and hold their GPUs.
#   remediation: |
#     Use a disk that several nodes can mount (ReadWriteMany, or ReadOnlyMany for models), or a StatefulSet with
#     volumeClaimTemplates, which gives each replica a disk of its own.
package usher.checks.scaling.replicas_share_a_disk

import data.usher.lib.text
import data.usher.lib.workload

_exclusive := ["ReadWriteOnce", "ReadWriteOncePod"]

deny contains finding if {
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	pod_set.pods.minimum > 1
	some index, volume in pod_set.volumes
	name := volume.persistentVolumeClaim.claimName
	modes := input.beside.disks[name]
	count(modes) > 0
	every mode in modes {
		mode in _exclusive
	}
	not _stay_together(pod_set, modes)

	finding := {
		"path": $"{pod_set.specPath}/volumes/{index}",
		"message": $"{pod_set.pods.minimum} pods share the disk {text.excerpt(name)} ({concat(", ", modes)}), and only {_who(modes)} can mount it",
		"remedy": "use a disk that several nodes can mount, or a StatefulSet with volumeClaimTemplates",
	}
}

_who(modes) := "one pod" if "ReadWriteOncePod" in modes

_who(modes) := "the pods on one node" if not "ReadWriteOncePod" in modes

_stay_together(pod_set, modes) if {
	pod_set.nodeSelector["kubernetes.io/hostname"]
	not "ReadWriteOncePod" in modes
}

_stay_together(pod_set, modes) if {
	pod_set.affinity.podAffinity
	not "ReadWriteOncePod" in modes
}
