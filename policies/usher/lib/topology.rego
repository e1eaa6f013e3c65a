# METADATA
# title: Topology
# description: Which pods are to stay together, and how far apart others may be then.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.topology

# METADATA
# title: Node label of which all pods of a set get one value
# description: |
#   Kueue keeps a pod set together that asks for it by an annotation. Only where all pods of the template are one pod
#   set to Kueue: every pod of a Deployment, and every group of a LeaderWorkerSet, is a workload of its own.
kept_in(pod_set) := key if {
	key := pod_set.annotations["kueue.x-k8s.io/podset-required-topology"]
	input.workload.group in _one_pod_set
}

_one_pod_set := {
	"batch",
	"jobset.x-k8s.io",
	"kubeflow.org",
	"ray.io",
	"sparkoperator.k8s.io",
	"trainer.kubeflow.org",
	"workload.codeflare.dev",
}

# METADATA
# title: Whether a pod set makes more pods than a number
makes_more_than(pod_set, number) if pod_set.pods.maximum > number

makes_more_than(pod_set, _) if not pod_set.pods.maximum

# METADATA
# title: Whether pods of one domain cannot differ in a node label
# description: They cannot if it is the label of the domain, or one that reaches further.
is_one_within(key, domain) if key == domain

is_one_within(key, domain) if _reach(key) > _reach(domain)

# METADATA
# title: What is_one_within assumes
# description: An object to add to a finding. That a host is in one rack, and a zone in one region, is no assumption.
assumption(key, domain) := {"assumption": $"a domain of {domain} lies within one of {key}"} if {
	key != domain
	_reach(domain) == _reach_of_others
} else := {}

# Racks, blocks, switches and the like: how they stand to each other only the cluster knows.
_reach(key) := object.get(_reaches, key, _reach_of_others)

_reach_of_others := 1

_reaches := {
	"kubernetes.io/hostname": 0,
	"topology.kubernetes.io/zone": 2,
	"topology.kubernetes.io/region": 3,
}

# METADATA
# title: Annotations by which an operator gives every job or group a domain of its own
exclusive_annotations := [
	"alpha.jobset.sigs.k8s.io/exclusive-topology",
	"leaderworkerset.sigs.k8s.io/exclusive-topology",
]

# METADATA
# title: Key by which Volcano is asked to keep pods together
volcano_mode := "volcano.sh/network-topology-mode"
