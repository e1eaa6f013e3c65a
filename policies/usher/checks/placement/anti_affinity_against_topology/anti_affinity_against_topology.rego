# METADATA
# title: Pods that stay in one domain do not keep off each other
# description: |
#   A Kueue annotation asks for all pods of the set in one rack, block or zone; required pod anti-affinity over the same
#   label, or one that reaches further, keeps the second pod away from the first. Kueue reserves the domain and admits
#   the job, and then one pod runs and the others are pending for ever. That the term selects the pods of the job
#   themselves is assumed: its selector is not read. Anti-affinity over hosts is no contradiction.
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
#   why: One pod runs, and the others wait for ever with their GPUs reserved.
#   closes: [S9, S10]
#   remediation: |
#     Remove the term, or give it the label `kubernetes.io/hostname`, so that the pods only keep off each other's nodes.
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
		"message": $"{workload.pod_set_name(pod_set)} allows one pod for each {text.excerpt(term.topologyKey)}, and by Kueue's annotation all are to stay in one {text.excerpt(domain)}",
		"remedy": "remove this term, or let it keep the pods off each other's kubernetes.io/hostname only",
		"assumption": "the selector of the term, which is not read, matches the pods of the job themselves",
	}
}
