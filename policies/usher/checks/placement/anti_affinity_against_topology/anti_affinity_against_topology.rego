# METADATA
# title: Anti-affinity does not contradict Kueue's topology annotation
# description: |
#   A Kueue annotation asks for all pods of the set in one rack, block or zone. Required pod anti-affinity over the same
#   label, or over a wider one, keeps the second pod away from the first. Kueue reserves the domain and admits the job.
#   Then one pod runs and the others stay pending. The check does not read the selector of the term; it assumes that the
#   term selects the pods of the job. Anti-affinity over hosts does not contradict the annotation.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity
#     description: Kubernetes on pod anti-affinity
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on topology aware scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH316
#   about: accelerator pods
#   severity: medium
#   why: One pod runs. The others wait forever with their GPUs reserved.
#   closes: [S9, S10]
#   remediation: |
#     Remove the term, or change its topologyKey to `kubernetes.io/hostname`. The term then only keeps the pods on
#     different nodes.
package usher.checks.placement.anti_affinity_against_topology

import data.usher.lib.text
import data.usher.lib.topology
import data.usher.lib.workload

deny contains finding if {
	some pod_set in workload.accelerator_pod_sets
	some index, term in pod_set.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution
	domain := topology.kept_in(pod_set)
	topology.is_one_within(term.topologyKey, domain)
	topology.makes_more_than(pod_set, 1)

	finding := {
		"path": $"{workload.field_path(pod_set, "affinity")}/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/{index}",
		"message": $"{workload.pod_set_name(pod_set)} allows one pod per {text.excerpt(term.topologyKey)}, but Kueue's annotation requires all pods in one {text.excerpt(domain)}",
		"remedy": "remove this term, or change its topologyKey to kubernetes.io/hostname",
		"assumption": "usher does not read the selector of the term, and assumes that it matches the pods of the job",
	}
}
