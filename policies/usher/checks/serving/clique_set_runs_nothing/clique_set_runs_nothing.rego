# METADATA
# title: A PodCliqueSet says how often it runs
# description: |
#   `replicas` of a PodCliqueSet is 0 where it is missing, unlike in most kinds: Grove accepts the set and makes no pods.
#   A set with `replicas: 0` is stopped on purpose, and the check skips it.
# scope: package
# related_resources:
#   - ref: https://github.com/ai-dynamo/grove/blob/main/operator/api/core/v1alpha1/podcliqueset.go
#     description: The default of Grove
# schemas:
#   - input: schema.input
# custom:
#   code: USH1052
#   about: pods
#   severity: medium
#   why: The set is there, and nothing runs.
#   closes: [S26]
#   remediation: Set spec.replicas to 1 or more.
package usher.checks.serving.clique_set_runs_nothing

import data.usher.lib.grove

deny contains finding if {
	count(grove.cliques) > 0
	not input.workload.owned
	object.get(grove.clique_set.spec, "replicas", -1) == -1

	finding := {
		"path": "/spec",
		"message": "replicas is missing, which Grove takes for 0, so it makes no pods",
		"remedy": "set spec.replicas to 1 or more",
	}
}
