# METADATA
# title: A ClusterQueue sets a namespaceSelector
# description: |
#   A ClusterQueue serves the namespaces that its namespaceSelector selects. Without one it serves no namespace, and
#   every workload waits forever with the reason that the namespace does not match. `{}` selects all namespaces. A
#   queue that only lends quota to a cohort needs no selector.
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
#   why: The queue never admits a workload.
#   closes: [S21]
#   remediation: Set spec.namespaceSelector. `{}` selects all namespaces.
package usher.checks.objects.cluster_queue_selects_no_namespace

deny contains finding if {
	not input.object.clusterQueue.spec.namespaceSelector

	finding := {
		"path": "/spec/namespaceSelector",
		"message": "the ClusterQueue has no namespaceSelector, so it serves no namespace and admits nothing",
		"remedy": "set namespaceSelector; {} selects all namespaces",
	}
}
