# METADATA
# title: Ray objects tell Volcano by the labels that KubeRay reads
# description: |
#   KubeRay makes the PodGroup of a RayCluster or RayJob from labels of the object: volcano.sh/queue-name,
#   ray.io/priority-class-name, volcano.sh/network-topology-mode and volcano.sh/network-topology-highest-tier-allowed.
#   Volcano's own keys, which are annotations of pods and in part have other names, and annotations under KubeRay's names
#   are read by nobody: the cluster goes to the queue `default`, without class and topology.
# scope: package
# related_resources:
#   - ref: https://docs.ray.io/en/latest/cluster/kubernetes/k8s-ecosystem/volcano.html
#     description: Ray on Volcano
#   - ref: https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/batchscheduler/volcano/volcano_scheduler.go
#     description: Which labels KubeRay reads
# schemas:
#   - input: schema.input
# custom:
#   code: USH506
#   about: accelerator pods
#   severity: medium
#   why: The cluster runs in another queue than its author wrote, and takes the quota of others.
#   closes: [S25]
#   remediation: Set the label that KubeRay reads on the Ray object itself.
package usher.checks.gang.ray_keys_that_nobody_reads

# Annotations of Ray objects, and the labels in which KubeRay reads what they mean.
_annotations := {
	"ray.io/priority-class-name": "ray.io/priority-class-name",
	"scheduling.volcano.sh/queue-name": "volcano.sh/queue-name",
	"volcano.sh/network-topology-highest-tier": "volcano.sh/network-topology-highest-tier-allowed",
	"volcano.sh/network-topology-highest-tier-allowed": "volcano.sh/network-topology-highest-tier-allowed",
	"volcano.sh/network-topology-mode": "volcano.sh/network-topology-mode",
	"volcano.sh/queue-name": "volcano.sh/queue-name",
}

# Labels under names that are Volcano's.
_labels := {
	"scheduling.volcano.sh/queue-name": "volcano.sh/queue-name",
	"volcano.sh/network-topology-highest-tier": "volcano.sh/network-topology-highest-tier-allowed",
}

deny contains finding if {
	_read_by_kuberay
	some key, label in _annotations
	input.workload.annotations[key]
	not input.workload.labels[label]
	finding := _finding("annotation", key, label)
}

deny contains finding if {
	_read_by_kuberay
	some key, label in _labels
	input.workload.labels[key]
	not input.workload.labels[label]
	finding := _finding("label", key, label)
}

# The RayJobs of a RayCronJob get none of its labels.
_read_by_kuberay if {
	input.workload.group == "ray.io"
	input.workload.kind != "RayCronJob"
}

_finding(sort, key, label) := {
	"path": $"/metadata/{sort}s/{replace(key, "/", "~1")}",
	"message": $"nobody reads the {sort} {key} of a {input.workload.kind}",
	"remedy": $"set the label {label} of the {input.workload.kind}",
}
