# METADATA
# title: Ray objects set the labels that KubeRay reads
# description: |
#   KubeRay makes the PodGroup of a RayCluster or RayJob from labels of the object: volcano.sh/queue-name,
#   ray.io/priority-class-name, volcano.sh/network-topology-mode and volcano.sh/network-topology-highest-tier-allowed.
#   Volcano's own keys are annotations of pods, and some of them have other names. KubeRay ignores those keys, and it
#   ignores annotations with the names of its labels. The cluster then goes to the queue `default`, without priority
#   class and topology.
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
#   why: The cluster runs in a different queue than its author wrote, and takes the quota of others.
#   closes: [S25]
#   remediation: Set the label that KubeRay reads on the Ray object itself.
package usher.checks.gang.ray_keys_that_nobody_reads

# Annotations that KubeRay ignores, and the labels that it reads instead.
_annotations := {
	"ray.io/priority-class-name": "ray.io/priority-class-name",
	"scheduling.volcano.sh/queue-name": "volcano.sh/queue-name",
	"volcano.sh/network-topology-highest-tier": "volcano.sh/network-topology-highest-tier-allowed",
	"volcano.sh/network-topology-highest-tier-allowed": "volcano.sh/network-topology-highest-tier-allowed",
	"volcano.sh/network-topology-mode": "volcano.sh/network-topology-mode",
	"volcano.sh/queue-name": "volcano.sh/queue-name",
}

# Labels with names of Volcano that KubeRay ignores, and the labels that it reads instead.
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

# The RayJobs of a RayCronJob do not get its labels.
_read_by_kuberay if {
	input.workload.group == "ray.io"
	input.workload.kind != "RayCronJob"
}

_finding(sort, key, label) := {
	"path": $"/metadata/{sort}s/{replace(key, "/", "~1")}",
	"message": $"KubeRay does not read the {sort} {key} of a {input.workload.kind}",
	"remedy": $"set the label {label} of the {input.workload.kind}",
}
