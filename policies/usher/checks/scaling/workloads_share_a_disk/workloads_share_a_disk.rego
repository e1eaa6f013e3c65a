# METADATA
# title: Workloads on several nodes do not share a disk of one node
# description: |
#   Only one node at a time mounts a disk with the access mode ReadWriteOnce. Two servers that mount the same disk, for
#   example a cache of models, run only on the same node. On another node the second one waits in ContainerCreating
#   (Multi-Attach error) as long as the first one runs, and holds its GPUs.
#
#   The check knows the access modes and the other workloads in the same files. It skips Jobs, which give the disk back,
#   workloads that all select the same node by its name, and pods that want to be near each other. A review sees no other
#   objects, so only `usher check` finds this. Replicas of one workload are found by replicas-share-a-disk.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes
#     description: Kubernetes on access modes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1115
#   about: accelerator pods
#   severity: medium
#   why: One of the servers never starts, and holds its GPUs.
#   remediation: |
#     Use a disk that several nodes can mount (ReadWriteMany, or ReadOnlyMany for models), or a disk for each workload.
package usher.checks.scaling.workloads_share_a_disk

import data.usher.lib.text
import data.usher.lib.workload

_exclusive := ["ReadWriteOnce", "ReadWriteOncePod"]

deny contains finding if {
	not input.workload.owned
	input.beside.holders
	some place in _places
	others := input.beside.holders[place.claim]
	modes := input.beside.disks[place.claim]
	count(modes) > 0
	every mode in modes {
		mode in _exclusive
	}

	finding := {
		"path": place.path,
		"message": $"{concat(" and ", others)} {_mounts(others)} the disk {text.excerpt(place.claim)} ({concat(", ", modes)}) too, and only pods on one node can mount it",
		"remedy": "use a disk that several nodes can mount, or a disk for each workload",
	}
}

_places := array.concat(_volumes, _of_kserve)

_of_kserve := [{"claim": claim, "path": "/spec/predictor"} |
	input.object.inferenceService
	some claim, _ in input.beside.holders
	not claim in _claims_of_volumes
]

_claims_of_volumes := {place.claim | some place in _volumes}

_volumes := [place |
	some pod_set in workload.accelerator_pod_sets
	not pod_set.affinity.podAffinity
	some index, volume in pod_set.volumes
	place := {"claim": volume.persistentVolumeClaim.claimName, "path": $"{pod_set.specPath}/volumes/{index}"}
]

_mounts(others) := "mounts" if count(others) == 1

_mounts(others) := "mount" if count(others) > 1
