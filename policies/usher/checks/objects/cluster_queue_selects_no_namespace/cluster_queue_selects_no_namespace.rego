# METADATA
# title: A ClusterQueue says which namespaces it serves
# description: |
#   A ClusterQueue serves the namespaces that its namespaceSelector selects, and without one it serves none: every
#   workload waits for ever, with the reason that the namespace does not match. `{}` selects all namespaces. A queue that
#   only lends its quota to a cohort may do without.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#namespace-selector
#     description: Kueue on the namespace selector
# schemas:
#   - input: schema.input
# custom:
#   code: USH1405
#   about: objects
#   kinds: [clusterQueue]
#   severity: medium
#   why: No workload is ever admitted through the queue.
#   closes: [S21]
#   remediation: |
#     Set spec.namespaceSelector, to `{}` for all namespaces.
package usher.checks.objects.cluster_queue_selects_no_namespace

deny contains finding if {
	not input.object.clusterQueue.spec.namespaceSelector

	finding := {
		"path": "/spec/namespaceSelector",
		"message": "the ClusterQueue has no namespaceSelector, so it serves no namespace and admits nothing",
		"remedy": "set namespaceSelector, to {} for all namespaces",
	}
}
