# METADATA
# title: Topology
# description: Which pods stay together, and in which domains.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.topology

# METADATA
# title: Node label that has the same value for all pods of a set
# description: |
#   Kueue keeps a pod set together if an annotation asks for it. This holds only if all pods of the template are one pod
#   set for Kueue. Every pod of a Deployment, and every group of a LeaderWorkerSet, is a separate workload.
kept_in(pod_set) := key if {
	key := pod_set.annotations["kueue.x-k8s.io/podset-required-topology"]
	input.workload.group in _one_pod_set
}

_one_pod_set := [
	"batch",
	"jobset.x-k8s.io",
	"kubeflow.org",
	"ray.io",
	"sparkoperator.k8s.io",
	"trainer.kubeflow.org",
	"workload.codeflare.dev",
]

# METADATA
# title: Whether a pod set makes more pods than a number
makes_more_than(pod_set, number) if pod_set.pods.maximum > number

makes_more_than(pod_set, _) if not pod_set.pods.maximum

# METADATA
# title: Whether all pods of one domain have the same value of a node label
# description: True if the label is the label of the domain, or the label of a larger domain.
is_one_within(key, domain) if key == domain

is_one_within(key, domain) if _reach(key) > _reach(domain)

# METADATA
# title: Assumption of is_one_within
# description: |
#   Joined to a finding. Empty if the labels are the same, or if the order is certain: a host is in one rack, and a zone
#   in one region.
assumption(key, domain) := {"assumption": $"usher assumes that each domain of {domain} lies inside one domain of {key}"} if {
	key != domain
	_reach(domain) == _reach_of_others
} else := {}

# Racks, blocks, switches and other domains. Only the cluster knows their order.
_reach(key) := object.get(_reaches, key, _reach_of_others)

_reach_of_others := 1

_reaches := {
	"kubernetes.io/hostname": 0,
	"topology.kubernetes.io/zone": 2,
	"topology.kubernetes.io/region": 3,
}

# METADATA
# title: Annotations that give every job or group its own domain
exclusive_annotations := [
	"alpha.jobset.sigs.k8s.io/exclusive-topology",
	"leaderworkerset.sigs.k8s.io/exclusive-topology",
]

# METADATA
# title: Key that asks Volcano to keep pods together
volcano_mode := "volcano.sh/network-topology-mode"
