# METADATA
# title: Topology spread does not contradict Kueue's topology annotation
# description: |
#   A Kueue annotation asks for all pods of the set in one rack, block or zone. A topology spread constraint with
#   DoNotSchedule asks for several. Kueue decides first and ignores the constraint. The constraint then has no effect,
#   or it keeps pods pending on nodes that Kueue has reserved for them. Spreading over the hosts of a rack does not
#   contradict the annotation.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
#     description: Kubernetes on topology spread constraints
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/
#     description: Kueue on topology aware scheduling
# schemas:
#   - input: schema.input
# custom:
#   code: USH309
#   about: accelerator pods
#   severity: medium
#   why: One of the two settings has no effect, or the job waits with its GPUs reserved.
#   closes: [S9, S10]
#   remediation: |
#     Keep only one of the two. Training gains from one domain. A service that must survive the loss of a rack needs the
#     spread.
package usher.checks.placement.spread_against_topology

import data.usher.lib.text
import data.usher.lib.topology
import data.usher.lib.workload

deny contains object.union(finding, topology.assumption(constraint.topologyKey, domain)) if {
	some pod_set in workload.accelerator_pod_sets
	some index, constraint in pod_set.topologySpreadConstraints
	constraint.whenUnsatisfiable == "DoNotSchedule"
	domain := topology.kept_in(pod_set)
	topology.is_one_within(constraint.topologyKey, domain)
	topology.makes_more_than(pod_set, object.get(constraint, "maxSkew", 1))

	finding := {
		"path": $"{workload.field_path(pod_set, "topologySpreadConstraints")}/{index}",
		"message": $"{workload.pod_set_name(pod_set)} must spread over {text.excerpt(constraint.topologyKey)}, but Kueue's annotation requires all pods in one {text.excerpt(domain)}",
		"remedy": "remove this constraint, or the annotation kueue.x-k8s.io/podset-required-topology",
	}
}
