# METADATA
# title: A rollout does not wait for a disk that its old pod holds
# description: |
#   Only one node at a time mounts a disk with the access mode ReadWriteOnce, and only one pod with ReadWriteOncePod. A
#   Deployment rolls out by making new pods beside the old ones, unless maxUnavailable lets an old pod stop first. The
#   new pod needs free accelerators, so it often gets another node. There it cannot mount the disk before the old pod
#   stops, and the old pod stops only after the new one is ready.
#
#   The check knows the access modes of PersistentVolumeClaims in the same file. It ignores a claim with another access
#   mode beside these, and with ReadWriteOnce also pods that select one node by its name. A review sees no other
#   objects, so only `usher check` and `usher audit` find this.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes
#     description: Kubernetes on access modes
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment
#     description: Kubernetes on rolling updates
# schemas:
#   - input: schema.input
# custom:
#   code: USH1111
#   about: accelerator pods
#   severity: medium
#   why: A new version of the service never starts, because the old version holds its disk.
#   remediation: |
#     Set the type of the strategy to Recreate, or strategy.rollingUpdate to maxSurge 0 and maxUnavailable 1. Or use a
#     disk that several nodes can mount.
package usher.checks.scaling.rollout_waits_for_its_disk

import data.usher.lib.rollouts
import data.usher.lib.text
import data.usher.lib.workload

_exclusive := ["ReadWriteOnce", "ReadWriteOncePod"]

deny contains finding if {
	rollouts.surge_before_stopping
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	some index, volume in pod_set.volumes
	name := volume.persistentVolumeClaim.claimName
	modes := input.beside.disks[name]
	count(modes) > 0
	every mode in modes {
		mode in _exclusive
	}
	not _stays(pod_set, modes)

	finding := {
		"path": $"{pod_set.specPath}/volumes/{index}",
		"message": $"a rollout starts a new pod while the old pod holds the disk {text.excerpt(name)} ({concat(", ", modes)}), so the new pod cannot mount it on another node and the rollout hangs",
		"remedy": $"set the type of {rollouts.strategy_name} to Recreate, or maxSurge to 0 and maxUnavailable to 1",
	}
}

_stays(pod_set, modes) if {
	pod_set.nodeSelector["kubernetes.io/hostname"]
	not "ReadWriteOncePod" in modes
}
