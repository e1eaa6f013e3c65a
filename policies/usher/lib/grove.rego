# METADATA
# title: Grove
# description: The cliques and scaling groups of a PodCliqueSet, with the defaults of Grove.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.grove

# METADATA
# title: The fields of a PodCliqueSet that rules read
clique_set := input.object.podCliqueSet

# METADATA
# title: Its cliques
# description: Each with its path, its number of pods and how many of them start together.
cliques := [{
	"path": $"/spec/template/cliques/{index}",
	"name": object.get(clique, "name", ""),
	"replicas": replicas,
	"minimum": object.get(spec, "minAvailable", replicas),
	"spec": spec,
} |
	some index, clique in clique_set.spec.template.cliques
	spec := object.get(clique, "spec", {})
	replicas := max([object.get(spec, "replicas", 1), 1])
]

# METADATA
# title: Names of its cliques
names := {clique.name | some clique in cliques}

# METADATA
# title: Its scaling groups
groups := [{
	"path": $"/spec/template/podCliqueScalingGroups/{index}",
	"name": object.get(group, "name", ""),
	"cliques": object.get(group, "cliqueNames", []),
	"replicas": object.get(group, "replicas", 1),
	"minimum": object.get(group, "minAvailable", 1),
} |
	some index, group in clique_set.spec.template.podCliqueScalingGroups
]

# METADATA
# title: The schedulers that its cliques name
# description: In the order of the cliques; empty for other kinds.
schedulers := [pod_set.schedulerName |
	clique_set
	some pod_set in input.podSets
	not pod_set.schedulerName in ["", "default-scheduler"]
]
